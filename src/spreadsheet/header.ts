import { columns } from '../signup/row.ts'

/** What the header row of a tab says about the place of our cells. */
export interface Header {
  /** `named`: somebody's own, with a column `Email`. `none`: no header but somebody's data. */
  readonly kind: 'ours' | 'named' | 'none'
  /** For each of `columns` the index of its column; -1 where there is none. */
  readonly at: readonly number[]
}

export const ourHeader: Header = { kind: 'ours', at: columns.map((_, index) => index) }

const metadata = columns.indexOf('Metadata')

/** Reads a header row: ours, with or without columns behind it, or one with a column `Email`. */
export function readHeader(cells: readonly string[]): Header {
  const names = cells.map(nameKey)
  if (columns.every((name, index) => names[index] === nameKey(name))) return ourHeader
  const at = columns.map((name) => names.indexOf(nameKey(name)))
  return names.includes('email') ? { kind: 'named', at } : { ...ourHeader, kind: 'none' }
}

/**
 * The cells of a row in the order of the tab's columns. What has no column of its name goes into
 * Metadata, beside what is there, under the name that its column would have.
 */
export function arrange(row: readonly string[], { kind, at }: Header): readonly string[] {
  if (kind !== 'named') return row
  return Array.from({ length: Math.max(...at) + 1 }, (_, place) => {
    const index = at.indexOf(place)
    return index === metadata ? withHomeless(row, at) : (row[index] ?? '')
  })
}

/** What to tell about a tab's header, as the end of a sentence about the tab; undefined if nothing. */
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

/** Case and spaces aside. */
function nameKey(name: string): string {
  return name.normalize('NFC').replace(/\s+/g, '').toLowerCase()
}

/** The metadata as compact JSON with the cells that have no column; its own text stays as it is. */
function withHomeless(row: readonly string[], at: Header['at']): string {
  const own = row[metadata] ?? ''
  const taken = new Set(own === '' ? [] : Object.keys(JSON.parse(own) as object))
  const members = columns.flatMap((name, index) => {
    const text = row[index] ?? ''
    if (at[index] !== -1 || text === '') return []
    let key: string = name
    // A key of the visitor's stays: ours is told apart.
    while (taken.has(key)) key += ' (signup)'
    return [`${JSON.stringify(key)}:${JSON.stringify(text)}`]
  })
  if (members.length === 0) return own
  const inside = own.slice(1, -1)
  return `{${[...(inside === '' ? [] : [inside]), ...members].join(',')}}`
}
