import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { z } from 'zod'
import type { ParseContext } from './parse.ts'
import { parseForm, parseSignup } from './parse.ts'
import { toRow } from './row.ts'
import { bulkItemSchema, compiledOf, formSchema, signupSchema } from './schema.ts'
import type { SignupId } from './signup.ts'
import { hasUnprintable } from './text.ts'

const api: ParseContext = { defaultTab: 'Sheet1', source: 'api' }
const email = 'name@example.com'

/** Text of any UTF-16 units, lone surrogates and control characters among them. */
const anyText = fc
  .array(fc.oneof(fc.nat(0xff), fc.nat(0xffff)), { maxLength: 30 })
  .map((units) => String.fromCharCode(...units))

const anyField = fc.oneof(fc.jsonValue(), anyText, fc.array(anyText), fc.anything())
const anySignup = fc.record(
  {
    email: fc.oneof(fc.constant(email), fc.emailAddress(), anyText),
    sheetTab: fc.oneof(anyText, fc.jsonValue()),
    source: anyText,
    name: anyText,
    tags: fc.oneof(anyText, fc.array(anyText)),
    metadata: fc.dictionary(anyText, fc.oneof(anyText, fc.jsonValue())),
  },
  { requiredKeys: ['email'] },
)

test('parsing never throws', () => {
  const fields = fc.constantFrom(...Object.keys(formSchema.shape), '__proto__')
  const input = fc.oneof(fc.jsonValue(), fc.anything(), fc.dictionary(fields, anyField))
  fc.assert(
    fc.property(input, fc.constantFrom('api', 'bulk'), (value, source) => {
      const parsed = parseSignup(value, { ...api, source })
      expect(parsed.ok || parsed.problems.length > 0).toBe(true)
    }),
  )
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.oneof(fields, anyText), anyText)), (entries) => {
      expect(parseForm(entries, api)).toHaveProperty('ok')
    }),
  )
})

test.each(Object.entries<z.ZodType>({ signupSchema, bulkItemSchema, formSchema }))(
  'the compiled %s says what zod says without it',
  (_, schema) => {
    const names = fc.constantFrom(...Object.keys(formSchema.shape), '__proto__')
    const input = fc.oneof(anySignup, fc.anything(), fc.dictionary(names, anyField))
    fc.assert(
      fc.property(input, (value) => {
        expect(compiledOf(schema).safeParse(value)).toEqual(schema.safeParse(value))
      }),
      { numRuns: 2_000 },
    )
  },
)

test('accepted signups have printable cells, and parsing them again does not change them', () => {
  let acceptedCount = 0
  fc.assert(
    fc.property(anySignup, (input) => {
      const parsed = parseSignup(input, api)
      if (!parsed.ok) return
      acceptedCount++
      const { value } = parsed
      const id = '019a9b1e-0000-7000-8000-000000000000' as SignupId
      const cells = toRow({ ...value, id, receivedAt: 0 }, value.sheetTab)
      expect(cells.filter((cell) => hasUnprintable(String(cell)))).toEqual([])
      const { redirect: _, message: __, stamp: ___, fields: ____, ...fields } = value
      const metadata: unknown = value.metadata === '' ? '' : JSON.parse(value.metadata)
      expect(parseSignup({ ...fields, metadata }, api)).toEqual({ ok: true, value })
    }),
    { numRuns: 500 },
  )
  expect(acceptedCount).toBeGreaterThan(0)
})

test.each([
  ['email', 'a'.repeat(1_048_576)],
  ['email', `a@${'a.'.repeat(524_288)}`],
  ['email', `a@${'ü'.repeat(1_048_576)}`],
  ['email', `a@${'a-'.repeat(524_288)}`],
  ['email', '@'.repeat(1_048_576)],
  ['sheetTab', '\u0000 '.repeat(524_288)],
  ['name', 'a\u0000 '.repeat(349_525)],
  ['source', '\ud800x'.repeat(524_288)],
  ['tags', 'x,'.repeat(524_288)],
  ['metadata', { a: '\\"\n'.repeat(349_525) }],
])('case %#: a mebibyte in %s is refused as too long', (field, value) => {
  const parsed = parseSignup({ email, [field]: value }, api)
  expect(parsed.ok ? [] : parsed.problems.map((problem) => problem.field)).toEqual([field])
})

test('a form may have unknown fields of any name', () => {
  const known = new Set([...Object.keys(formSchema.shape), 'tags[]'])
  const fieldName = anyText.filter((name) => !known.has(name))
  fc.assert(
    fc.property(fc.array(fc.tuple(fieldName, fc.string()), { maxLength: 50 }), (unknown) => {
      expect(parseForm([['email', email], ...unknown], api)).toHaveProperty('ok', true)
    }),
  )
})
