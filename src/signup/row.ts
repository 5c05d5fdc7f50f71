import { type Field, type FieldValues, headingOf } from './field.ts'
import { withMembers } from './metadata.ts'
import type { Signup } from './signup.ts'

/** The columns of a tab, in order; they are its header row. The columns of the site's fields follow. */
export const columns = [
  'Email',
  'Timestamp',
  'Source',
  'Name',
  'Tags',
  'Metadata',
  'Sheet Tab',
] as const

/** A column of the site's own: that of a field, or the time of the confirmation. */
export interface OwnColumn {
  readonly name: string
  readonly heading: string
}

/** Numbers and checkboxes are themselves, all else is text. An empty cell is ''. */
export type Cell = string | number | boolean

/** One cell for each of `columns`, all of them text, and then one for each column of the site's own. */
export type Row = readonly [string, string, string, string, string, string, string, ...Cell[]]

export const noColumns: readonly OwnColumn[] = []

/** The column that a site has which asks for confirmation. */
export const confirmedColumn: OwnColumn = { name: 'confirmedAt', heading: 'Confirmed' }

export function ownColumns(
  fields: readonly Field[],
  confirmation: 'off' | 'mail' = 'off',
): readonly OwnColumn[] {
  const ofFields = fields.map((field) => ({ name: field.name, heading: headingOf(field) }))
  return confirmation === 'mail' ? [confirmedColumn, ...ofFields] : ofFields
}

/** The header row of a tab. */
export function headingsOf(own: readonly OwnColumn[]): readonly string[] {
  return [...columns, ...own.map(({ heading }) => heading)]
}

/** A heading for comparisons: without case and spaces, as people write it. */
export function headingKey(heading: string): string {
  return heading.normalize('NFC').replace(/\s+/g, '').toLowerCase()
}

/**
 * The row of a signup. `tab` is the tab's name as it was first used. Values of columns that the site does
 * not have any more go into the metadata.
 */
export function toRow(signup: Signup, tab: string, own = noColumns): Row {
  const { confirmedAt } = signup
  const fields =
    confirmedAt === undefined
      ? signup.fields
      : { ...signup.fields, [confirmedColumn.name]: new Date(confirmedAt).toISOString() }
  const undeclared = Object.entries(fields).filter(([name]) =>
    own.every((one) => one.name !== name),
  )
  return [
    signup.email,
    new Date(signup.receivedAt).toISOString(),
    signup.source,
    signup.name,
    signup.tags.join(', '),
    withMembers(signup.metadata, undeclared),
    tab,
    ...own.map(({ name }) => cellOf(Object.hasOwn(fields, name) ? fields[name] : undefined)),
  ]
}

function cellOf(value: FieldValues[string] = ''): Cell {
  return typeof value === 'object' ? value.join(', ') : value
}
