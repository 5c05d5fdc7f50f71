import { checkOptions, checkTag } from './mistakes.ts'
import { checkSite, tellRefusal } from './refused.ts'

/** What the page's author reads in the console. It is loaded when there is something to tell. */
export const author = { checkTag, checkOptions, checkSite, tellRefusal }

export type Author = typeof author
