import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import type { Field } from '../../signup/field.ts'
import { readFields } from '../../signup/field-values.ts'
import { formFields, jsonFields } from './schemas.ts'

const of = { name: 'it', required: false }
const needed = { name: 'it', required: true }

const fields: readonly Field[] = [
  { ...of, type: 'text', maxLength: 3 },
  { ...of, type: 'textarea', maxLength: 3 },
  { ...of, type: 'choice', options: ['free', 'pro'] },
  { ...of, type: 'choices', options: ['x', { en: 'y', de: 'z' }] },
  { ...of, type: 'number', min: 1, max: 500 },
  { ...of, type: 'number', min: 0, max: 0 },
  { ...of, type: 'checkbox' },
  { ...of, type: 'url' },
  { ...of, type: 'phone' },
]
const values = [
  'abc',
  'abcd',
  'pro',
  'PRO',
  -1,
  0,
  1,
  500,
  501,
  2.5,
  true,
  false,
  [],
  ['x', 'y'],
  ['z'],
  {},
  null,
]
const addresses = [
  'https://a.example/',
  'HTTP://a',
  'ftp://a.example',
  'a.example',
  '+1 (234) 56-78',
]

test.each([...fields, ...fields.map((field) => ({ ...field, ...needed }))])(
  'what fits the schema of $type (required: $required) is taken, and else nothing but text for a number or a box',
  (field) => {
    const validate = new Ajv2020({ strict: false, validateFormats: false }).compile({
      type: 'object',
      ...jsonFields([field]),
    })
    for (const value of [...values, ...addresses, 'x'.repeat(2_001), undefined]) {
      const given = value === undefined ? {} : { it: value }
      const { problems } = readFields(given, [field], { isForm: false, needsRequired: true })
      const isBit = field.type === 'checkbox' && (value === 0 || value === 1)
      if (!isBit) expect([value, validate(given)]).toEqual([value, problems.length === 0])
    }
  },
)

test('a form sends no null', () => {
  const { properties } = formFields(fields)
  expect(JSON.stringify(properties)).not.toContain('null')
})
