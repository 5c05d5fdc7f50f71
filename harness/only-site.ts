import type { Journal, OpenJournal } from '../src/journal/contracts/journal.ts'

/** The only site of a journal that was opened for it. Disposing closes the journal. */
export function onlySiteOf(opened: OpenJournal): Journal {
  const [only] = opened.sites.values()
  if (!only || opened.sites.size > 1) throw new Error('The journal was not opened for one site.')
  return { ...only, [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() }
}
