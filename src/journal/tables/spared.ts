import type { Signup } from '../../signup/signup.ts'
import type { RowToRemove } from '../contracts/erasure.ts'
import { addressHash, personOf } from '../hashes.ts'
import { flagOf, givenPositions, givenRows, type Row, reading, statementsOf } from '../sql.ts'
import { rowStatus } from './layout.ts'
import { findByHash } from './people.ts'
import { findLast, positionIn, recordColumns, toRecord } from './rows.ts'
import type { Site } from './site.ts'

/** How many positions are looked at at once where nobody keeps people. That takes a few milliseconds. */
const positionsAtOnce = 4_000
/** At most how many signups are read at once, each as large as a stranger has made it. */
const readAtOnce = 100
/** More signups than people make in one millisecond. */
const laterMax = 20
/** At most how many signups are kept for one search. */
const keptMax = 500

const { none, present, held } = rowStatus

const sql = statementsOf('spared', ({ given, lower, signupAt }) => {
  const asked = given('asked', '$2', {
    ...({ email: 'text', at: 'number', hash: 'text', after: 'number' } as const),
  })
  // For EXISTS, PostgreSQL may read all of redelivery.
  const columns = `${recordColumns}, row_status = ${present} OR (
    signup.position <= coalesce((SELECT written_to FROM progress WHERE progress.tab = signup.tab), 0)
    AND (SELECT 1 FROM redelivery
         WHERE redelivery.tab = signup.tab AND redelivery.position = signup.position) IS NULL) AS "isThere"`
  const isAsked = `row_status NOT IN (${none}, ${held}) AND (received_at, ${lower('signup.email')}) IN (
    SELECT at, email FROM ${asked})`
  return {
    covered: `SELECT asked.email, asked.at, asked.hash, coalesce(upto, asked.after) AS after
              FROM ${asked}
              LEFT JOIN tombstone ON tombstone.site = $1 AND tombstone.hash = asked.hash`,
    among: `SELECT ${columns}
            FROM ${given('found', '$1', { position: 'number' })} ${signupAt('found.position')}
            JOIN tab ON tab.id = signup.tab WHERE ${isAsked}`,
    between: `SELECT ${columns} FROM signup CROSS JOIN tab
              WHERE signup.position > $3 AND signup.position <= $4 AND ${isAsked}
                AND tab.id = signup.tab AND tab.site = $1
              ORDER BY signup.position LIMIT ${readAtOnce}`,
  }
})

/** Rows to remove of one person and one time. */
type Asked = Readonly<{
  /** In small letters. */
  email: string
  at: number
  hash: string
  /** No signup up to this position keeps its row. */
  after: number
}>

const keyOf = (email: string, at: number) => `${at} ${email.toLowerCase()}`

/** As `Erasure.spared`. How much it keeps does not depend on what strangers have stored. */
export async function sparedBeside(
  site: Site,
  rows: readonly RowToRemove[],
): Promise<readonly (readonly Signup[] | undefined)[]> {
  const asked = await askedFor(site, rows)
  const groups = new Map(
    asked.map(({ email, at, after }) => [keyOf(email, at), { after, later: [] as Signup[] }]),
  )
  const pages = site.hashOf('') === null ? byWalk(site, asked) : byPeople(site, asked)
  let kept = 0
  for await (const page of pages) {
    for (const row of page) {
      const { position, signup } = toRecord(row)
      const key = keyOf(signup.email, signup.receivedAt)
      const group = groups.get(key)
      if (!group || position <= group.after) continue
      const { later } = group
      if (flagOf(row['isThere']) && later.length < laterMax && kept < keptMax) {
        later.push(signup)
        kept += 1
      } else {
        groups.delete(key)
        kept -= later.length
      }
    }
  }
  return rows.map(({ email, receivedAt }) => groups.get(keyOf(email, receivedAt))?.later)
}

/** What is asked for these rows. */
async function askedFor({ db, id, secret }: Site, rows: readonly RowToRemove[]): Promise<Asked[]> {
  const asked = new Map<string, Asked>()
  for (const { email, receivedAt: at, position } of rows) {
    const key = keyOf(email, at)
    const after = Math.min(position, asked.get(key)?.after ?? position)
    asked.set(key, { email: email.toLowerCase(), at, hash: addressHash(secret, email), after })
  }
  if (asked.size === 0) return []
  const [covered] = await db.query([sql.covered, id, givenRows([...asked.values()])])
  return covered.rows.map(({ email, at, hash, after }) => ({
    ...{ email: String(email), at: Number(at), hash: String(hash), after: Number(after) },
  }))
}

/** Pages of what came after these people were forgotten, person by person. */
async function* byPeople(
  { db, id }: Site,
  asked: readonly Asked[],
): AsyncGenerator<readonly Row[]> {
  for (const [hash, ofPerson] of Map.groupBy(asked, (one) => one.hash)) {
    const wanted = givenRows(ofPerson)
    for (let after = Math.min(...ofPerson.map((one) => one.after)); after < Infinity;) {
      const { positions, next = Infinity } = await reading(
        db,
        findByHash(id, personOf(hash), after),
      )
      if (positions.length > 0) {
        const [{ rows }] = await db.query([sql.among, givenPositions(positions), wanted])
        yield rows
      }
      after = next
      await turn()
    }
  }
}

/** Pages of what came after the first of these people was forgotten. */
async function* byWalk({ db, id }: Site, asked: readonly Asked[]): AsyncGenerator<readonly Row[]> {
  const wanted = givenRows(asked)
  const [last] = await db.query(findLast)
  const end = positionIn(last)
  for (let after = Math.min(...asked.map((one) => one.after)); after < end;) {
    const upto = after + positionsAtOnce
    const [{ rows }] = await db.query([sql.between, id, wanted, after, upto])
    yield rows
    const isFull = rows.length === readAtOnce
    after = isFull ? Number(rows.at(-1)?.['position']) : upto
    await turn()
  }
}

/** An engine may answer without a turn of the event loop. */
const turn = () => new Promise((resolve) => setImmediate(resolve))
