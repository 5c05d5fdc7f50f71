import { createController } from './controller.ts'

/** What a form needs from the first focus on: a file of its own, so that pages load faster. */
export const later = { createController }
