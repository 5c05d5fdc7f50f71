import { keyProblem } from '../../config/challenge-keys.ts'
import { inspectChallenge } from '../../service/inspect.ts'
import type { Check } from './check.ts'

export const challengeCheck: Check = async ({ config, secrets }) => {
  const { challenge } = config
  const problem =
    challenge && keyProblem(challenge.provider, challenge.siteKey, secrets.challengeSecret ?? '')
  if (problem) return [{ check: 'challenge', state: 'fault', ...problem }]
  return [await inspectChallenge(config, secrets)]
}
