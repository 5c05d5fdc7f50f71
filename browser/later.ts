import { createController } from './controller.ts'
import { tellMistakes } from './mistakes.ts'

/** The code that a form needs from the first focus on. It is a separate file, so that pages load faster. */
export const later = { createController, tellMistakes }
