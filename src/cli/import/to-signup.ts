import type { Millis } from '../../signup/signup.ts'
import type { OwnColumn } from '../../signup/row.ts'
import { isRecord } from '../../signup/json.ts'
import { parseJson } from '../../signup/json-text.ts'
import { type Parsed, type ParseContext, parseSignup } from '../../signup/parse.ts'
import { rejectedColumns, UnreadableFile } from './file-record.ts'
import { type DateOrder, readMoment } from './moment.ts'

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

export interface RowOptions {
  readonly columns: Columns
  readonly context: ParseContext
  /** The tab of all signups, whatever the file says. */
  readonly tab: string | undefined
  readonly dates: DateOrder | undefined
  readonly now: Millis
}

export type ParsedRow =
  | {
      readonly ok: true
      readonly value: Extract<Parsed, { ok: true }>['value']
      readonly at: Millis
    }
  | { readonly ok: false; readonly reason: string }

/** Checks one record like a signup request. Without a timestamp, `at` is now. */
export function parseRow(
  values: readonly (readonly [column: string, value: unknown])[],
  { columns, context, tab, dates, now }: RowOptions,
): ParsedRow {
  const fields: Record<string, unknown> = {}
  const extra: [string, unknown][] = []
  for (const [column, value] of values) {
    if (isEmpty(value) || isOurs(column)) continue
    const field = columns.fieldOf(column)
    if (field === undefined) extra.push([column, value])
    else fields[field] = value
  }
  const { timestamp, metadata, ...rest } = fields
  const problems: string[] = []
  const at = timestamp === undefined ? now : momentOf(timestamp, now, dates)
  if (typeof at !== 'number') problems.push(at.problem)
  const whole = metadataOf(metadata, extra)
  if ('problem' in whole) problems.push(whole.problem)
  const input = {
    ...rest,
    ...('metadata' in whole && { metadata: whole.metadata }),
    ...(tab !== undefined && { sheetTab: tab }),
  }
  const parsed = parseSignup(input, context)
  if (!parsed.ok) problems.push(...parsed.problems.map(({ message }) => message))
  if (parsed.ok && typeof at === 'number' && problems.length === 0)
    return { ok: true, value: parsed.value, at }
  return { ok: false, reason: problems.join(' ') }
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === ''
}

function isOurs(column: string): boolean {
  return rejectedColumns.some((ours) => ours === column)
}

function momentOf(value: unknown, now: Millis, dates: DateOrder | undefined) {
  return typeof value === 'string'
    ? readMoment(value, now, dates)
    : { problem: 'The timestamp must be text.' }
}

/** The metadata of a record with the columns that are no fields. */
function metadataOf(
  given: unknown,
  extra: readonly (readonly [string, unknown])[],
): { readonly metadata: unknown } | { readonly problem: string } {
  const own = typeof given === 'string' ? parseJson(given) : { value: given }
  if ('problem' in own) return { problem: `The metadata ${own.problem}.` }
  if (extra.length === 0) return { metadata: own.value }
  if (own.value !== undefined && !isRecord(own.value)) return { metadata: own.value }
  const names = new Set(Object.keys(own.value ?? {}))
  const twice = extra.some(([name]) => names.size === names.add(name).size)
  if (twice)
    return {
      problem: 'Two columns have one name, or a key of the metadata has it, too: rename a column.',
    }
  return { metadata: { ...own.value, ...Object.fromEntries(extra) } }
}
