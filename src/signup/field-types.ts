import type { ChoiceField, Field, FieldValues, NumberField, TextField } from './field.ts'
import { optionsOf } from './field.ts'
import { cleanLines, cleanText, firstNames } from './text.ts'

/** In UTF-16 units. The address goes into one cell, and people follow it. */
const urlCharactersMax = 2_000
/** Room for fifteen digits, each with a sign and a space around it. */
const phoneCharactersMax = 50
const phoneDigits = { min: 5, max: 15 }
/** A double, and a cell of a spreadsheet, keeps so many digits. */
const numberDigitsMax = 15
const numberCharactersMax = 40

const plainDecimal = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/
export const phoneCharacters = /^[\d+()\-./ ]+$/
/** There is no year 0, and controls for dates cannot hold one. */
const isoDate = /^(?!0000)\d{4}-\d\d-\d\d$/
const trueTexts = ['on', 'true', '1', 'yes']
const falseTexts = ['off', 'false', '0', 'no']

/** The value that stands for what was given; or the end of a sentence about the field. */
export interface Read {
  readonly value?: FieldValues[string] | undefined
  readonly problem?: string
}

type Attributes = Readonly<Record<string, string>>

/** All that a type of field is, but for the texts of its mistakes in `pages/languages/`, and its settings. */
interface FieldType {
  /** Reads a value that was given and is not empty, cleaned. */
  read(given: unknown, field: Field): Read
  /** The form of a value, in JSON Schema. */
  schema(field: Field): Readonly<Record<string, unknown>>
  /** The attributes of the control. An empty value is a boolean attribute. */
  control?(field: Field): Attributes
  /** Cleans a text; `cleanText` when it is left out. */
  readonly clean?: (text: string) => string
}

/** Text that is written from left to right in every language. */
const ltr = { dir: 'ltr', autocapitalize: 'none', spellcheck: 'false' }

const anyText = {
  read: (given: unknown, { maxLength }: TextField) =>
    readText(given, (text) => tooLong(text, maxLength)),
  schema: ({ required, maxLength }: TextField) => {
    return { type: 'string', ...(required && { minLength: 1 }), maxLength }
  },
}

export const fieldTypes: Readonly<Record<Field['type'], FieldType>> = {
  text: {
    ...anyText,
    control: ({ name, maxLength }: TextField) => {
      const plain = name.toLowerCase().replaceAll(/[-_]/g, '')
      const autocomplete = purposes.find(([names]) => names.test(plain))?.[1]
      return {
        ...{ type: 'text', maxlength: String(maxLength) },
        ...(autocomplete !== undefined && { autocomplete }),
      }
    },
  },
  textarea: {
    ...anyText,
    clean: cleanLines,
    control: ({ maxLength }: TextField) => ({ rows: '4', maxlength: String(maxLength) }),
  },
  choice: {
    read: (given, field: ChoiceField) =>
      readText(given, (text) => choiceProblem(text, optionsOf(field))),
    schema: (field: ChoiceField) => ({ type: 'string', enum: optionsOf(field) }),
  },
  choices: {
    read: (given, field: ChoiceField) => readChoices(given, optionsOf(field)),
    schema: (field: ChoiceField) => ({
      type: 'array',
      items: { type: 'string', enum: optionsOf(field) },
      ...(field.required && { minItems: 1 }),
      description: 'One text with commas between the options is taken, too.',
    }),
  },
  number: {
    read: (given, field: NumberField) => readNumber(field, given),
    schema: ({ min: minimum, max: maximum }: NumberField) => ({
      ...{ type: 'number', ...given({ minimum, maximum }) },
      description: `As text it is taken, too, with at most ${numberDigitsMax} digits.`,
    }),
    control: ({ min, max }: NumberField) => ({
      ...{ type: 'number', step: 'any', inputmode: 'decimal', dir: 'ltr' },
      ...given({ min: min?.toString(), max: max?.toString() }),
    }),
  },
  checkbox: {
    read: readCheckbox,
    schema: ({ required }) => ({
      type: 'boolean',
      ...(required && { const: true, description: 'It must be ticked.' }),
    }),
    // What the ticked box sends.
    control: () => ({ type: 'checkbox', value: 'true' }),
  },
  url: {
    read: (given) => readText(given, urlProblem),
    schema: () => ({
      ...{ type: 'string', format: 'uri', pattern: '^[Hh][Tt][Tt][Pp][Ss]?://' },
      ...{ maxLength: urlCharactersMax, examples: ['https://example.com'] },
    }),
    control: () => ({ type: 'url', inputmode: 'url', autocomplete: 'url', ...ltr }),
  },
  phone: {
    read: (given) => readText(given, phoneProblem),
    schema: () => ({
      ...{ type: 'string', pattern: phoneCharacters.source },
      ...{ maxLength: phoneCharactersMax, examples: ['+44 20 7946 0000'] },
    }),
    control: () => ({ type: 'tel', inputmode: 'tel', autocomplete: 'tel', dir: 'ltr' }),
  },
  date: {
    read: (given) => readText(given, dateProblem),
    schema: () => ({ type: 'string', format: 'date', examples: ['2026-11-30'] }),
    control: ({ name }) => ({
      type: 'date',
      ...(/^birth[-_]?(day|date)$/i.test(name) && { autocomplete: 'bday' }),
    }),
  },
}

