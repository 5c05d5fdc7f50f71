import { isRecord } from '../signup/json.ts'
import type { Key } from './kind.ts'
import { describeGiven } from './problem.ts'

/** The path in the file of sites as JavaScript writes it, such as `sites.launch.fields[2].min`. */
export function pathText(path: readonly Key[]): string {
  return path
    .map((key, at) => {
      if (typeof key === 'number') return `[${key}]`
      if (!/^[A-Za-z$][\w$-]{0,59}$/.test(key)) return `[${describeGiven('', key)}]`
      return at === 0 ? key : `.${key}`
    })
    .join('')
}

export function valueAt(json: unknown, path: readonly Key[]): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, key)
        ? (value as Record<Key, unknown>)[key]
        : undefined,
    json,
  )
}

/** Describes what stands there for the operator. */
export function givenAt(json: unknown, path: readonly Key[]): string {
  const value = valueAt(json, path)
  if (value === undefined) return 'nothing'
  // A secret may stand where the name of its variable belongs. A URL of a webhook is one.
  const mayBeSecret = ['secretKeyVariable', 'secretVariable', 'chatVariable', 'url'].includes(
    String(path.at(-1)),
  )
  if (typeof value === 'string')
    return describeGiven(mayBeSecret ? 'CHALLENGE_SECRET_KEY' : '', value)
  if (Array.isArray(value)) return 'a list'
  return isRecord(value) ? 'an object' : JSON.stringify(value)
}
