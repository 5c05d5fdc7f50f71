import pg from 'pg'
import type { PostgresServer } from '../harness/postgres-server.ts'
import { freezeNext } from '../harness/freeze-next.ts'
import { openPostgresJournal } from '../harness/postgres-journal.ts'
import { usualSignup } from './journals.ts'

/** How many signups a batch of the journal has. */
const batchRows = 5_000

/**
 * Makes a database whose journal has `count` signups, and returns its URL. All of them wait for delivery,
 * or all of them are written. The database copies one signup, because that is faster than to append them.
 */
export async function fillDatabase(
  server: PostgresServer,
  count: number,
  state: 'waiting' | 'written',
): Promise<string> {
  const { url } = await server.createDatabase()
  {
    await using journal = await openPostgresJournal(url)
    await journal.intake.append([usualSignup(0)])
    const batch = state === 'written' ? await freezeNext(journal.delivery) : undefined
    if (batch) await journal.delivery.settle(batch.number, Date.now())
  }
  if (count > 1) await query(url, copies(count, state))
  await using journal = await openPostgresJournal(url)
  const backlog = await journal.reader.backlog()
  if (backlog !== (state === 'waiting' ? count : 0)) throw new Error(`${backlog} signups wait.`)
  return url
}

/** Runs SQL in a database, on a connection of its own. */
export async function query(url: string, sql: string): Promise<pg.QueryResult<Row>> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return await client.query<Row>(sql)
  } finally {
    await client.end()
  }
}

type Row = Readonly<Record<string, unknown>>

/** SQL that makes `count` signups of the first one. */
function copies(count: number, state: 'waiting' | 'written'): string {
  const batches = Math.ceil(count / batchRows)
  const signups = `
    INSERT INTO rollcall.signup
    SELECT copy, uuidv7(), tab, received_at, 'person' || copy || '@example.com', source, name, tags,
      metadata, row_status
    FROM rollcall.signup, generate_series(2, ${count}) AS copy WHERE position = 1;
    UPDATE rollcall.head SET position = ${count};
    UPDATE rollcall.tab SET accepted = ${count};
    UPDATE rollcall.tally SET count = ${count} WHERE what = 'accepted';`
  const written = `
    INSERT INTO rollcall.batch (number, site, digest, settled_at, spreadsheet)
    SELECT number + copy, site, digest, settled_at, spreadsheet
    FROM rollcall.batch, generate_series(1, ${batches}) AS copy;
    INSERT INTO rollcall.batch_range (tab, after, upto, batch, signups)
    SELECT tab, greatest(1, (copy - 1) * ${batchRows}), least(${count}, copy * ${batchRows}),
      batch + copy, ${batchRows}
    FROM rollcall.batch_range, generate_series(1, ${batches}) AS copy;
    UPDATE rollcall.progress SET written = ${count}, written_to = ${count};
    UPDATE rollcall.tally SET count = ${count} WHERE what = 'written';
    UPDATE rollcall.counter SET value = value + ${batches} WHERE name = 'batch';`
  return `${signups} ${state === 'written' ? written : ''}`
}
