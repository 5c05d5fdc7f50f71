import type { z } from 'zod'
import { suggest } from '../../signup/suggest.ts'
import { fieldTypes } from './field-schema.ts'
import { describeGiven, type SettingProblem } from '../problem.ts'
import type { SettingRefusal } from '../refusal.ts'
import type { RefusalParams } from '../schema-parts.ts'
import { knownKeys } from './site-schema.ts'

type Issue = z.core.$ZodIssue
type Path = readonly PropertyKey[]

/**
 * Turns what zod found in the file into problems of the settings, each with its path in the JSON.
 *
 * @param file the whole file, to tell what was given
 * @param root the path of what zod was given
 */
export function problemsOf(
  issues: readonly Issue[],
  file: unknown,
  root: Path = [],
): readonly SettingProblem[] {
  return issues.flatMap((issue) => {
    const path = [...root, ...issue.path]
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => unknownKey([...path, key], file))
    }
    if (issue.code === 'invalid_union') {
      // A text, or an object of texts by language: tell what is wrong with the one that it is.
      const isObject = typeof valueAt(file, path) === 'object'
      const ofText = isObject ? issue.errors.at(-1) : issue.errors[0]
      return ofText ? problemsOf(ofText, file, path) : notAType(path, file)
    }
    return problemAt(path, file, refusalOf(issue, valueAt(file, path)))
  })
}

/** A problem of the value at this path. */
export function problemAt(path: Path, file: unknown, refusal: SettingRefusal): SettingProblem {
  const { problem, expected, hint } = refusal
  const value = valueAt(file, path)
  // Somebody may have put the secret key itself there.
  const mayBeSecret = path.at(-1) === 'secretKeyVariable' && !/^[A-Z_]+$/.test(String(value))
  const told = mayBeSecret && value !== undefined ? 'a value that is not shown' : given(value)
  return { setting: pathText(path), problem, given: told, expected, hint }
}

/** The path as JavaScript writes it, such as `sites.launch.fields[2].min`. */
export function pathText(path: Path): string {
  return path
    .map((key, at) => {
      if (typeof key === 'number') return `[${key}]`
      const text = String(key)
      if (!/^[A-Za-z$][\w$-]{0,59}$/.test(text)) return `[${describeGiven('', text)}]`
      return at === 0 ? text : `.${text}`
    })
    .join('')
}

function refusalOf(issue: Issue, value: unknown): SettingRefusal {
  switch (issue.code) {
    case 'custom':
      // Only `note` makes them.
      return issue.params as RefusalParams
    case 'invalid_type': {
      const what = kinds[issue.expected] ?? issue.expected
      const problem = value === undefined ? 'is missing.' : `is not ${what}.`
      return { problem, expected: what, hint: 'docs/sites.md has an example.' }
    }
    case 'invalid_value': {
      const expected = `one of ${issue.values.map(String).join(', ')}`
      return {
        problem: 'is none of the words it may be.',
        expected,
        hint: suggestion(value, issue),
      }
    }
    case 'too_small':
    case 'too_big':
      return outOfRange(issue)
    default:
      return { problem: 'cannot be used.', expected: 'another value', hint: issue.message }
  }
}

function suggestion(value: unknown, { values }: z.core.$ZodIssueInvalidValue): string {
  const meant = typeof value === 'string' ? suggest(value, values.map(String)) : undefined
  return meant === undefined ? 'Write one of them.' : `Did you mean ${meant}?`
}

function outOfRange(issue: z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig): SettingRefusal {
  const isSmall = issue.code === 'too_small'
  const bound = (isSmall ? issue.minimum : issue.maximum).toLocaleString('en-US')
  const entries = bound === '1' ? ' entry' : ' entries'
  const unit = issue.origin === 'array' ? entries : ''
  const problem = isSmall && unit !== '' && bound === '1' ? 'is empty.' : 'is out of range.'
  const expected = `at ${isSmall ? 'least' : 'most'} ${bound}${unit}`
  const hint = unit === '' ? 'Correct it.' : 'Correct it, or leave the key out.'
  return { problem, expected, hint }
}

const kinds: Readonly<Record<string, string>> = {
  string: 'a text between quotes',
  number: 'a number, without quotes',
  int: 'a whole number, without quotes',
  boolean: 'true or false, without quotes',
  array: 'a list: [ … ]',
  object: 'an object: { … }',
  record: 'an object: { … }',
}

const looksSecret = /secret|private|password|token|credential|api_?key|database/i

function unknownKey(path: Path, file: unknown): SettingProblem {
  const key = String(path.at(-1))
  const keys = keysAt(path.slice(0, -1), file)
  const suggested = suggest(key, keys)
  const isSecret = looksSecret.test(key) && suggested === undefined
  return {
    setting: pathText(path),
    problem: isSecret
      ? 'looks like a secret, and this file holds none.'
      : 'is no key of this file.',
    given: 'a value that is not shown',
    expected: suggested === undefined ? `one of ${keys.join(', ')}` : `did you mean ${suggested}?`,
    hint: isSecret
      ? 'Put secrets into variables of the environment; docs/sites.md says which.'
      : 'Rename or remove it.',
  }
}

/** The keys that the object at this path may have. */
function keysAt(path: Path, file: unknown): readonly string[] {
  const [, site, part] = path
  if (site === undefined) return knownKeys['']
  if (part === undefined) return knownKeys.site
  if (part === 'challenge' || part === 'page') return knownKeys[part]
  const type = valueAt(file, [...path, 'type'])
  const shapes: Readonly<Record<string, { readonly shape: object } | undefined>> = fieldTypes
  return Object.keys(
    ((typeof type === 'string' ? shapes[type] : undefined) ?? fieldTypes.text).shape,
  )
}

function notAType(path: Path, file: unknown): SettingProblem {
  const types = Object.keys(fieldTypes)
  const value = valueAt(file, path)
  const meant = typeof value === 'string' ? suggest(value, types) : undefined
  return problemAt(path, file, {
    problem: 'is not a type of field.',
    expected: `one of ${types.join(', ')}`,
    hint:
      meant === undefined
        ? 'Write one of them, or leave the type out for text.'
        : `Did you mean ${meant}?`,
  })
}

function valueAt(file: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, key)
        ? (value as Record<PropertyKey, unknown>)[key]
        : undefined,
    file,
  )
}

function given(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (typeof value === 'string') return describeGiven('', value)
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' && value !== null ? 'an object' : JSON.stringify(value)
}
