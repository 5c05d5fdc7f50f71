import type { AskedWorld } from './asked.ts'
import {
  blockedRequests,
  challengedRequests,
  closedRequests,
  closedSettings,
  limitedRequests,
  limitedSettings,
  misconfiguredRequests,
} from './requests/guarded.ts'
import { openRequests, rawRequests } from './requests/open.ts'

/** Requests to every path of the service. Their answers are in `recorded/`. */
export const worlds: readonly AskedWorld[] = [
  { name: 'open', env: {}, requests: openRequests, raw: rawRequests },
  { name: 'closed', env: closedSettings, requests: closedRequests },
  { name: 'limited', env: limitedSettings, requests: limitedRequests },
  { name: 'challenged', env: {}, outside: 'challenge', requests: challengedRequests },
  {
    name: 'misconfigured',
    env: {},
    outside: 'misconfigured challenge',
    requests: misconfiguredRequests,
  },
  { name: 'blocked', env: {}, outside: 'sheet that is not shared', requests: blockedRequests },
]
