import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Field, fieldsOf, fieldsText } from './field.ts'
import { readFields } from './field-values.ts'
import { hasUnprintable } from './text.ts'

const of = { name: 'it', required: false } as const
const text: Field = { ...of, type: 'text', maxLength: 5 }
const textarea: Field = { ...of, type: 'textarea', maxLength: 5 }
const choice: Field = { ...of, type: 'choice', options: ['free', 'pro'] }
const choices: Field = { ...of, type: 'choices', options: ['one', 'two', 'three'] }
const number: Field = { ...of, type: 'number', min: -1, max: 500 }
const zero: Field = { ...of, type: 'number', min: 0, max: 0 }
const anyNumber: Field = { ...of, type: 'number' }
const [checkbox, url, date, phone] = (['checkbox', 'url', 'date', 'phone'] as const).map(
  (type): Field => ({ ...of, type }),
) as [Field, Field, Field, Field]

const asJson = { isForm: false, needsRequired: true }
const asForm = { isForm: true, needsRequired: true }

function read(field: Field, it: unknown, rules = asJson) {
  return readFields({ it }, [field], rules)
}

describe('a value that fits its field is kept', () => {
  test.each<[Field, given: unknown, value: unknown]>([
    [text, ' a\nb ', 'a b'],
    [textarea, ' a \r\n\r\tb\n', 'a\n\nb'],
    [choice, 'pro', 'pro'],
    [choices, ['three', 'one', 'three'], ['one', 'three']],
    [choices, 'two , one', ['one', 'two']],
    [number, 2.5, 2.5],
    [number, ' -1 ', -1],
    [number, '+500.', 500],
    [number, '.5', 0.5],
    [number, '-0', 0],
    [anyNumber, '123456789.012345', 123456789.012345],
    [anyNumber, 1e300, 1e300],
    [checkbox, true, true],
    [checkbox, 'ON', true],
    [checkbox, 'no', false],
    [checkbox, false, false],
    [url, 'HTTPS://Example.com/a?b#c', 'HTTPS://Example.com/a?b#c'],
    [date, '2028-02-29', '2028-02-29'],
    [phone, '+49 (170) 123-45.6/7', '+49 (170) 123-45.6/7'],
  ])('%o takes %j as %j', (field, given, value) => {
    const { values, problems } = read(field, given)
    expect(problems).toEqual([])
    expect(values).toStrictEqual({ it: value })
  })
})

test('a field with the name of a member of every object is absent unless it was given', () => {
  const field: Field = { ...text, name: 'constructor' }
  expect(readFields({}, [field], asJson)).toEqual({ values: {}, problems: [] })
})

describe('a value that does not fit says what to do', () => {
  test.each<[Field, given: unknown, message: string]>([
    [text, 'abcdef', 'it is too long: at most 5 characters.'],
    [zero, -1, 'it must be at least 0.'],
    [zero, 1, 'it must be at most 0.'],
    [text, ['a', 'b'], 'it must be given once, as text.'],
    [choice, 'Pro', 'it must be one of free, pro.'],
    [choices, ['one', 'four'], 'it must be one of one, two, three.'],
    [choices, ['one', 'one', 'two', 'two'], 'it must have at most 3 of its options.'],
    [choices, ['one', 1], 'it must be a list of texts.'],
    [choices, { one: true }, 'it must be a list of texts.'],
    [number, '-2', 'it must be at least -1.'],
    [number, 501, 'it must be at most 500.'],
    [number, '1e2', 'it must be a number of at most 15 digits, such as 12 or 3.5.'],
    [number, '.', 'it must be a number of at most 15 digits, such as 12 or 3.5.'],
    [anyNumber, Infinity, 'it must be a number of at most 15 digits, such as 12 or 3.5.'],
    [anyNumber, 2 ** 53 + 2, 'it must be a number of at most 15 digits, such as 12 or 3.5.'],
    [
      anyNumber,
      '1234567890.123456',
      'it must be a number of at most 15 digits, such as 12 or 3.5.',
    ],
    [checkbox, 'maybe', 'it must be true or false.'],
    [url, 'http:example.com', 'it must be a web address, such as https://example.com.'],
    [url, 'javascript:alert(1)//http://', 'it must be a web address, such as https://example.com.'],
    [url, 'https://', 'it must be a web address, such as https://example.com.'],
    [url, `https://a.com/${'a'.repeat(2000)}`, 'it is too long: at most 2000 characters.'],
    [date, '2026-02-29', 'it must be a date that exists, such as 2026-11-30.'],
    [date, '0000-01-01', 'it must be a date that exists, such as 2026-11-30.'],
    [date, '2026-13-01', 'it must be a date that exists, such as 2026-11-30.'],
    [date, '30.11.2026', 'it must be a date that exists, such as 2026-11-30.'],
    [phone, '1 2 3 4', expect.stringContaining('5 to 15 digits')],
    [phone, '1234567890123456', expect.stringContaining('5 to 15 digits')],
    [phone, 'call 12345', expect.stringContaining('only spaces and +')],
  ])('%o refuses %j', (field, given, message) => {
    expect(read(field, given)).toEqual({ values: {}, problems: [{ field: 'it', message }] })
  })
})

