import {
  type Cell,
  columns,
  headingKey,
  headingsOf,
  noColumns,
  type OwnColumn,
} from '../signup/row.ts'
import { type Finding, findingsOf } from '../platform/finding.ts'
import { withMembers } from '../signup/metadata.ts'

/** Where our cells go, according to the header row of a tab. */
export interface Header {
  /** `named`: another header with a column `Email`. `none`: no header, but somebody's data. */
  readonly kind: 'ours' | 'named' | 'none'
  /** For each of `columns`, then for each column of the site's own: its index in the tab; -1 without one. */
  readonly at: readonly number[]
  /** Headings of the site's own columns that have to be written into empty cells, from this column on. */
  readonly added?: { readonly column: number; readonly headings: readonly string[] }
}

export const ourHeader = ourHeaderWith(noColumns)

const metadata = columns.indexOf('Metadata')

/** Columns after these are not read. */
const headingsMax = 702

/** The header of a tab that we make. */
export function ourHeaderWith(own: readonly OwnColumn[]): Header {
  return { kind: 'ours', at: [...columns, ...own].map((_, index) => index) }
}

/**
 * Reads a header row: our own, perhaps with more columns after it, or one with a column `Email`. The
 * site's own columns are found by their headings. With `mayAdd`, those that are missing are added to the
 * right of a header that has all seven of ours.
 */
export function readHeader(
  cells: readonly string[],
  own: readonly OwnColumn[] = noColumns,
  mayAdd = false,
): Header {
  const names = cells.map(headingKey)
  const isOurs = columns.every((name, index) => names[index] === headingKey(name))
  if (!isOurs && !names.includes('email')) {
    return { kind: 'none', at: [...ourHeader.at, ...own.map(() => -1)] }
  }
  const kind = isOurs ? 'ours' : 'named'
  const at: number[] = columns.map((name) => names.indexOf(headingKey(name)))
  for (const { heading } of own) {
    const name = headingKey(heading)
    at.push(names.findIndex((one, index) => one === name && !at.includes(index)))
  }
  const missing = own.filter((_, index) => at[columns.length + index] === -1)
  const column = names.findLastIndex((name) => name !== '') + 1
  const isWhole = !at.slice(0, columns.length).includes(-1)
  const fits = column + missing.length <= headingsMax
  if (!mayAdd || missing.length === 0 || !isWhole || !fits) return { kind, at }
  let next = column
  const grown = at.map((place) => (place === -1 ? next++ : place))
  return { kind, at: grown, added: { column, headings: missing.map(({ heading }) => heading) } }
}

/**
 * Puts the cells of a row into the order of the tab's columns. A cell without a column of its name goes
 * into Metadata, under that name.
 */
export function arrange(
  row: readonly Cell[],
  { at }: Header,
  own: readonly OwnColumn[] = noColumns,
): readonly Cell[] {
  if (at.every((place, index) => place === index)) return row
  return Array.from({ length: Math.max(...at) + 1 }, (_, place) => {
    const index = at.indexOf(place)
    return index === metadata ? withHomeless(row, at, own) : (row[index] ?? '')
  })
}

/** The problem of a tab's header; completes a sentence that begins with the tab. Undefined if there is none. */
export function headerProblem(
  { kind, at }: Header,
  own: readonly OwnColumn[] = noColumns,
): string | undefined {
  if (kind === 'none') {
    return (
      `does not begin with a header row that has a column Email: rows go below what it holds, as ` +
      `${columns.join(', ')}. Name its columns to have cells go by their names.`
    )
  }
  const homeless = headingsOf(own).filter((_, index) => at[index] === -1)
  if (homeless.length === 0) return undefined
  return (
    `has a header row of its own, and no column for ${homeless.join(', ')}: ` +
    (at[metadata] === -1
      ? 'that is left out of its rows. Add columns of these names, or one named Metadata.'
      : 'that goes into Metadata. Add columns of these names to have it there.')
  )
}

/** Whether a tab's cells all have their columns. */
export function headerFinding(tab: string, header: Header, own: readonly OwnColumn[]): Finding {
  const { ok, warning } = findingsOf('tabs')
  const problem = headerProblem(header, own)
  if (problem !== undefined) return warning(`${tab} ${problem}`)
  const more = header.added?.headings ?? []
  const there = headingsOf(own).filter((heading) => !more.includes(heading))
  const fit = `${tab} has a column for each of ${there.join(', ')}`
  return ok(more.length === 0 ? fit : `${fit}, and gets ${more.join(', ')} with its next rows`)
}

/** Adds the cells that have no column to the metadata. A visitor's key of the same name is kept. */
function withHomeless(row: readonly Cell[], at: Header['at'], own: readonly OwnColumn[]): string {
  const names = [...columns, ...own.map(({ name }) => name)]
  const members = names.flatMap((name, index) => {
    const cell = row[index] ?? ''
    return at[index] !== -1 || cell === '' ? [] : [[name, cell] as const]
  })
  return withMembers(String(row[metadata] ?? ''), members)
}
