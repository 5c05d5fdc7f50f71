import type { Attack } from './carry-out.ts'
import { manyMistakes } from './many-mistakes.ts'
import { puzzles } from './puzzles.ts'
import { resets } from './resets.ts'
import { slots } from './slots.ts'
import { unreadAnswers } from './unread-answers.ts'
import { waitingVisitors } from './waiting-visitors.ts'

/** Every attack, in the order in which they are carried out. */
export const attacks: readonly Attack[] = [
  resets,
  slots,
  unreadAnswers,
  waitingVisitors,
  manyMistakes,
  puzzles,
]
