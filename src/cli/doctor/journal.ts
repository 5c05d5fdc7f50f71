import type { Check } from './check.ts'

/** Opening the journal has checked every page of it. */
export const journalCheck: Check = async ({ journal }) => {
  const check = 'journal'
  if (journal.kind === 'closed') return [{ check, state: 'fault', message: journal.message }]
  const { all } = await journal.journal.reader.figures(0, 0)
  const message = `is sound; signups in it: ${all.accepted.toLocaleString('en-US')}`
  return [{ check, state: 'ok', message }]
}
