import { expect, test } from 'vitest'
import type { ServerFacts } from '../journal/postgres/server-facts.ts'
import { accessProblem, inspectFacts } from './database-findings.ts'

const good: ServerFacts = {
  product: 'PostgreSQL 18.4 (Debian 18.4-1) on x86_64-pc-linux-gnu, compiled by gcc',
  encoding: 'UTF8',
  isStandby: false,
  isReadOnly: false,
  isForeign: false,
  mayEnter: true,
  tables: 1,
  rightsMissing: [],
  mayMigrate: true,
  risks: [],
}

test('nothing is wrong with a good database', () => {
  const findings = inspectFacts(good)
  expect(findings.map(({ state }) => state)).toEqual(['ok', 'ok'])
  expect(findings.map(({ message }) => message)).toEqual([
    'runs PostgreSQL 18.4',
    'has the tables of this version',
  ])
})

test.each<[string, Partial<ServerFacts>, string, RegExp]>([
  ['an old version', { product: 'PostgreSQL 14.9' }, 'fault', /runs PostgreSQL 14/],
  ['another engine', { product: 'CockroachDB CCL v26.3' }, 'warning', /Cockroach/],
  ['another encoding', { encoding: 'SQL_ASCII' }, 'fault', /encoding is SQL_ASCII/],
  [
    'a standby',
    { isStandby: true, isReadOnly: true },
    'fault',
    /is a standby, which takes no signups/,
  ],
  ['a read-only database', { isReadOnly: true }, 'fault', /is read-only: its setting default_/],
  ['a foreign schema', { isForeign: true }, 'fault', /with the tables of another program/],
  ['a closed schema', { mayEnter: false }, 'fault', /does not let this user into its schema/],
  ['missing rights', { rightsMissing: ['INSERT', 'DELETE'] }, 'fault', /to INSERT, DELETE in its/],
  ['no right to make tables', { tables: 0, mayMigrate: false }, 'fault', /not .* make tables/],
  ['no tables', { tables: 0 }, 'warning', /no tables of Rollcall yet/],
  [
    'tables of another version',
    { otherVersion: { why: 'it was made by a newer version', hint: 'Start that' } },
    'fault',
    /of no use here: it was made by a newer version$/,
  ],
  [
    'no right to change tables',
    { mayMigrate: false },
    'warning',
    /lets this user use its tables, and not change them/,
  ],
  ['fsync off', { risks: ['fsync'] }, 'fault', /fsync: a power cut loses signups/],
  [
    'full_page_writes off',
    { risks: ['full_page_writes'] },
    'warning',
    /full_page_writes: a power cut may damage the journal/,
  ],
  [
    'data_sync_retry on',
    { risks: ['data_sync_retry'] },
    'fault',
    /data_sync_retry: after an error of its/,
  ],
  ['zero_damaged_pages on', { risks: ['zero_damaged_pages'] }, 'fault', /empties damaged pages/],
])('it is told of %s', (_, facts, state, words) => {
  const said = inspectFacts({ ...good, ...facts }).filter((finding) => finding.state === state)
  expect(said).toHaveLength(1)
  expect(said[0]?.message).toMatch(words)
  expect(said[0]?.hint).toMatch(/\.$/)
})

test('a server that tells nothing is not judged', () => {
  const states = inspectFacts(emptied(good)).map(({ state }) => state)
  expect(states).toEqual(['warning'])
})

function emptied(facts: ServerFacts): ServerFacts {
  return Object.fromEntries(Object.keys(facts).map((key) => [key, undefined]))
}

test('a standby can be read, and so can tables that the user may not write', () => {
  const facts = { ...good, isStandby: true, isReadOnly: true, rightsMissing: ['INSERT'] }
  expect(accessProblem(facts, 'reading')).toBeUndefined()
  expect(accessProblem({ ...facts, rightsMissing: ['SELECT', 'INSERT'] }, 'reading')).toMatchObject(
    {
      message: 'does not give this user the right to SELECT in its tables',
    },
  )
})
