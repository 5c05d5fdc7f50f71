// @module-tag slow
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { type PostgresServer, startPostgres } from '../../harness/postgres-server.ts'
import { openPostgresJournal } from '../../harness/postgres-journal.ts'
import { postgresDialect } from '../../src/journal/postgres/dialect.ts'
import { statements } from '../../src/journal/sql.ts'

const folders = ['postgres', 'tables'].map((name) =>
  join(import.meta.dirname, '../../src/journal', name),
)

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres()
  for (const folder of folders) {
    for (const file of await readdir(folder, { recursive: true }))
      if (file.endsWith('.ts')) await import(join(folder, file))
  }
})
afterAll(() => server[Symbol.asyncDispose]())

/** One tab has nearly all signups, which invites the planner to leave the tab out of account. */
const filled = `
  INSERT INTO rollcall.tab (id, site, key, name, opened_at)
    SELECT n, 1, 'tab ' || n, '', 0 FROM generate_series(1, 3) AS n;
  INSERT INTO rollcall.progress SELECT n, 0, 50000 FROM generate_series(1, 3) AS n;
  INSERT INTO rollcall.signup
    SELECT n, gen_random_uuid(), CASE WHEN n % 10000 = 0 THEN 2 ELSE 1 END, n,
      CASE WHEN n < 20000 THEN '' ELSE n || '@example.com' END, '', '', '', '', 0
    FROM generate_series(1, 100000) AS n;
  INSERT INTO rollcall.batch SELECT n, 1, '', n, 'workbook', n < 100 FROM generate_series(1, 5000) AS n;
  INSERT INTO rollcall.batch_range
    SELECT 1, n * 10, n * 10 - 10, n, 10 FROM generate_series(1, 5000) AS n;
  INSERT INTO rollcall.marker SELECT 1, n, n, false, true FROM generate_series(4900, 5000) AS n;
  INSERT INTO rollcall.redelivery
    SELECT 1, n, 0, false, CASE WHEN n < 20100 THEN 5001 END FROM generate_series(20000, 40000) AS n;
  INSERT INTO rollcall.redelivered SELECT n, n % 100 FROM generate_series(20000, 40000) AS n;
  INSERT INTO rollcall.held SELECT 1, n, '' FROM generate_series(70000, 90000) AS n;
  UPDATE rollcall.signup SET row_status = 3 WHERE position BETWEEN 70000 AND 90000;
  INSERT INTO rollcall.idempotency_key
    SELECT 1, md5(n::text), '', n, n, '', n FROM generate_series(1, 20000) AS n;
  INSERT INTO rollcall.used_token SELECT md5(n::text), n FROM generate_series(1, 20000) AS n;
  INSERT INTO rollcall.tombstone SELECT 1, md5(n::text), n FROM generate_series(1, 20000) AS n;
  UPDATE rollcall.signup SET person = substr(md5(email), 1, 12) WHERE email <> '';
  INSERT INTO rollcall.removal SELECT n, '' FROM generate_series(19000, 19020) AS n;
  INSERT INTO rollcall.tally SELECT 1, what, n, '', 1
    FROM generate_series(-1, 20000) AS n, unnest(ARRAY['accepted', 'written', 'source']) AS what;
  INSERT INTO rollcall.provider_call SELECT 'one', n, n, true FROM generate_series(1, 20000) AS n;
  ANALYZE`

interface Plan {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly 'Index Cond'?: string
  readonly Plans?: readonly Plan[]
}

/** Tables that grow with the number of signups. An index begins with the name of its table. */
const large =
  /^(signup|batch|redeliver|idempotency_key|used_token|tombstone|held|tally|provider_call)/

/** What a plan reads from one end to the other, or from a position to the end. */
function longReads(plan: Plan): string[] {
  const { 'Node Type': type, 'Index Name': index, 'Index Cond': condition } = plan
  const name = index ?? plan['Relation Name'] ?? ''
  const isToTheEnd = index === 'signup_pkey' && /^\("position" >=? \S+\)$/.test(condition ?? '')
  // The index below a bitmap scan tells what that one reads.
  const isLong =
    type.endsWith('Scan') &&
    type !== 'Bitmap Heap Scan' &&
    large.test(name) &&
    (condition === undefined || isToTheEnd)
  return [...(isLong ? [`${type} ${name}`] : []), ...(plan.Plans ?? []).flatMap(longReads)]
}

/** They stop at the first entry. */
const anyHash = ['Index Only Scan tombstone_pkey', 'Index Only Scan signup_by_person']

const allowed: Readonly<Record<string, readonly string[]>> = {
  'imports.decide': anyHash,
  'postgres imports.add': anyHash,
  'postgres secret.hasHashes': [
    ...anyHash,
    'Index Only Scan signup_held_by_person',
    'Index Only Scan idempotency_key_by_time',
  ],
}

test('no statement reads a large table from one end to the other', async () => {
  await using database = await server.createDatabase()
  await (await openPostgresJournal(database.url, { duplicates: 'ignore' }))[Symbol.asyncDispose]()
  const client = new pg.Client({ connectionString: database.url })
  await using _ = { [Symbol.asyncDispose]: () => client.end() }
  await client.connect()
  await client.query(filled)
  // As in every transaction of the journal.
  await client.query('SET enable_seqscan = off; SET search_path = rollcall')
  expect(statements.size).toBeGreaterThan(100)
  for (const { name, text } of statements.values()) {
    const sql = text(postgresDialect)
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
      `EXPLAIN (GENERIC_PLAN, FORMAT JSON) ${sql}`,
    )
    const found = rows.flatMap((row) => longReads(row['QUERY PLAN'][0].Plan))
    expect.soft(found, name).toEqual(allowed[name] ?? [])
  }
})
