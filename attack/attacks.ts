import type { Attack } from './attack.ts'
import { resets } from './attacks/resets.ts'
import { unreadAnswers } from './attacks/unread-answers.ts'

/** Every attack, in the order in which they are carried out. */
export const attacks: readonly Attack[] = [resets, unreadAnswers]
