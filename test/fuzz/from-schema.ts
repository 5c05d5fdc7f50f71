import fc from 'fast-check'

import { phoneCharacters } from '../../src/signup/field-types.ts'

/** A part of every address and key that is sent. It may be in rows, and never in a log. */
export const marker = 'fuzzmark'

/** The part of JSON Schema that the document uses for requests. */
export interface RequestSchema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly pattern?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly anyOf?: readonly RequestSchema[]
  readonly items?: RequestSchema
  readonly minItems?: number
  readonly maxItems?: number
  readonly properties?: Readonly<Record<string, RequestSchema>>
  readonly required?: readonly string[]
}

const nasty = [
  '',
  ' ',
  '\0',
  '\ud800',
  '\udc00\ud800',
  '\u202e\u0085\u2028',
  '\ufeff',
  '\r\nSet-Cookie: a=b',
  '=HYPERLINK("http://a.example","b")',
  '"; --\t<script>alert(1)</script>',
  '__proto__',
  'constructor',
  '%00%ff%',
  '👩‍👩‍👧‍👦'.repeat(9),
  'a'.repeat(201),
  'é'.repeat(3_000),
]

const nastyText = fc.oneof(
  { weight: 3, arbitrary: fc.string({ unit: 'grapheme', maxLength: 40 }) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
  { weight: 2, arbitrary: fc.constantFrom(...nasty) },
)

const days = fc
  .date({ min: new Date('1900-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
  .map((at) => at.toISOString().slice(0, 10))

const phonePattern = phoneCharacters.source

const address = fc.nat().map((number) => `${marker}-${number}-@people.example.com`)

/** Draws values that fit the schema. `resolve` follows references. */
export function fitting(
  schema: RequestSchema,
  resolve: (schema: RequestSchema) => RequestSchema,
): fc.Arbitrary<unknown> {
  const { anyOf, type, format, pattern, items, properties, required, ...rest } = resolve(schema)
  const { minLength = 0, maxLength = 30, minItems = 0, maxItems = 6, minimum, maximum } = rest
  if (rest.enum) return fc.constantFrom(...rest.enum)
  if (rest.const !== undefined) return fc.constant(rest.const)
  if (anyOf) return fc.oneof(...anyOf.map((it) => fitting(it, resolve)))
  switch (typeof type === 'string' ? type : (type?.[0] ?? (properties && 'object'))) {
    case 'string': {
      if (format === 'email') return address
      if (format === 'uuid') return fc.uuid()
      if (format === 'uri') return fc.webUrl({ size: 'small' })
      if (format === 'date') return days
      const length = { minLength, maxLength: Math.min(maxLength, 30) }
      if (pattern === phonePattern) return fc.stringMatching(/^\+[1-9]\d{4,14}$/)
      if (pattern !== undefined) return fc.string({ ...length, unit: 'grapheme-ascii' })
      return fc.string({ ...length, unit: 'grapheme' })
    }
    case 'array': {
      const length = { minLength: minItems, maxLength: Math.min(maxItems, 6) }
      return fc.array(items ? fitting(items, resolve) : fc.jsonValue(), length)
    }
    case 'object': {
      if (!properties) return fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 5 })
      const fields = Object.entries(properties).map(([name, it]) => [name, fitting(it, resolve)])
      const model = Object.fromEntries(fields) as Record<string, fc.Arbitrary<unknown>>
      return fc.record(model, { requiredKeys: [...(required ?? [])], noNullPrototype: true })
    }
    case 'number':
      return fc.integer({ min: minimum ?? -1e9, max: maximum ?? 1e9 })
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    default:
      throw new Error(`no values for ${JSON.stringify(schema)}`)
  }
}

/** Replaces a part of the value by something that need not fit the schema. */
export function mutated(arbitrary: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const other = fc.oneof(nastyText, fc.jsonValue({ maxDepth: 3 }))
  return fc.tuple(arbitrary, other, fc.nat()).map(([value, other, place]) => {
    if (typeof value !== 'object' || value === null) return other
    const names = [...Object.keys(value), '__proto__', 'x']
    const entries = Object.entries(value)
    const fields = [...entries, [names[place % names.length] ?? 'x', other] as const]
    return Object.fromEntries(fields)
  })
}
