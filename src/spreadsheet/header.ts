import { columns } from '../signup/row.ts'

/** Where our cells go, according to the header row of a tab. */
export interface Header {
  /** `named`: somebody's own header with a column `Email`. `none`: no header, but somebody's data. */
  readonly kind: 'ours' | 'named' | 'none'
  /** For each of `columns`, the index of that column in the tab; -1 when there is none. */
  readonly at: readonly number[]
}

export const ourHeader: Header = { kind: 'ours', at: columns.map((_, index) => index) }

const metadata = columns.indexOf('Metadata')

/** Reads a header row: our own, perhaps with more columns after it, or one with a column `Email`. */
export function readHeader(cells: readonly string[]): Header {
  const names = cells.map(nameKey)
  if (columns.every((name, index) => names[index] === nameKey(name))) return ourHeader
  const at = columns.map((name) => names.indexOf(nameKey(name)))
  return names.includes('email') ? { kind: 'named', at } : { ...ourHeader, kind: 'none' }
}

/**
 * Puts the cells of a row into the order of the tab's columns. A cell without a column of its name goes
 * into Metadata, under that name.
 */
export function arrange(row: readonly string[], { kind, at }: Header): readonly string[] {
  if (kind !== 'named') return row
  return Array.from({ length: Math.max(...at) + 1 }, (_, place) => {
    const index = at.indexOf(place)
    return index === metadata ? withHomeless(row, at) : (row[index] ?? '')
  })
}

/** The problem of a tab's header; completes a sentence that begins with the tab. Undefined if there is none. */
export function headerProblem({ kind, at }: Header): string | undefined {
  if (kind === 'ours') return undefined
  if (kind === 'none') {
    return (
      `does not begin with a header row that has a column Email: rows go below what it holds, as ` +
      `${columns.join(', ')}. Name its columns to have cells go by their names.`
    )
  }
  const homeless = columns.filter((_, index) => at[index] === -1)
  if (homeless.length === 0) return undefined
  return (
    `has a header row of its own, and no column for ${homeless.join(', ')}: ` +
    (at[metadata] === -1
      ? 'that is left out of its rows. Add columns of these names, or one named Metadata.'
      : 'that goes into Metadata. Add columns of these names to have it there.')
  )
}

/** The name for comparisons, without case and spaces. */
function nameKey(name: string): string {
  return name.normalize('NFC').replace(/\s+/g, '').toLowerCase()
}

/** Adds the cells that have no column to the metadata, as compact JSON. The metadata's own text is kept. */
function withHomeless(row: readonly string[], at: Header['at']): string {
  const own = row[metadata] ?? ''
  const taken = new Set(own === '' ? [] : Object.keys(JSON.parse(own) as object))
  const members = columns.flatMap((name, index) => {
    const text = row[index] ?? ''
    if (at[index] !== -1 || text === '') return []
    let key: string = name
    // Keep a visitor's key of the same name, and rename ours.
    while (taken.has(key)) key += ' (signup)'
    return [`${JSON.stringify(key)}:${JSON.stringify(text)}`]
  })
  if (members.length === 0) return own
  const inside = own.slice(1, -1)
  return `{${[...(inside === '' ? [] : [inside]), ...members].join(',')}}`
}