describe('a value that is absent', () => {
  test.each([undefined, null, '', ' \n '])('as %j is left out', (given) => {
    for (const field of [text, choice, number, checkbox, url, date, phone])
      expect(read(field, given)).toEqual({ values: {}, problems: [] })
  })

  test('of a checkbox in a form is false', () => {
    expect(read(checkbox, undefined, asForm).values).toEqual({ it: false })
  })

  test('of a required field is told under its label, and a required checkbox has to be ticked', () => {
    const label = 'Your plan'
    const told = (field: Field, given?: unknown) =>
      read({ ...field, label, required: true }, given).problems.map(({ message }) => message)
    expect(told(choice)).toEqual(['Your plan is missing: fill it in.'])
    expect(told(checkbox)).toEqual(['Your plan is needed: tick it, or send true.'])
    expect(told(checkbox, false)).toEqual(['Your plan is needed: tick it, or send true.'])
    expect(told(checkbox, true)).toEqual([])
    expect(told(anyNumber, 0)).toEqual([])
  })
})

test('whatever is given, values are printable, and reading them again or from the journal changes nothing', () => {
  const all = [text, choice, anyNumber, checkbox, url, date, phone].map((field, at): Field => ({
    ...field,
    name: `f${at}`,
  }))
  const likely = fc.oneof(
    fc.anything(),
    fc.double(),
    fc.string({ unit: 'binary' }),
    fc.constantFrom('pro', 'on', 'https://a.example', '2026-02-28', '+49 170 12345', '1.50'),
  )
  const record = fc.dictionary(fc.constantFrom(...all.map(({ name }) => name)), likely)
  fc.assert(
    fc.property(record, fc.constantFrom(asJson, asForm), (given, rules) => {
      const { values } = readFields(given, all, rules)
      for (const value of Object.values(values))
        expect(typeof value === 'string' && hasUnprintable(value)).toBe(false)
      expect(readFields(values, all, asJson)).toEqual({ values, problems: [] })
      expect(fieldsOf(fieldsText(values))).toEqual(values)
    }),
  )
})

test.each(['1', '-', '+1 ', 'https://', '\u0000 '])(
  'a mebibyte of %j is refused or cleaned at once in every field',
  (piece) => {
    const long = piece.repeat(1_048_576 / piece.length)
    for (const field of [text, choice, number, checkbox, url, date, phone])
      expect(read(field, long).values).toEqual({})
  },
)

test('fields of 20,000 characters together are taken, as one cell of Metadata holds them, and one more is refused', () => {
  const fields = Array.from({ length: 11 }, (_, index): Field => {
    return { name: `f${index}`, required: false, type: 'text', maxLength: 2_000 }
  })
  const filled = (last: number) =>
    Object.fromEntries(fields.map(({ name }, at) => [name, 'x'.repeat(at === 10 ? last : 1_900)]))
  const rest = 20_000 - JSON.stringify(filled(0)).length
  expect(readFields(filled(rest), fields, asJson).problems).toEqual([])
  expect(readFields(filled(rest + 1), fields, asJson).problems).toEqual([
    { field: '', message: expect.stringContaining('at most 20000 characters') as string },
  ])
})

test.each<[Field, edge: string, past: string]>([
  [phone, `1${' '.repeat(45)}2345`, `1${' '.repeat(46)}2345`],
  [anyNumber, '5'.padStart(40, '0'), '5'.padStart(41, '0')],
])('%o takes a text of the greatest length, and none that is longer', (field, edge, past) => {
  expect(read(field, edge).problems).toEqual([])
  expect(read(field, past).problems).toHaveLength(1)
})

test('no choice is as good as none, and a required field of choices says so', () => {
  expect(read(choices, [])).toStrictEqual({ values: {}, problems: [] })
  const { problems } = read({ ...choices, required: true }, [])
  expect(problems).toEqual([{ field: 'it', message: 'it is missing: fill it in.' }])
})
