import type { Attack } from './attack.ts'
import { manyMistakes } from './attacks/many-mistakes.ts'
import { newTabs } from './attacks/new-tabs.ts'
import { replays } from './attacks/replays.ts'
import { resets } from './attacks/resets.ts'
import { scanners } from './attacks/scanners.ts'
import { slots } from './attacks/slots.ts'
import { unreadAnswers } from './attacks/unread-answers.ts'
import { waitingVisitors } from './attacks/waiting-visitors.ts'

/** Every attack, in the order in which they are carried out. */
export const attacks: readonly Attack[] = [
  resets,
  scanners,
  slots,
  unreadAnswers,
  waitingVisitors,
  replays,
  newTabs,
  manyMistakes,
]