/** The members that have a value. */
function given<T>(members: Readonly<Record<string, T | undefined>>): Readonly<Record<string, T>> {
  return Object.fromEntries(
    Object.entries(members).filter((it): it is [string, T] => it[1] !== undefined),
  )
}

/** What browsers may fill in (`autocomplete`), by the field's name in small letters, without `_` and `-`. */
const purposes: readonly (readonly [names: RegExp, purpose: string])[] = [
  [/^(company|organi[sz]ation)$/, 'organization'],
  [/^jobtitle$/, 'organization-title'],
  [/^firstname$/, 'given-name'],
  [/^lastname$/, 'family-name'],
  [/^nickname$/, 'nickname'],
  [/^street$/, 'street-address'],
  [/^city$/, 'address-level2'],
  [/^(zip|zipcode|post(al)?code)$/, 'postal-code'],
  [/^country$/, 'country-name'],
]

function readText(given: unknown, problemOf: (text: string) => string | undefined): Read {
  if (typeof given !== 'string') return { problem: 'must be given once, as text.' }
  const problem = problemOf(given)
  return problem === undefined ? { value: given } : { problem }
}

/** Several options, as a list or as one text with commas. They are kept in the order of the field. */
function readChoices(given: unknown, options: readonly string[]): Read {
  const list: readonly unknown[] = typeof given === 'string' ? given.split(',') : [given].flat()
  if (list.length > options.length) {
    return { problem: `must have at most ${options.length} of its options.` }
  }
  const texts = new Set<string>()
  for (const it of list) {
    if (typeof it !== 'string') return { problem: 'must be a list of texts.' }
    const text = cleanText(it)
    const problem = choiceProblem(text, options)
    if (problem !== undefined) return { problem }
    texts.add(text)
  }
  return { value: options.filter((option) => texts.has(option)) }
}

function choiceProblem(text: string, options: readonly string[]): string | undefined {
  return options.includes(text) ? undefined : `must be one of ${firstNames(options)}.`
}

function urlProblem(text: string): string | undefined {
  const isUrl = /^https?:\/\//i.test(text) && URL.canParse(text)
  const problem = isUrl ? undefined : 'must be a web address, such as https://example.com.'
  return tooLong(text, urlCharactersMax) ?? problem
}

function phoneProblem(text: string): string | undefined {
  const isShort = text.length <= phoneCharactersMax && phoneCharacters.test(text)
  const digits = isShort ? text.replace(/\D/g, '').length : 0
  const { min, max } = phoneDigits
  if (digits >= min && digits <= max) return undefined
  return `must be a phone number: ${min} to ${max} digits, and between them only spaces and + ( ) - . /`
}

function tooLong(text: string, charactersMax: number): string | undefined {
  return text.length > charactersMax
    ? `is too long: at most ${charactersMax} characters.`
    : undefined
}

/** Whether it is a day of the calendar. `Date` takes the 30th of February for the 2nd of March. */
function dateProblem(text: string): string | undefined {
  const at = isoDate.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN
  const isDay = !Number.isNaN(at) && new Date(at).toISOString().startsWith(text)
  return isDay ? undefined : 'must be a date that exists, such as 2026-11-30.'
}

function readNumber({ min, max }: NumberField, given: unknown): Read {
  const value = typeof given === 'string' ? decimalIn(given) : given
  if (typeof value !== 'number' || !Number.isFinite(value) || !fitsCell(value)) {
    return { problem: `must be a number of at most ${numberDigitsMax} digits, such as 12 or 3.5.` }
  }
  if (min !== undefined && value < min) return { problem: `must be at least ${min}.` }
  if (max !== undefined && value > max) return { problem: `must be at most ${max}.` }
  // JSON writes -0 as 0.
  return { value: value === 0 ? 0 : value }
}

function decimalIn(text: string): number | undefined {
  if (text.length > numberCharactersMax || !plainDecimal.test(text)) return undefined
  const digits = text.replace(/\D/g, '').replace(/^0+/, '')
  return digits.length > numberDigitsMax ? undefined : Number(text)
}

/** Whether a cell keeps the number. The parser of JSON has rounded a larger one already. */
function fitsCell(value: number): boolean {
  const isSafe = Math.abs(value) <= Number.MAX_SAFE_INTEGER
  return isSafe || Number(value.toPrecision(numberDigitsMax)) === value
}

function readCheckbox(given: unknown): Read {
  if (typeof given === 'boolean') return { value: given }
  if (typeof given === 'number' && (given === 0 || given === 1)) return { value: given === 1 }
  const text = typeof given === 'string' && given.length <= 5 ? given.toLowerCase() : ''
  if (trueTexts.includes(text)) return { value: true }
  if (falseTexts.includes(text)) return { value: false }
  return { problem: 'must be true or false.' }
}
