import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseJson } from './json-text.ts'

const problemOf = (text: string) => {
  const parsed = parseJson(text)
  return 'problem' in parsed ? parsed.problem : undefined
}

const twice = (key: string) => `{"${key}":1,"${key}":2}`

describe('JSON that parsing would change is refused', () => {
  test.each([
    ['{"email":"a","email":"b"}', 'has the key "email" twice in one object'],
    ['{"email":"a","\\u0065mail" : "b"}', 'has the key "email" twice in one object'],
    ['{"a":[{"b":{}},{"b":1,"c":[],"b":2}]}', 'has the key "b" twice in one object'],
    ['{"__proto__":1,"__proto__":2}', 'has the key "__proto__" twice in one object'],
    ['{"":1,"":2}', 'has the key "" twice in one object'],
    [
      '{"a":{"a":[]},"b":[{"a":1},"c"],"c":"e","e":1,"d":1,"d":2}',
      'has the key "d" twice in one object',
    ],
    [twice('k'.repeat(64)), `has the key "${'k'.repeat(64)}" twice in one object`],
    [twice('k'.repeat(65)), `has the key "${'k'.repeat(64)}…" twice in one object`],
    ['{"\\\\":1,"\\"":2,"\\\\":3}', 'has the key "\\\\" twice in one object'],
  ])('%s', (text, problem) => {
    expect(problemOf(text)).toBe(problem)
  })

  test.each(['12345678901234567890', '9007199254740993', '-0.12345678901234567891', '1e-999'])(
    'the number %s',
    (number) => {
      expect(problemOf(`{"a":[${number}]}`)).toMatch(/more digits .* \(at position 6\)/)
    },
  )

  test('a number of more than 400 characters, with the same message', () => {
    const taken = ['1' + '0'.repeat(300), `0.${'0'.repeat(322)}5`, `-1.${'0'.repeat(397)}`]
    for (const number of taken) expect(problemOf(`[${number}]`), number).toBeUndefined()
    expect(problemOf(`[-1.${'0'.repeat(398)}]`)).toMatch(/more digits .* \(at position 1\)/)
  })

  test('a problem never quotes a value', () => {
    expect(problemOf('{"email":"ada@example.com"')).not.toContain('ada')
    expect(problemOf('{"email":"ada@example.com",}')).toBe('is not valid JSON (at position 27)')
  })
})

test('an object with more than 2,000 keys is refused before it is parsed', () => {
  const keys = (count: number) => Array.from({ length: count }, (_, index) => `"${index}":{"a":1}`)
  expect(problemOf(`[{${keys(2_000).join(',')}}]`)).toBeUndefined()
  expect(problemOf(`[{${keys(2_001).join(',')}}]`)).toMatch(
    /^has an object with more than 2000 keys \(at position \d+\)/,
  )
  expect(problemOf(`{":":":${':'.repeat(3_000)}"`)).toMatch(/^is not valid JSON/)
})

test.each(['', '"', '{"a', '{"a":"b', '{"a":1,"a'])('text that ends too early: %s', (text) => {
  expect(problemOf(text)).toMatch(/^is not valid JSON/)
  expect(problemOf('')).toBe('is not valid JSON')
})

describe('JSON that parsing does not change is accepted', () => {
  test.each([
    '{"a":{"k":1},"b":{"k":1},"c":[{"k":1},{"k":1}]}',
    '{"a":"b","b":"a"}',
    '{"a":"\\"a\\":","b":"{\\"a\\":1,\\"a\\":2}"}',
    '{"a":"12345678901234567890"}',
    '[0,-0,0.0,1.50,1e2,1E+2,100000000000000000000000,0.1,0.0000000123456789,5e-324,9007199254740991,1e308]',
    '{"a":0.30000000000000004}',
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

  test('at any depth', () => {
    const deep = `${'[{"a":'.repeat(100_000)}1${'}]'.repeat(100_000)}`
    expect(problemOf(deep)).toBeUndefined()
  })
})

test('a repeated key in an object is found anywhere', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 }),
      fc.nat(),
      (object, at) => {
        const keys = Object.keys(object)
        const again = JSON.stringify(keys[at % keys.length])
        const text = `${JSON.stringify([object]).slice(0, -2)},${again}:0}]`
        expect(problemOf(text)).toMatch(/^has the key .* twice in one object$/s)
      },
    ),
  )
})

test('a number is accepted exactly if a double keeps its digits', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 25n), max: 10n ** 25n }), (integer) => {
      const isExact =
        BigInt(Number(integer).toLocaleString('fullwide', { useGrouping: false })) === integer
      expect(problemOf(`[${integer}]`) === undefined).toBe(isExact)
    }),
  )
})
