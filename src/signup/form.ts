import type { Field } from './field.ts'
import { stampField, unseenField } from './filter-fields.ts'
import { parseObject } from './json.ts'
import { cleanText } from './text.ts'

/**
 * The fields that may carry the challenge token: our own, and those that the widgets of Turnstile,
 * hCaptcha, reCAPTCHA and ALTCHA add to a form. The first field present counts. (hCaptcha's widget fills
 * that of reCAPTCHA, too.)
 */
export const tokenFields = [
  'challengeToken',
  'cf-turnstile-response',
  'h-captcha-response',
  'g-recaptcha-response',
  'altcha',
] as const

/** Fields that may have one value only. Several different values are a mistake. */
const singleFields = new Set(['email', 'sheetTab', 'tab', 'source', 'name'])

/** Fields that a page may send twice, for example from two widgets. The first wins: visitors cannot fix it. */
const firstFields = new Set<string>([...tokenFields, 'redirect', unseenField, stampField])

/** The hidden field with the key of a form that was sent before. It is no part of the signup. */
export const keyField = 'idempotencyKey'

const metadataField = /^metadata\[([^[\]]+)\]$/

/**
 * The fields of a signup from those of a form, in the shape that the JSON schema checks.
 *
 * - Empty fields are dropped, and so is `keyField`.
 * - `tags` and `tags[]`, given any number of times, are joined into one comma-separated string.
 * - `metadata[key]` and unknown fields go into metadata, next to the keys of `metadata` as JSON.
 *   All values of one key are kept, in that order: one as it is, several as a list.
 * - `metadata` that is not a JSON object stays a string, for the schema to refuse.
 * - Different values for one of `singleFields`, or for one of the site's own fields, stay a list, for
 *   the checks to refuse. Of a checkbox the last value counts: a hidden field before it may say no.
 *   All values of `choices` are a list.
 */
export function formFields(
  entries: Iterable<readonly [name: string, value: string]>,
  own: readonly Field[] = [],
): Record<string, unknown> {
  const types = new Map(own.map(({ name, type }) => [name, type]))
  const known = new Map<string, string[]>()
  const metadataTexts: string[] = []
  const extra: [key: string, value: string][] = []
  for (const [name, value] of entries) {
    if (value === '' || name === keyField) continue
    const field = name === 'tags[]' ? 'tags' : name
    if (field === 'metadata') metadataTexts.push(value)
    else if (isKnown(field) || types.has(field)) collect(known, field, value)
    else extra.push([metadataField.exec(name)?.[1] ?? name, value])
  }
  const fields: Record<string, unknown> = {}
  for (const [field, values] of known) {
    const type = types.get(field)
    if (type === 'choices') fields[field] = values
    else fields[field] = type === 'checkbox' ? values.at(-1) : knownValue(field, values)
  }
  fields['metadata'] = formMetadata(metadataTexts, extra)
  return fields
}

function isKnown(field: string): boolean {
  return singleFields.has(field) || firstFields.has(field) || field === 'tags'
}

function knownValue(field: string, values: readonly string[]): unknown {
  if (field === 'tags') return values.join(',')
  if (firstFields.has(field)) return values[0]
  const different = [...new Set(values)]
  return different.length === 1 ? different[0] : different
}

function formMetadata(
  texts: readonly string[],
  extra: readonly (readonly [string, string])[],
): unknown {
  const values = new Map<string, unknown[]>()
  for (const text of texts) {
    const object = parseObject(text)
    if (!object) return text
    for (const [key, value] of Object.entries(object)) collect(values, cleanText(key), value)
  }
  for (const [key, value] of extra) collect(values, cleanText(key), value)
  if (values.size === 0) return undefined
  return Object.fromEntries([...values].map(([key, all]) => [key, oneOrList(all)]))
}

function oneOrList(values: readonly unknown[]): unknown {
  return values.length === 1 ? values[0] : values.flat()
}

function collect<T>(lists: Map<string, T[]>, key: string, value: T): void {
  const list = lists.get(key)
  if (list) list.push(value)
  else lists.set(key, [value])
}
