import {
  type Field,
  fieldsText,
  type FieldValues,
  headingOf,
  noFields,
  type NumberField,
  optionsOf,
} from './field.ts'
import { cleanLines, cleanText, firstNames } from './text.ts'
import type { ProblemField } from './wire.ts'

/** In UTF-16 units. The address goes into one cell, and people follow it. */
export const urlCharactersMax = 2_000
/** Room for fifteen digits, each with a sign and a space around it. */
export const phoneCharactersMax = 50
const phoneDigits = { min: 5, max: 15 }
/** A double, and a cell of a spreadsheet, keeps so many digits. */
export const numberDigitsMax = 15
const numberCharactersMax = 40
/** Without columns, all of them go into Metadata. A cell of Google Sheets holds 50,000. */
const allCharactersMax = 20_000

const plainDecimal = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/
export const phoneCharacters = /^[\d+()\-./ ]+$/
/** There is no year 0, and controls for dates cannot hold one. */
const isoDate = /^(?!0000)\d{4}-\d\d-\d\d$/
const trueTexts = ['on', 'true', '1', 'yes']
const falseTexts = ['off', 'false', '0', 'no']

type Value = FieldValues[string]
interface Read {
  readonly value?: Value | undefined
  readonly problem?: string
}

/** How strictly values are read. */
export interface FieldRules {
  /** A form sends nothing for a checkbox that is not ticked. */
  readonly isForm: boolean
  /** Whether a required field must have a value. */
  readonly needsRequired: boolean
}

/** One mistake in a signup. The field is `tags[3]` for an item of a list, and empty for the whole signup. */
export type FieldProblem = Omit<ProblemField, 'index'>

/**
 * The values of a site's own fields, and everything that is wrong with them. Numbers and checkboxes may
 * come as texts, as forms send them. Null, '' and spaces count as absent.
 */
export function readFields(
  given: Readonly<Record<string, unknown>>,
  fields: readonly Field[],
  { isForm, needsRequired }: FieldRules,
): { readonly values: FieldValues; readonly problems: readonly FieldProblem[] } {
  const values: Record<string, Value> = {}
  const problems: FieldProblem[] = []
  for (const field of fields) {
    const { name } = field
    const raw = Object.hasOwn(given, name) ? given[name] : undefined
    const clean = field.type === 'textarea' ? cleanLines : cleanText
    const cleaned = typeof raw === 'string' ? clean(raw) : raw
    const isEmptyList = field.type === 'choices' && [cleaned].flat().length === 0
    const isAbsent = cleaned === undefined || cleaned === null || cleaned === '' || isEmptyList
    const absent = field.type === 'checkbox' && isForm ? false : undefined
    const read: Read = isAbsent ? { value: absent } : readValue(field, cleaned)
    const isMissing = read.value === undefined || read.value === false
    const problem =
      read.problem ?? (isMissing && field.required && needsRequired ? missing(field) : undefined)
    if (problem !== undefined)
      problems.push({ field: name, message: `${headingOf(field)} ${problem}` })
    else if (read.value !== undefined) values[name] = read.value
  }
  if (fieldsText(values).length > allCharactersMax) {
    const message = `All fields together are too long: at most ${allCharactersMax} characters as JSON.`
    problems.push({ field: '', message })
  }
  return { values: Object.keys(values).length === 0 ? noFields : values, problems }
}

function missing({ type }: Field): string {
  return type === 'checkbox' ? 'is needed: tick it, or send true.' : 'is missing: fill it in.'
}

/** The value that stands for what was given, cleaned; or the end of a sentence about the field. */
function readValue(field: Field, given: unknown): Read {
  switch (field.type) {
    case 'checkbox':
      return readCheckbox(given)
    case 'number':
      return readNumber(field, given)
    case 'text':
    case 'textarea':
      return readText(given, (text) => tooLong(text, field.maxLength))
    case 'choice':
      return readText(given, (text) => choiceProblem(text, optionsOf(field)))
    case 'choices':
      return readChoices(given, optionsOf(field))
    case 'url':
      return readText(given, urlProblem)
    case 'phone':
      return readText(given, phoneProblem)
    case 'date':
      return readText(given, (text) =>
        isDay(text) ? undefined : 'must be a date that exists, such as 2026-11-30.',
      )
  }
}

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
  const long = tooLong(text, urlCharactersMax)
  if (long !== undefined) return long
  const isUrl = /^https?:\/\//i.test(text) && URL.canParse(text)
  return isUrl ? undefined : 'must be a web address, such as https://example.com.'
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
function isDay(text: string): boolean {
  if (!isoDate.test(text)) return false
  const at = Date.parse(`${text}T00:00:00Z`)
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text)
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
