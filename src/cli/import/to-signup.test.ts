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

function parse(values: Record<string, unknown>, mapped: readonly string[] = []) {
  const columns = new Columns(mapped, ownColumns(fields))
  columns.take(Object.keys(values))
  const context = { defaultTab: 'Sheet1', source: 'import', fields } as const
  const entries = Object.entries(values)
  return parseRow(entries, { columns, context, tab: undefined, dates: undefined }, 0)
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
  expect(() => parse({ Email: 'a@b.co', Firma: 'x', company: 'y' })).toThrow(
    /--map company="Firma",/,
  )
  expect(parse({ Email: 'a@b.co', seats: 'many' })).toEqual({
    ok: false,
    reason: 'seats must be a number of at most 15 digits, such as 12 or 3.5.',
  })
})

test('the time of a confirmation in an export is kept in the metadata', () => {
  const at = '2026-11-21T09:31:00.000Z'
  const row = { Email: 'ada@example.com', Firma: 'Engines' }
  const metadata = JSON.stringify({ Confirmed: at })
  expect(parse({ ...row, Confirmed: at })).toMatchObject({ ok: true, value: { metadata } })
})
