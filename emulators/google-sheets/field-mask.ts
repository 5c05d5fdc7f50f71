import { badRequest } from './api-error.ts'

/** The fields that a mask selects below one point: all or the named ones. */
export type FieldMask = 'all' | ReadonlyMap<string, FieldMask>
type OpenMask = 'all' | Map<string, OpenMask>

/**
 * Parses `a,b(c,d/e),f.g,*`. Dots and slashes both separate levels; `*` is every field.
 * Throws Google's 400 when the text is malformed.
 */
export function parseFieldMask(text: string): FieldMask {
  const tokens = text.match(/[A-Za-z0-9_]+|[*(),./]|\S/g) ?? []
  let position = 0

  function readList(closing: string | undefined): OpenMask {
    let mask: OpenMask = new Map()
    for (;;) {
      mask = merge(mask, readPath())
      const separator = tokens[position++]
      if (separator === closing) return mask
      if (separator !== ',') throw malformedMask(text)
    }
  }

  function readPath(): OpenMask {
    const name = tokens[position++]
    if (name === '*') return 'all'
    if (name === undefined || !/^\w+$/.test(name)) throw malformedMask(text)
    const next = tokens[position]
    let below: OpenMask = 'all'
    if (next === '.' || next === '/') {
      position += 1
      below = readPath()
    } else if (next === '(') {
      position += 1
      below = readList(')')
    }
    return new Map([[camelCase(name), below]])
  }

  return readList(undefined)
}

function malformedMask(text: string): Error {
  const description = `Error expanding 'fields' parameter. Cannot find matching fields for path '${text}'.`
  return badRequest([{ field: text, description }], 'Request contains an invalid argument.')
}

function camelCase(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

function merge(left: OpenMask, right: OpenMask): OpenMask {
  if (left === 'all' || right === 'all') return 'all'
  for (const [name, below] of right) {
    const before = left.get(name)
    left.set(name, before === undefined ? below : merge(before, below))
  }
  return left
}

/** The part of the mask below a field: `undefined` when the field is not selected at all. */
export function below(mask: FieldMask, ...path: readonly string[]): FieldMask | undefined {
  let at: FieldMask | undefined = mask
  for (const name of path) {
    if (at === undefined || at === 'all') return at
    at = at.get(name)
  }
  return at
}

/** A copy of an answer with the selected fields only. Lists are filtered element by element. */
export function selectFields(value: unknown, mask: FieldMask): unknown {
  if (mask === 'all') return value
  if (Array.isArray(value)) return value.map((element) => selectFields(element, mask))
  if (typeof value !== 'object' || value === null) return value
  const selected: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(value)) {
    const inner = mask.get(name)
    if (inner === undefined) continue
    const kept = selectFields(field, inner)
    if (!isHollow(kept, field)) selected[name] = kept
  }
  return selected
}

/** Whether a message is left out because nothing of it was selected. */
function isHollow(kept: unknown, original: unknown): boolean {
  if (kept === original || typeof kept !== 'object' || kept === null) return false
  return !Array.isArray(kept) && Object.keys(kept).length === 0
}

/** `target` after an update: masked fields are those of `source`, and are cleared when it lacks them. */
export function mergeFields<T extends object>(target: T, source: T, mask: FieldMask): T {
  return mergeObjects(target, source, mask) as T
}

function mergeObjects(target: object, source: object, mask: FieldMask): object {
  if (mask === 'all') return source
  const merged = new Map<string, unknown>(Object.entries(target))
  const given = new Map<string, unknown>(Object.entries(source))
  for (const [name, inner] of mask) {
    const value = given.get(name)
    if (inner === 'all') merged.set(name, value)
    else merged.set(name, mergeObjects(asObject(merged.get(name)), asObject(value), inner))
    if (merged.get(name) === undefined) merged.delete(name)
  }
  return Object.fromEntries(merged)
}

function asObject(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {}
}
