import { digits } from '../platform/digits.ts'
import { isRecord } from '../signup/json.ts'
import { suggest } from '../platform/suggest.ts'

/** What values there may be in one place. A variable and the file of sites have the same kinds. */
export interface Kind<T> {
  /** What such a value is, such as “the name of a tab: 1 to 100 characters”: from it, refusals are made. */
  readonly form: string
  /** Reads what JSON has. Notes what is wrong with it. Of an object it returns what is good. */
  readonly parse: (given: unknown, note: Note) => T | undefined
  /** Its JSON Schema. */
  readonly schema: Readonly<Record<string, unknown>>
  /** What to do about a value that is refused, if more can be said than an example. */
  readonly hint?: string | undefined
  /** What JSON has for the text of a variable; the text itself if left out. */
  readonly written?: (text: string) => unknown
}

export type Value<K> = K extends Kind<infer T> ? T : never

/** Why a value is refused. The words never contain the value itself. */
export interface Refusal {
  /** What is wrong; completes a sentence that begins with the setting's name. */
  readonly problem: string
  readonly expected: string
  readonly hint?: string | undefined
  /** Told in the place of the value. */
  readonly given?: string
}

export type Key = string | number

/** Notes a refusal of the value, or of the part of it at this path. */
export type Note = (refusal: Refusal, ...path: readonly Key[]) => void

/** What is wrong with a value in particular. */
export class Wrong {
  readonly problem: string
  readonly hint: string | undefined

  constructor(problem: string, hint?: string) {
    this.problem = problem
    this.hint = hint
  }
}

type Read<Given, T> = (given: Given) => T | Wrong | undefined

export function refusalOf(
  { form, hint }: Pick<Kind<unknown>, 'form' | 'hint'>,
  wrong = new Wrong(`is not ${form.split(': ', 1).join()}.`),
): Refusal {
  return { problem: wrong.problem, expected: form, hint: wrong.hint ?? hint }
}

function refuse<T>(note: Note, kind: Pick<Kind<T>, 'form' | 'hint'>, wrong?: Wrong): T | undefined {
  note(refusalOf(kind, wrong))
  return undefined
}

/** What is wrong with a value; undefined when nothing is. */
export function wrongOf(kind: Kind<unknown>, given: unknown): Wrong | undefined {
  const found: Wrong[] = []
  kind.parse(given, ({ problem, hint }) => {
    found.push(new Wrong(problem, hint))
  })
  return found[0]
}

/** A value in one piece. `read` returns undefined for what is not of the form. */
function simple<T>(
  form: string,
  schema: Kind<T>['schema'],
  read: Read<unknown, T>,
  hint?: string,
): Kind<T> {
  return {
    ...{ form, schema, hint },
    parse(given, note) {
      const value = read(given)
      const wrong = value instanceof Wrong ? value : undefined
      if (value === undefined || wrong) return refuse(note, { form, hint }, wrong)
      return value as T
    },
  }
}

/** A text, without white space around it. */
export function text<T>(
  form: string,
  read: Read<string, T>,
  hint?: string,
  schema: Kind<T>['schema'] = {},
): Kind<T> {
  const readText = (given: unknown) => {
    if (typeof given !== 'string') return new Wrong('is not a text between quotes.')
    return given.trim() === '' ? new Wrong('is empty.') : read(given.trim())
  }
  return simple(form, { type: 'string', ...schema }, readText, hint)
}

/** Text as it was given, for what is read together with other settings. */
export const given = (form: string): Kind<string> => text(form, (value) => value)

/** In a variable in digits only. */
export function wholeNumber(minimum: number, maximum: number, hint?: string): Kind<number> {
  const form = `a whole number from ${digits(minimum)} to ${digits(maximum)}`
  const read = (it: unknown) =>
    typeof it === 'number' && Number.isInteger(it) && it >= minimum && it <= maximum
      ? it
      : undefined
  return {
    ...simple(form, { type: 'integer', minimum, maximum }, read, hint),
    written: (digits) => (/^\d+$/.test(digits) ? Number(digits) : digits),
  }
}

/** One of some words: in a variable in small or capital letters. */
export function oneOf<const Word extends string>(words: readonly Word[]): Kind<Word> {
  const form = `one of ${words.join(', ')}`
  const read = (it: unknown) => {
    const meant = typeof it === 'string' ? suggest(it, words) : undefined
    const isWord = meant === undefined || meant === it
    const wrong = isWord ? undefined : new Wrong(`is not ${form}.`, `Did you mean ${meant}?`)
    return words.find((word) => word === it) ?? wrong
  }
  const kind = simple(form, { type: 'string', enum: words }, read)
  return { ...kind, written: (value) => value.toLowerCase() }
}

export const boolean = simple('true or false', { type: 'boolean' }, (it) =>
  typeof it === 'boolean' ? it : undefined,
)

/** Any number. A variable has none of these. */
export const number = simple('a number', { type: 'number' }, (it) =>
  typeof it === 'number' ? it : undefined,
)

/**
 * Values with commas between them in a variable, and a list in the file of sites.
 *
 * @param keyOf of entries with the same key, the first is kept
 */
