import { createSender } from './submission.ts'
import { suggestEmail } from './suggestion.ts'

/** What a form needs from the first focus on: a file of its own, so that pages load faster. */
export const later = { createSender, suggestEmail }
