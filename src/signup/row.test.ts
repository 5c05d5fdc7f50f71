import { expect, test } from 'vitest'
import { type Field } from './field.ts'
import {
  columns,
  confirmedColumn,
  headingKey,
  headingsOf,
  noColumns,
  ownColumns,
  toRow,
} from './row.ts'
import type { Signup, SignupId } from './signup.ts'

test('each value of a signup is in the column of its name', () => {
  const row = toRow(
    {
      id: '019a9b1e-0000-7000-8000-000000000000' as SignupId,
      receivedAt: Date.UTC(2026, 10, 21, 9, 30),
      email: 'ada@example.com',
      sheetTab: 'LAUNCH',
      source: 'landing page',
      name: 'Ada Lovelace',
      tags: ['early', 'press'],
      metadata: '{"plan":"free"}',
      fields: {},
    },
    'Launch',
  )
  expect(Object.fromEntries(columns.map((column, at) => [column, row[at]]))).toEqual({
    Email: 'ada@example.com',
    Timestamp: '2026-11-21T09:30:00.000Z',
    Source: 'landing page',
    Name: 'Ada Lovelace',
    Tags: 'early, press',
    Metadata: '{"plan":"free"}',
    'Sheet Tab': 'Launch',
  })
})

const bare: Signup = {
  ...{ id: '' as SignupId, receivedAt: 0, tags: [], metadata: '', fields: {} },
  ...{ email: '', sheetTab: '', source: '', name: '' },
}

/** A row of a signup that has nothing but values of fields. */
function rowWith(fields: Signup['fields'], own = noColumns, metadata = '') {
  return toRow({ ...bare, metadata, fields }, 'Launch', own)
}

test('the columns of the fields follow, under their headings', () => {
  const field = { name: 'topics', type: 'text', label: { en: 'Your topics', de: 'Themen' } }
  const own = ownColumns([field as unknown as Field])
  expect(own).toEqual([{ name: 'topics', heading: 'Your topics' }])
  expect(headingsOf(own)).toEqual([...columns, 'Your topics'])
  expect(rowWith({ topics: ['news', 'events'] }, own).slice(7)).toEqual(['news, events'])
  expect(rowWith({}, own).slice(7)).toEqual([''])
  expect(rowWith({ topics: 7 }, own).slice(7)).toEqual([7])
})

test('values of fields that the site does not have any more are in the metadata', () => {
  const own = [{ name: 'size', heading: 'Size' }]
  const row = rowWith({ size: 'L', colour: 'red', isMember: true }, own, '{"plan":"free"}')
  expect(row[5]).toBe('{"plan":"free","colour":"red","isMember":true}')
  expect(row.slice(7)).toEqual(['L'])
})

test('the time of the confirmation has a column behind the seven where the site confirms, and else is in the metadata', () => {
  const own = ownColumns([{ name: 'size', type: 'number', required: false }], 'mail')
  expect(headingsOf(own)).toEqual([...columns, 'Confirmed', 'size'])
  const confirmed = { ...bare, fields: { size: 3 }, confirmedAt: Date.UTC(2026, 10, 21, 9, 31) }
  expect(toRow(confirmed, 'Launch', own).slice(7)).toEqual(['2026-11-21T09:31:00.000Z', 3])
  expect(toRow(bare, 'Launch', own).slice(7)).toEqual(['', ''])
  const late = toRow(confirmed, 'Launch', ownColumns([], 'off'))
  expect(late[5]).toBe('{"size":3,"confirmedAt":"2026-11-21T09:31:00.000Z"}')
  expect(late.slice(7)).toEqual([])
  expect(ownColumns([], 'mail')).toEqual([confirmedColumn])
})

test('a heading is the same in any case, with any spaces, however its accents are written', () => {
  expect(headingKey(' Sheet  tab\u00a0')).toBe(headingKey('sheetTab'))
  expect(headingKey('Pre\u0301nom')).toBe('pr\u00e9nom')
})
