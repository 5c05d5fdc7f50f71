import { keptAbout, nothingKept } from './person.ts'
import { counted } from './words.ts'

/** What `forget` would erase of one person. */
export type Forgettable = Awaited<ReturnType<typeof tryForget>>

/** Counts what `forget` would erase. Changes nothing. */
export async function tryForget(...whom: Parameters<typeof keptAbout>) {
  // `waiting` have no row yet. Those held may be beside the list, as pending ones are.
  const found = { signups: 0, rows: 0, waiting: 0, held: 0, pending: 0, mails: 0 }
  for await (const { kind, state, isSuspect } of keptAbout(...whom)) {
    if (kind === 'mail') found.mails += 1
    if (kind === 'pending') found[isSuspect === true ? 'held' : 'pending'] += 1
    if (kind === 'signup') found[state === 'held' ? 'held' : 'signups'] += 1
    if (state === 'written') found.rows += 1
    if (state === 'waiting') found.waiting += 1
  }
  return found
}

/** What would be erased, in sentences without the address. */
export function forgettableWords(found: Forgettable): string[] {
  const { signups, rows, waiting, held, pending, mails } = found
  if (signups + held + pending + mails === 0) return [`${nothingKept} Nothing was changed.`]
  return [
    `Would erase: ${counted(signups, 'signup')} of the list, ${held} held, ${pending} pending, ${counted(mails, 'mail')}.`,
    `To go from the spreadsheet: ${counted(rows, 'row')}.`,
    waiting > 0 && `Waiting for a row: ${counted(waiting, 'signup')}.`,
    'Nothing was changed.',
  ].filter((line) => line !== false)
}
