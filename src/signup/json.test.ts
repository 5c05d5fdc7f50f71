import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseJson, parseObject } from './json.ts'

const problemOf = (text: string) => {
  const parsed = parseJson(text)
  return 'problem' in parsed ? parsed.problem : undefined
}

describe('JSON that would take long to parse is refused', () => {
  test('a number of more than 400 characters', () => {
    const taken = ['1' + '0'.repeat(300), `0.${'0'.repeat(322)}5`, `-1.${'0'.repeat(397)}`]
    for (const number of taken) expect(problemOf(`[${number}]`), number).toBeUndefined()
    const refused = /more than 400 characters \(at position 1\)/
    expect(problemOf(`[-1.${'0'.repeat(398)}]`)).toMatch(refused)
    expect(problemOf(`[0.${'1'.repeat(399)}]`)).toMatch(refused)
    expect(problemOf(`[${'9'.repeat(401)}]`)).toMatch(refused)
  })

  test('what only looks like a part of a number is no number', () => {
    for (const unit of ['e', '.', '+']) {
      expect(problemOf(unit.repeat(401)), unit).toMatch(/^is not valid JSON/)
    }
  })

  test('a problem never quotes a value', () => {
    expect(problemOf('{"email":"ada@example.com"')).not.toContain('ada')
    expect(problemOf('{"email":"ada@example.com",}')).toBe('is not valid JSON (at position 27)')
  })
})

test('an object with more than 2,000 keys is refused before it is parsed', () => {
  for (const value of ['{"a":1}', '[]', '"\\":"']) {
    const keys = (count: number) =>
      Array.from({ length: count }, (_, index) => `"${index}":${value}`).join(',')
    expect(problemOf(`[{${keys(2_000)}}]`), value).toBeUndefined()
    expect(problemOf(`[{${keys(2_001)}}]`), value).toMatch(
      /^has an object with more than 2000 keys \(at position \d+\)/,
    )
  }
  expect(problemOf(`["\\"${':'.repeat(3_000)}"]`)).toBeUndefined()
  expect(problemOf(`["\\\\", "${':'.repeat(3_000)}"]`)).toBeUndefined()
  expect(problemOf(`{":":":${':'.repeat(3_000)}"`)).toMatch(/^is not valid JSON/)
})

test('more than 1,000 levels are refused before they are parsed', () => {
  const lists = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
  expect(problemOf(lists(1_000))).toBeUndefined()
  expect(problemOf(`[${lists(999)},${lists(999)}]`)).toBeUndefined()
  expect(problemOf(lists(1_001))).toMatch(
    /^is nested more than 1000 levels deep \(at position 1000\)/,
  )
  expect(problemOf('{"a":'.repeat(1_001))).toMatch(/^is nested more than 1000 levels deep/)
})

test.each(['', '"', '{"a', '{"a":"b', '{"a":1,"a'])('text that ends too early: %s', (text) => {
  expect(problemOf(text)).toMatch(/^is not valid JSON/)
  expect(problemOf('')).toBe('is not valid JSON')
})

describe('all other JSON is taken as JSON.parse takes it', () => {
  test.each([
    '{"a":{"k":1},"b":{"k":1},"c":[{"k":1},{"k":1}]}',
    '{"a":"b","b":"a"}',
    '{"a":"\\"a\\":","b":"{\\"a\\":1,\\"a\\":2}"}',
    '{"a":"12345678901234567890"}',
    '[0,-0,0.0,1.50,1e2,1E+2,100000000000000000000000,0.1,0.0000000123456789,5e-324,9007199254740991,1e308]',
    '{"a":0.30000000000000004,"b":12345678901234567890,"c":1e-999}',
    '{"a":1,"a":2}',
    '"text"',
    '1',
  ])('%s', (text) => {
    expect(parseJson(text)).toEqual({ value: JSON.parse(text) })
  })

  test('any output of JSON.stringify', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(undefined, 2), (value, indent) => {
        const text = JSON.stringify(value, null, indent)
        expect(parseJson(text)).toEqual({ value: JSON.parse(text) })
      }),
    )
  })
})

test.each([
  ['{"a":1}', { a: 1 }],
  ['[1]', undefined],
  ['null', undefined],
  ['"a"', undefined],
  ['{"a":', undefined],
])('a JSON object is read from a text, and nothing else: %s', (text, object) => {
  expect(parseObject(text)).toEqual(object)
})
