import type { Journal } from '../../journal/contracts/journal.ts'
import type { Check } from './check.ts'

/** Opening the journal has checked every page of it. */
export const journalCheck: Check = async ({ journal }) => {
  const check = 'journal'
  if (journal.kind === 'closed') return [{ check, state: 'fault', message: journal.message }]
  const signups = await signupsIn(journal.parts)
  const message = `is sound; signups in it: ${signups.toLocaleString('en-US')}`
  return [{ check, state: 'ok', message }]
}

/** The signups of all these sites. */
export async function signupsIn(parts: readonly Pick<Journal, 'reader'>[]): Promise<number> {
  const figures = await Promise.all(parts.map(({ reader }) => reader.figures(0, 0)))
  return figures.reduce((sum, { all }) => sum + all.accepted, 0)
}
