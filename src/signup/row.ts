import type { Signup } from './signup.ts'

/** The columns of a tab, in order; they are its header row. */
export const columns = [
  'Email',
  'Timestamp',
  'Source',
  'Name',
  'Tags',
  'Metadata',
  'Sheet Tab',
] as const

/** One cell for each of `columns`. Every cell is text. */
export type Row = readonly [string, string, string, string, string, string, string]

/** The row of a signup. `tab` is the tab's name as it was first used. */
export function toRow(signup: Signup, tab: string): Row {
  return [
    signup.email,
    new Date(signup.receivedAt).toISOString(),
    signup.source,
    signup.name,
    signup.tags.join(', '),
    signup.metadata,
    tab,
  ]
}
