import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compactMetadata, withMembers } from './metadata.ts'
import { hasUnprintable } from './text.ts'

const keys = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`key${i}`, i]))

/** An object whose compact JSON has this many characters. */
const ofLength = (characters: number) => ({ a: 'x'.repeat(characters - '{"a":""}'.length) })

const nested = (json: string): unknown => JSON.parse(`{"a":${json}}`)

test.each([
  [{}, ''],
  [{ plan: 'free', utm: { source: 'x', n: [1, null, true] } }, undefined],
  [nested('"\\r\\n\\t\\u0000\\u001f\\u007f\\u0085"'), '{"a":" "}'],
  [nested('"\\ud800 lone \\udc00"'), '{"a":"  lone  "}'],
  [nested('"\\ud83d\\ude00"'), '{"a":"😀"}'],
  [nested('"back\\\\nslash \\\\u0000 \\"quote\\""'), undefined],
  [nested('"\\"\\n\\""'), '{"a":"\\" \\""}'],
  [JSON.parse('{"__proto__":{"x":1},"constructor":2,"toJSON":3}'), undefined],
  [keys(50), undefined],
  [ofLength(10_000), undefined],
])('case %#: metadata is stored as compact JSON with nothing unprintable', (value, text) => {
  expect(compactMetadata(value)).toEqual({ text: text ?? JSON.stringify(value) })
})

test.each([
  [null, 'object'],
  [[], 'object'],
  [keys(51), 'at most 50'],
  [ofLength(10_001), 'at most 10000'],
  [nested('1e999'), 'number'],
  [JSON.parse('{"a\\u0000b":1,"a b":2}'), 'two keys'],
  [nested('{"a\\u0000b":1,"a\\u0001b":2}'), 'two keys'],
])('case %#: metadata that cannot be stored completely is refused', (value, reason) => {
  const refused = compactMetadata(value)
  expect('problem' in refused && refused.problem).toContain(reason)
})

test('length is counted after cleaning', () => {
  const text = `{"a":"${' x'.repeat(4_996)}"}`
  expect(compactMetadata({ a: '\u0000\nx'.repeat(4_996) })).toEqual({ text })
})

test('JSON that is six times too long is refused, even if little of it is left after cleaning', () => {
  const lineBreaks = (count: number) => ({ a: '\n'.repeat(count) })
  expect(JSON.stringify(lineBreaks(29_996))).toHaveLength(60_000)
  expect(compactMetadata(lineBreaks(29_996))).toEqual({ text: '{"a":" "}' })
  expect(compactMetadata(lineBreaks(29_997))).toEqual({
    problem: 'Metadata is too long: at most 10000 characters as JSON.',
  })
})

test.each(['[', '{"a":'])('half a million nested %j are refused without a crash', (open) => {
  const close = open === '[' ? ']' : '}'
  const depth = 500_000 / open.length
  const value: unknown = JSON.parse(`{"a":${open.repeat(depth)}0${close.repeat(depth)}}`)
  expect(compactMetadata(value)).toHaveProperty('problem')
})

test('a hundred levels are accepted, and one more is refused', () => {
  const nested = (levels: number) => `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`
  expect(compactMetadata(JSON.parse(nested(100)))).toEqual({ text: nested(100) })
  expect(compactMetadata(JSON.parse(nested(101)))).toEqual({
    problem: 'Metadata is nested too deeply: at most 100 levels.',
  })
})

test('stored metadata is printable, and parsing it again does not change it', () => {
  const anyText = fc
    .array(fc.oneof(fc.nat(0xffff), fc.constantFrom(0, 10, 34, 92, 110, 0x7f, 0xd83d, 0xde00)))
    .map((units) => String.fromCharCode(...units))
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      anyText,
      fc.double(),
      fc.constant(null),
      fc.array(tie('value')),
      fc.dictionary(anyText, tie('value')),
    ),
  }))
  fc.assert(
    fc.property(fc.dictionary(anyText, value, { noNullPrototype: true }), (metadata) => {
      const stored = compactMetadata(metadata)
      if ('problem' in stored || stored.text === '') return
      expect(hasUnprintable(stored.text)).toBe(false)
      expect(compactMetadata(JSON.parse(stored.text))).toEqual(stored)
    }),
  )
})

test('members are added behind those that are there, and a key that is taken is renamed', () => {
  expect(withMembers('', [])).toBe('')
  expect(withMembers('{"a":1}', [])).toBe('{"a":1}')
  expect(withMembers('', [['size', 'L']])).toBe('{"size":"L"}')
  expect(
    withMembers('{"a":1}', [
      ['size', 'L'],
      ['ok', true],
    ]),
  ).toBe('{"a":1,"size":"L","ok":true}')
  const taken = '{"a":1,"a (signup)":2}'
  expect(
    withMembers(taken, [
      ['a', 3],
      ['a', 4],
    ]),
  ).toBe('{"a":1,"a (signup)":2,"a (signup) (signup)":3,"a (signup) (signup) (signup)":4}')
})

test('metadata of very many small values is refused before it is written out', () => {
  const many = { a: Array.from({ length: 30_001 }, () => 1) }
  expect(compactMetadata(many)).toEqual({
    problem: 'Metadata is too long: at most 10000 characters as JSON.',
  })
})
