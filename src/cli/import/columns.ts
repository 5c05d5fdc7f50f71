import { emailProblem, storedEmail } from '../../signup/email.ts'
import type { OwnColumn } from '../../signup/row.ts'
import { UsageError } from '../session.ts'
import { listOf } from '../../operations/words.ts'
import { nameHint } from '../terminal/words.ts'
import { type FileColumn, lettersOf, quotedName } from './file-record.ts'

/** What a column may be. Other columns go into metadata under their own names. */
const importFields = ['email', 'timestamp', 'source', 'name', 'tags', 'metadata', 'sheetTab']

/** Only letters and digits, so that `E-mail` is `email` and `Sheet Tab` is `sheetTab`. */
function bare(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')
}

export class Columns {
  /** The columns of the fields that the person has named. */
  readonly #mapped = new Map<string, string>()
  readonly #names: readonly string[]
  /** The fields by the names that say which they are, in the form of `bare`. */
  readonly #byName: ReadonlyMap<string, string>
  readonly #known = new Map<string, string | undefined>()

  /**
   * @param said the column of each field that the person has named, as `field=column`
   * @param own the site's own fields, known by name or heading
   * @throws UsageError when neither signups nor the site have such a field, or when it is there twice
   */
  constructor(said: readonly string[], own: readonly OwnColumn[] = []) {
    this.#names = [...own.map(({ name }) => name), ...importFields]
    this.#byName = new Map([
      ...own.map(({ name, heading }) => [bare(heading), name] as const),
      ...this.#names.map((name) => [bare(name), name] as const),
      ['emailaddress', 'email'],
    ])
    for (const text of said) {
      const [name = '', ...column] = text.split('=')
      const field = this.#names.find((one) => one === name) ?? this.#byName.get(bare(name))
      if (field === undefined || column.length === 0) {
        const hint = nameHint(name, this.#names, 'Fields')
        throw new UsageError(`--map ${text} names no field. Give it as FIELD=COLUMN. ${hint}`)
      }
      if (this.#mapped.has(field)) throw new UsageError(`--map ${field}= is given twice.`)
      this.#mapped.set(field, column.join('=').trim())
    }
  }

  /** The fields of all columns that are known so far, by their keys; undefined for metadata. */
  get known(): ReadonlyMap<string, string | undefined> {
    return this.#known
  }

  fieldOf(key: string): string | undefined {
    if (this.#known.has(key)) return this.#known.get(key)
    const [mapped] = [...this.#mapped].find(([, column]) => column === key) ?? []
    const field = mapped ?? this.#fieldNamed(key)
    // A file may have any number of names.
    if (this.#known.size < columnsMax) this.#known.set(key, field)
    return field
  }

  /** Takes a header row. @throws UsageError when it is none, lacks a column, or leaves open which one it is */
  take(columns: readonly FileColumn[]): void {
    if (columns.some(({ name }) => emailProblem(storedEmail(name)) === undefined))
      throw new UsageError(
        'The file has no header row, as its first row has an email address: put one above it, with a column Email.',
      )
    const mapped = new Map<number, string>()
    for (const [field, said] of this.#mapped) {
      const at = findColumn(columns, field, said)
      const other = mapped.get(at)
      if (other !== undefined)
        throw new UsageError(
          `--map ${other}= and --map ${field}= say one column. Leave one of them out.`,
        )
      mapped.set(at, field)
    }
    const fields = columns.map(({ name }, at) => mapped.get(at) ?? this.#fieldNamed(name))
    if (!fields.includes('email'))
      throw new UsageError(
        `The file has no column Email: say which it is by --map email=COLUMN. ${columnsOf(columns)}`,
      )
    for (const name of this.#names) {
      const all = lettersWhere(fields, (field) => field === name)
      if (all.length > 1)
        throw new UsageError(
          `Columns ${all.join(' and ')} may be the ${name}: say which by --map ${name}=${all[0]}, or rename one of them.`,
        )
    }
    columns.forEach(({ key }, at) => this.#known.set(key, fields[at]))
  }

  /** The person's own choice is the only column of its field. */
  #fieldNamed(column: string): string | undefined {
    const field = this.#byName.get(bare(column))
    return field !== undefined && this.#mapped.has(field) ? undefined : field
  }
}

const columnsMax = 1_000

/** The index of the column that the person names: by its name, else by its number or letters. */
function findColumn(columns: readonly FileColumn[], field: string, said: string): number {
  const named = lettersWhere(columns, ({ name }) => name === said)
  if (named.length > 1)
    throw new UsageError(
      `Columns ${named.join(' and ')} have the name that --map ${field}= says: ` +
        `say which by its letter, as in --map ${field}=${named[0]}.`,
    )
  const byPlace = /^\d{1,9}$/.test(said) ? lettersOf(Number(said) - 1) : said
  const letters = named[0] ?? byPlace
  const at = columns.findIndex((_, index) => lettersOf(index) === letters)
  if (at >= 0) return at
  const column = said.includes('@') ? 'column' : `column ${quotedName(said)}`
  throw new UsageError(`The file has no ${column} that --map ${field}= says. ${columnsOf(columns)}`)
}

function lettersWhere<T>(all: readonly T[], isWanted: (one: T) => boolean): readonly string[] {
  return all.flatMap((one, at) => (isWanted(one) ? [lettersOf(at)] : []))
}

/** Shows the names only when none looks like an address, because the first row may be somebody's data. */
function columnsOf(columns: readonly FileColumn[]): string {
  if (columns.some(({ name }) => name.includes('@')))
    return 'If it has no header row, put one above the first row, with a column Email.'
  return `It has ${listOf(columns.map(({ name }, at) => `${lettersOf(at)} ${quotedName(name)}`))}.`
}
