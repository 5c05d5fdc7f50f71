import { emailProblem, storedEmail } from '../../signup/email.ts'
import type { OwnColumn } from '../../signup/row.ts'
import { UsageError } from '../session.ts'
import { listOf } from '../../operations/words.ts'
import { nameHint } from '../terminal/words.ts'

/** What a column may be. Other columns go into metadata under their own names. */
const importFields = ['email', 'timestamp', 'source', 'name', 'tags', 'metadata', 'sheetTab']

/** A file may have any number of names. */
const knownMax = 1_000

/** Only letters and digits, so that `E-mail` is `email` and `Sheet Tab` is `sheetTab`. */
function bare(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')
}

/** Tells which field a column is, by its name or by what the person has said. */
export class Columns {
  /** The fields of the columns that the person has named. */
  readonly #mapped = new Map<string, string>()
  /** All other fields by the names that say which they are, in the form of `bare`. */
  readonly #byName: Map<string, string>
  /** The fields of the columns that were asked for, at most a thousand; undefined for metadata. */
  readonly known = new Map<string, string | undefined>()

  /**
   * @param said the column of each field that the person has named, as `field=column`
   * @param own the site's own fields, known by name or heading
   * @throws UsageError when neither signups nor the site have such a field, or when it is there twice
   */
  constructor(said: readonly string[], own: readonly OwnColumn[] = []) {
    const names = [...own.map(({ name }) => name), ...importFields]
    this.#byName = new Map([
      ...own.map(({ name, heading }) => [bare(heading), name] as const),
      ...names.map((name) => [bare(name), name] as const),
      ['emailaddress', 'email'],
    ])
    for (const text of said) {
      const [name = '', ...words] = text.split('=')
      const column = words.join('=').trim()
      const field = names.find((one) => one === name) ?? this.#byName.get(bare(name))
      if (field === undefined || words.length === 0) {
        const hint = nameHint(name, names, 'Fields')
        throw new UsageError(`--map ${text} names no field. Give it as FIELD=COLUMN. ${hint}`)
      }
      const said = [...this.#mapped.values()]
      if (said.includes(field)) throw new UsageError(`--map ${field}= is given twice.`)
      const other = this.#mapped.get(column)
      if (other !== undefined)
        throw new UsageError(
          `--map ${other}= and --map ${field}= say one column. Leave one of them out.`,
        )
      this.#mapped.set(column, field)
    }
    const mapped = new Set(this.#mapped.values())
    // The person's own choice is the only column of its field.
    for (const [name, field] of this.#byName) if (mapped.has(field)) this.#byName.delete(name)
  }

  fieldOf(column: string): string | undefined {
    if (this.known.has(column)) return this.known.get(column)
    const field = this.#mapped.get(column) ?? this.#byName.get(bare(column))
    if (this.known.size < knownMax) this.known.set(column, field)
    return field
  }

  /** Takes a header row. @throws UsageError when it is none, lacks a column, or leaves open which one it is */
  take(names: readonly string[]): void {
    if (names.some((name) => emailProblem(storedEmail(name)) === undefined))
      throw new UsageError(
        'The file has no header row, as its first row has an email address: put one above it, with a column Email.',
      )
    for (const [column, field] of this.#mapped) {
      if (names.includes(column)) continue
      const shown = column.includes('@') ? 'column' : `column ${quotedName(column)}`
      throw new UsageError(`The file has no ${shown} that --map ${field}= says. ${hasOf(names)}`)
    }
    const [again] = [...Map.groupBy(names, (it) => it)].find(([, all]) => all.length > 1) ?? []
    if (again !== undefined)
      throw new UsageError(`Two columns are called ${quotedName(again)}: rename one of them.`)
    const byField = Map.groupBy(names, (name) => this.fieldOf(name))
    if (!byField.has('email'))
      throw new UsageError(
        `The file has no column Email: say which it is by --map email=COLUMN. ${hasOf(names)}`,
      )
    for (const [field, columns] of byField) {
      if (field === undefined || columns.length === 1) continue
      const all = columns.map(quotedName)
      throw new UsageError(
        `Columns ${all.join(' and ')} may be the ${field}: say which by --map ${field}=${all[0]}, or rename one of them.`,
      )
    }
  }
}

/** The name of a column for people, cut to 60 characters. */
export function quotedName(name: string): string {
  return JSON.stringify(name.length > 60 ? `${name.slice(0, 60)}…` : name)
}

/** Shows the names only when none looks like an address, because the first row may be somebody's data. */
function hasOf(names: readonly string[]): string {
  if (names.some((name) => name.includes('@')))
    return 'If it has no header row, put one above the first row, with a column Email.'
  return `It has ${listOf(names.map(quotedName))}.`
}
