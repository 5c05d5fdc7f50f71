import type { z } from 'zod'
import { isRecord } from '../../signup/json.ts'
import { suggest } from '../../signup/suggest.ts'
import { noneOf } from '../kinds.ts'
import { describeGiven, type SettingProblem } from '../problem.ts'
import type { SettingRefusal } from '../refusal.ts'
import { typesWith } from './field-schema.ts'

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
      // `closedObject` lists the known keys in the message.
      const known = issue.message.split(' ')
      return issue.keys.map((key) => unknownKey([...path, key], known))
    }
    if (issue.code === 'invalid_union' && issue.errors.length > 0) {
      // A text or an object of texts by language; * alone or a list of origins.
      const isObject = typeof valueAt(file, path) === 'object'
      return problemsOf(issue.errors.at(isObject ? -1 : 0) ?? [], file, path)
    }
    return problemAt(path, file, refusalOf(issue, path, valueAt(file, path)))
  })
}

export function problemAt(path: Path, file: unknown, refusal: SettingRefusal): SettingProblem {
  const given = givenText(valueAt(file, path), path.at(-1))
  return { setting: pathText(path), given, ...refusal }
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

function refusalOf(issue: Issue, path: Path, value: unknown): SettingRefusal {
  switch (issue.code) {
    case 'custom':
      // Only `note` makes them.
      return issue.params as unknown as SettingRefusal
    case 'invalid_type': {
      const what = kinds[issue.expected] ?? issue.expected
      const problem = value === undefined ? 'is missing.' : `is not ${what}.`
      const page = path[2] === 'fields' ? 'fields' : 'sites'
      return { problem, expected: what, hint: `docs/${page}.md has an example.` }
    }
    case 'invalid_value':
      return noneOf(issue.values, value)
    case 'invalid_union':
      return noneOf('options' in issue ? (issue.options ?? []) : [], value)
    case 'too_small':
      return outOfRange('at least', issue.minimum, issue.origin)
    case 'too_big':
      return outOfRange('at most', issue.maximum, issue.origin)
    default:
      return { problem: 'cannot be used.', expected: 'another value', hint: issue.message }
  }
}

function outOfRange(side: string, bound: number | bigint, origin: string): SettingRefusal {
  const unit = origin === 'array' ? ' entries' : ''
  const expected = `${side} ${bound.toLocaleString('en-US')}${unit}`
  return { problem: 'is out of range.', expected, hint: 'Correct it.' }
}

const kinds: Readonly<Record<string, string>> = {
  string: 'a text between quotes',
  number: 'a number, without quotes',
  int: 'a whole number, without quotes',
  boolean: 'true or false, without quotes',
  array: 'a list: [ … ]',
  tuple: 'a list: [ … ]',
  object: 'an object: { … }',
  record: 'an object: { … }',
}

function unknownKey(path: Path, known: readonly string[]): SettingProblem {
  const key = String(path.at(-1))
  const meant = suggest(key, known)
  const types = path[2] === 'fields' && path.length === 5 ? typesWith(key) : []
  return {
    setting: pathText(path),
    problem:
      types.length === 0 ? 'is no key of this file.' : `is for "type": ${types.join(' or ')}.`,
    given: 'a value that is not shown',
    expected: meant === undefined ? `one of ${known.join(', ')}` : `did you mean ${meant}?`,
    hint: 'Rename or remove it. Secrets belong into variables of the environment (docs/sites.md).',
  }
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

function givenText(value: unknown, key: PropertyKey | undefined): string {
  if (value === undefined) return 'nothing'
  // A secret may stand where the name of its variable belongs. A URL of a webhook is one.
  const mayBeSecret = ['secretKeyVariable', 'secretVariable', 'url'].includes(String(key))
  if (typeof value === 'string')
    return describeGiven(mayBeSecret ? 'CHALLENGE_SECRET_KEY' : '', value)
  if (Array.isArray(value)) return 'a list'
  return isRecord(value) ? 'an object' : JSON.stringify(value)
}