export function listOf<T>(
  kind: Kind<T>,
  [minItems, maxItems]: readonly [number, number] = [1, 1_000],
  keyOf: (value: T) => unknown = (value) => value,
): Kind<readonly T[]> {
  const form = `a list with ${minItems} to ${digits(maxItems)} entries: each is ${kind.form}`
  const hint = 'Write commas between the entries of a variable. In JSON, a list is [ "…", "…" ].'
  return {
    ...{ form, hint, schema: { type: 'array', items: kind.schema, minItems, maxItems } },
    written: entriesOf,
    parse(given, note) {
      const isList = Array.isArray(given) && given.length >= minItems && given.length <= maxItems
      if (!isList) return refuse(note, { form, hint })
      const values = given.flatMap((it, at) => kind.parse(it, under(note, at)) ?? [])
      if (values.length < given.length) return undefined
      return [...Map.groupBy(values, keyOf).values()].flatMap((alike) => alike.slice(0, 1))
    },
  }
}

function entriesOf(value: string): string[] {
  return value.split(',').flatMap((entry) => entry.trim() || [])
}

type Shape = Readonly<Record<string, Kind<unknown>>>
type Values<S extends Shape> = { readonly [K in keyof S]?: Value<S[K]> | undefined }

const anObject = { form: 'an object: { … }' }

/**
 * An object with these keys only.
 *
 * @param required the keys that it must have
 * @param stray what is wrong with another key, if more can be said than that it is none of these
 */
export function object<S extends Shape>(
  shape: S,
  required: readonly (keyof S & string)[] = [],
  stray: (key: string) => string = () => 'is no key of this file.',
): Kind<Values<S>> {
  const keys = Object.keys(shape)
  const properties = Object.fromEntries(keys.map((key) => [key, shape[key]?.schema]))
  const head = { type: 'object', properties, additionalProperties: false }
  return {
    ...anObject,
    schema: required.length > 0 ? { ...head, required } : head,
    parse(given, note) {
      if (!isRecord(given)) return refuse(note, anObject)
      const values = Object.entries(shape).flatMap(([key, kind]) => {
        const value = Object.hasOwn(given, key) ? given[key] : kind.schema['default']
        if (value !== undefined) return [[key, kind.parse(value, under(note, key))] as const]
        if (required.includes(key)) note({ problem: 'is missing.', expected: kind.form }, key)
        return []
      })
      for (const key of Object.keys(given)) {
        if (!keys.includes(key)) note(strayKey(key, keys, stray(key)), key)
      }
      return Object.fromEntries(values) as Values<S>
    },
  }
}

function under(note: Note, key: Key): Note {
  return (refusal, ...path) => note(refusal, key, ...path)
}

function strayKey(key: string, known: readonly string[], problem: string): Refusal {
  const meant = suggest(key, known)
  return {
    ...{ problem, given: 'a value that is not shown' },
    expected: meant === undefined ? `one of ${known.join(', ')}` : `did you mean ${meant}?`,
    hint: 'Rename or remove it. Secrets belong into variables of the environment (docs/sites.md).',
  }
}

/** Values by names of this kind. They keep their order. */
export function record<T>(
  name: Kind<string>,
  kind: Kind<T>,
  form: string,
  [minProperties, maxProperties]: readonly [number, number],
): Kind<Readonly<Record<string, T>>> {
  const head = { type: 'object', propertyNames: name.schema, additionalProperties: kind.schema }
  return {
    ...{ form, schema: { ...head, minProperties, maxProperties } },
    parse(given, note) {
      if (!isRecord(given)) return refuse(note, anObject)
      const entries = Object.entries(given)
      const isFew = entries.length <= maxProperties && entries.length >= minProperties
      if (!isFew) note(refusalOf({ form }))
      const values = entries.flatMap(([key, it]) => {
        name.parse(key, under(note, key))
        const value = kind.parse(it, under(note, key))
        return value === undefined ? [] : [[key, value] as const]
      })
      return Object.fromEntries(values)
    },
  }
}

/** One kind for objects, and another one for all else. */
export function either<T, U>(plain: Kind<T>, parts: Kind<U>): Kind<T | U> {
  const parse: Kind<T | U>['parse'] = (given, note) =>
    isRecord(given) ? parts.parse(given, note) : plain.parse(given, note)
  return { ...plain, schema: { anyOf: [plain.schema, parts.schema] }, parse }
}

/** The same kind, or null. */
export function orNull<T>(kind: Kind<T>): Kind<T | null> {
  const parse: Kind<T | null>['parse'] = (given, note) =>
    given === null ? null : kind.parse(given, note)
  return { ...kind, schema: { anyOf: [kind.schema, { type: 'null' }] }, parse }
}

/** The same kind with one more check of what was given, and of what was read of it. */
export function checked<T>(
  kind: Kind<T>,
  check: (given: unknown, note: Note, value: T | undefined) => void,
): Kind<T> {
  const parse: Kind<T>['parse'] = (given, note) => {
    const value = kind.parse(given, note)
    check(given, note, value)
    return value
  }
  return { ...kind, parse }
}

/** The same kind with a description, and maybe more, in its schema. A `default` there is used. */
export function described<T>(kind: Kind<T>, description: string, more = {}): Kind<T> {
  return { ...kind, schema: { ...kind.schema, description, ...more } }
}

/** The same kind, with an example where no refusal says what to do. */
export function exemplified<T>(kind: Kind<T>, example: string): Kind<T> {
  const hint = `Write it such as ${example}.`
  const bare = example.replace(/^"(.*)"$/, '$1')
  return {
    ...kind,
    hint: kind.hint ?? hint,
    schema: { ...kind.schema, examples: [kind.written?.(bare) ?? bare] },
    parse: (given, note) =>
      kind.parse(given, (refusal, ...path) =>
        note({ ...refusal, hint: refusal.hint ?? hint }, ...path),
      ),
  }
}
