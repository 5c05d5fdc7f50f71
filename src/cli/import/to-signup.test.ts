import { expect, test } from 'vitest'
import type { Field } from '../../signup/field.ts'
import { ownColumns } from '../../signup/row.ts'
import { Columns } from './columns.ts'
import { parseRow } from './to-signup.ts'

const fields: readonly Field[] = [
  { name: 'company', label: 'Firma', type: 'text', required: true, maxLength: 20 },
  { name: 'seats', type: 'number', required: false },
  { name: 'news', label: 'Send me news', type: 'checkbox', required: false },
]

const now = Date.UTC(2026, 10, 27)

function parse(
  values: Record<string, unknown>,
  mapped: readonly string[] = [],
  own = ownColumns(fields),
) {
  const columns = new Columns(mapped, own)
  columns.take(Object.keys(values).map((name) => ({ name, key: name })))
  const context = { defaultTab: 'Sheet1', source: 'import', fields } as const
  const entries = Object.entries(values)
  return parseRow(entries, { columns, context, tab: undefined, dates: undefined, now })
}

test("columns of an import are the site's own fields by label, by name or as --map says", () => {
  const email = 'ada@example.com'
  const value = { fields: { company: 'Engines', seats: -2, news: true }, metadata: '' }
  const shown = { Email: email, FIRMA: 'Engines', seats: '-2', 'send me news': 'TRUE' }
  expect(parse(shown)).toMatchObject({ ok: true, value })
  const typed = { email, company: 'Engines', seats: -2, news: true }
  expect(parse(typed)).toMatchObject({ ok: true, value })
  const mapped = { email, Kunde: 'Engines', company: 'other', seats: -2, news: true }
  expect(parse(mapped, ['company=Kunde'])).toMatchObject({
    ok: true,
    value: { ...value, metadata: '{"company":"other"}' },
  })
})

test('two columns for one field of the site are refused, and a wrong value tells what to do', () => {
  expect(() => parse({ Email: 'a@b.co', Firma: 'x', company: 'y' })).toThrow(/--map company=B,/)
  expect(parse({ Email: 'a@b.co', seats: 'many' })).toEqual({
    ok: false,
    reason: 'seats must be a number of at most 15 digits, such as 12 or 3.5.',
  })
})

test('a time of confirmation comes along where the site confirms, and anything else in that column is metadata', () => {
  const own = ownColumns(fields, 'mail')
  const row = { Email: 'ada@example.com', Firma: 'Engines' }
  const at = '2026-11-21T09:31:00.000Z'
  const confirmedAt = Date.parse(at)
  const value = { confirmedAt, metadata: '' }
  expect(parse({ ...row, Confirmed: at }, [], own)).toMatchObject({ ok: true, value })
  expect(parse({ ...row, confirmedAt: at }, [], own)).toMatchObject({ ok: true, value })
  const other = parse({ ...row, Confirmed: 'yes' }, [], own)
  expect(other).toMatchObject({ ok: true, value: { metadata: '{"Confirmed":"yes"}' } })
  expect(other.ok && other.value).not.toHaveProperty('confirmedAt')
  const metadata = JSON.stringify({ Confirmed: at })
  expect(parse({ ...row, Confirmed: at })).toMatchObject({ ok: true, value: { metadata } })
})
