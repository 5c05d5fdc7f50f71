import type { OwnColumn } from '../../signup/row.ts'
import { UnreadableFile } from './file-record.ts'

/** What a column may be. Other columns go into metadata under their own names. */
export const importFields = [
  'email',
  'timestamp',
  'source',
  'name',
  'tags',
  'metadata',
  'sheetTab',
] as const
type ImportField = (typeof importFields)[number]

/** Names that say which field a column is, besides the names of the fields, in the form of `bare`. */
const otherNames: Readonly<Record<string, ImportField>> = { emailaddress: 'email' }

/** Only letters and digits, so that `E-mail` is `email` and `Sheet Tab` is `sheetTab`. */
function bare(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')
}

const fieldsByName = new Map<string, ImportField>([
  ...importFields.map((field) => [bare(field), field] as const),
  ...Object.entries(otherNames),
])

/** Says of each column which field it is. */
export class Columns {
  readonly #mapped: ReadonlyMap<string, string>
  /** The site's own fields by the names that say which they are, in the form of `bare`. */
  readonly #own: ReadonlyMap<string, string>
  readonly #names: readonly string[]
  /** The fields of columns that were asked for, by name; undefined for metadata. */
  readonly #known = new Map<string, string | undefined>()

  /**
   * @param mapped the column of each field that the person has named
   * @param own the site's own fields, known by name or heading
   */
  constructor(mapped: ReadonlyMap<string, string>, own: readonly OwnColumn[] = []) {
    this.#mapped = new Map([...mapped].map(([field, column]) => [column, field]))
    this.#names = [...importFields, ...own.map(({ name }) => name)]
    this.#own = new Map([
      ...own.map(({ name, heading }) => [bare(heading), name] as const),
      ...own.map(({ name }) => [bare(name), name] as const),
    ])
  }

  fieldOf(column: string): string | undefined {
    if (this.#known.has(column)) return this.#known.get(column)
    const field = this.#mapped.get(column) ?? this.#byName(column)
    // A file may have any number of names.
    if (this.#known.size < columnsMax) this.#known.set(column, field)
    return field
  }

  /** Checks a header row. @throws UnreadableFile when a field has no column, or two */
  check(columns: readonly string[]): void {
    const fields = columns.map((column) => this.fieldOf(column))
    for (const [column, field] of this.#mapped) {
      if (!columns.includes(column))
        throw new UnreadableFile(`The file has no column of the name that --map ${field}= says.`)
    }
    if (!fields.includes('email')) throw new UnreadableFile(withoutEmail(columns))
    const twice = this.#names.find((field) => fields.filter((it) => it === field).length > 1)
    if (twice !== undefined)
      throw new UnreadableFile(
        `Two columns may be the ${twice}: say which by --map ${twice}="NAME", or rename one of them.`,
      )
  }

  /** The person's own choice is the only column of its field. */
  #byName(column: string): string | undefined {
    const field = fieldsByName.get(bare(column)) ?? this.#own.get(bare(column))
    return field && [...this.#mapped.values()].includes(field) ? undefined : field
  }
}

const columnsMax = 1_000
const shownMax = 20

/** Shows the names only when none looks like an address, because the first row may be somebody's data. */
function withoutEmail(columns: readonly string[]): string {
  if (columns.some((name) => name.includes('@')))
    return 'The file has no header row: put one above the first row, with a column Email.'
  const names = columns.slice(0, shownMax).map((name) => JSON.stringify(name))
  return `The file has no column Email: say which it is by --map email="NAME". It has ${names.join(', ')}.`
}
