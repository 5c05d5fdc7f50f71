import { badRequest, type FieldViolation } from './api-error.ts'

/**
 * Describes a kind of JSON value and reads it as Google's front end does: it refuses unknown names and
 * wrong types with their paths, takes null for absent, and takes numbers in strings. Descriptions have the
 * types of `@googleapis/sheets`, so that no field can be invented.
 */
export interface Kind<T> {
  /** Adds to `violations` instead of throwing, because Google reports all of them at once. */
  read(value: unknown, at: string, violations: FieldViolation[]): T | undefined
  /** The kind of a field, to check field masks; `undefined` for an unknown field. */
  field(name: string): Kind<unknown> | undefined
}

const leaf = { field: () => undefined }

function scalar<T>(type: string, parse: (value: unknown) => T | undefined): Kind<T> {
  return {
    ...leaf,
    read(value, at, violations) {
      const parsed = parse(value)
      if (parsed === undefined) violations.push(invalidValue(at, type, value))
      return parsed
    },
  }
}

function invalidValue(at: string, type: string, value: unknown): FieldViolation {
  const shown = typeof value === 'object' ? '' : `, ${JSON.stringify(value)}`
  return { field: at, description: `Invalid value at '${at}' (${type})${shown}` }
}

function parseNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return value
  if (typeof value === 'string' && /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(value)) return Number(value)
  return undefined
}

export const text: Kind<string> = scalar('TYPE_STRING', (value) =>
  typeof value === 'string' ? value : undefined,
)
export const bool: Kind<boolean> = scalar('TYPE_BOOL', (value) =>
  typeof value === 'boolean' ? value : undefined,
)
export const double: Kind<number> = scalar('TYPE_DOUBLE', parseNumber)
export const int32: Kind<number> = scalar('TYPE_INT32', (value) => {
  const number = parseNumber(value)
  return number !== undefined && (number | 0) === number ? number : undefined
})

/** Any value: the emulator does not look into it. */
export function opaque<T>(): Kind<T> {
  const kind: Kind<T> = { read: (value) => value as T, field: () => kind }
  return kind
}

export function oneOf(type: string, ...names: readonly string[]): Kind<string> {
  return scalar(`type.googleapis.com/google.apps.sheets.v4.${type}`, (value) =>
    typeof value === 'string' && names.includes(value) ? value : undefined,
  )
}

export function list<T>(element: Kind<T>): Kind<T[]> {
  return {
    read(value, at, violations) {
      const items: unknown[] = Array.isArray(value) ? value : [value]
      const elements: T[] = []
      items.forEach((item, index) => {
        const parsed = element.read(item, `${at}[${index}]`, violations)
        if (parsed !== undefined) elements.push(parsed)
      })
      return elements
    },
    field: (name) => element.field(name),
  }
}

/** Some fields of Google's message. The others are not emulated. */
export type Fields<T> = { readonly [K in keyof T]?: Kind<NonNullable<T[K]>> }

/** A message. With `union`, the name of a oneof, at most one of its fields may be set. */
export function message<T extends object>(
  type: string,
  fields: Fields<T>,
  union?: string,
): Kind<T> {
  const kinds = new Map<string, Kind<unknown>>(Object.entries(fields))
  return {
    read(value, at, violations) {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) {
        violations.push(
          invalidValue(at, `type.googleapis.com/google.apps.sheets.v4.${type}`, value),
        )
        return undefined
      }
      const parsed: Record<string, unknown> = {}
      for (const [name, field] of Object.entries(value)) {
        const kind = kinds.get(name)
        if (!kind) violations.push(unknownName(name, at))
        else if (field === null) continue
        else if (union !== undefined && Object.keys(parsed).length > 0) {
          violations.push(oneofSet(union, name, at))
        } else {
          const inner = kind.read(field, join(at, snakeCase(name)), violations)
          if (inner !== undefined) parsed[name] = inner
        }
      }
      return parsed as T
    },
    field: (name) => kinds.get(name),
  }
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

function join(at: string, name: string): string {
  return at === '' ? name : `${at}.${name}`
}

function unknownName(name: string, at: string): FieldViolation {
  const where = at === '' ? '' : ` at '${at}'`
  const description = `Invalid JSON payload received. Unknown name "${name}"${where}: Cannot find field.`
  return at === '' ? { description } : { field: at, description }
}

function oneofSet(union: string, name: string, at: string): FieldViolation {
  const description = `Invalid value at '${at}' (oneof), oneof field '${union}' is already set. Cannot set '${name}'`
  return { field: at, description }
}

/** Reads the body of a request. Throws the 400 that names all violations. */
export function readMessage<T extends object>(kind: Kind<T>, body: unknown, at = ''): T {
  const violations: FieldViolation[] = []
  const parsed = kind.read(body, at, violations)
  if (violations.length > 0 || parsed === undefined) throw badRequest(violations)
  return parsed
}
