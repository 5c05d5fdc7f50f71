import { expect, test } from 'vitest'
import { columns, toRow } from './row.ts'
import type { SignupId } from './signup.ts'

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

test('a cell has several choices with commas between them', () => {
  const own = [{ name: 'topics', heading: 'Topics' }]
  const signup = { id: '' as SignupId, receivedAt: 0, tags: [], metadata: '' }
  const texts = { email: '', sheetTab: '', source: '', name: '' }
  const row = toRow({ ...signup, ...texts, fields: { topics: ['news', 'events'] } }, 'Launch', own)
  expect(row.at(-1)).toBe('news, events')
})
