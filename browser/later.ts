import { createController } from './controller.ts'
import { tellMistakes } from './mistakes.ts'

/** What a form needs from the first focus on: a file of its own, so that pages load faster. */
export const later = { createController, tellMistakes }
