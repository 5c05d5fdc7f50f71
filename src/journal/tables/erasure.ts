import type { ErasedSlice, Erasure, RemovalOutcome, Tombstone } from '../contracts/erasure.ts'
import { addressHash } from '../hashes.ts'
import {
  headLock,
  reading,
  rowReader,
  siteLock,
  statementsOf,
  type Step,
  rowOf,
  textOf,
  type Answer,
} from '../sql.ts'
import { stepsToForget } from './pending.ts'
import { eraseForgotten, forgottenAmong, hashedSignups, noneErased } from './erase.ts'
import type { Site } from './site.ts'

/** How many positions one slice reads. That takes SQLite two milliseconds for one address. */
const slicePositions = 2_000
/** At most how many tombstones one transaction sets. */
const buriedAtOnce = 1_000
const forever = Number.MAX_SAFE_INTEGER
/** At most how many signups one transaction erases. */
const erasedAtOnce = 100

/** The mark of the row of a signup that has left quarantine; else null. */
const markAt = (position: string) => `(
  SELECT mark FROM suspect WHERE suspect.position = ${position} AND mark <> '')`

const sql = statementsOf('erasure', (dialect) => {
  const { given, lower, signupAt, ofEach, lastPosition } = dialect
  // The signups of the site $3 after $1 up to $2. A join with the tab might begin with all its signups.
  const isBetween = 'FROM signup WHERE position > $1 AND position <= $2'
  const isOfSite = '(SELECT site FROM tab WHERE tab.id = signup.tab) = $3'
  const cells = `source || ' ' || name || ' ' || tags || ' ' || metadata || ' ' || fields`
  // The removals, each with its signup and tab.
  const removals = `removal ${signupAt('removal.position')} JOIN tab ON tab.id = signup.tab`
  return {
    last: `SELECT ${lastPosition} AS position`,
    // A tombstone covers no position that is given later.
    bury: `
      INSERT INTO tombstone (site, hash, upto) VALUES ($1, $2,
        CASE WHEN CAST($3 AS bigint) < ${lastPosition} THEN CAST($3 AS bigint) ELSE ${lastPosition} END)
      ON CONFLICT (site, hash) DO UPDATE SET upto = excluded.upto WHERE excluded.upto > tombstone.upto`,
    dropKept: `DELETE FROM kept_address
               WHERE tab IN (SELECT id FROM tab WHERE site = $1) AND hash = $2`,
    // The cheapest condition first: SQLite keeps the order.
    addressed: `SELECT position, email ${isBetween}
                AND (CAST($4 AS text) IS NULL OR ${lower('email')} = $4) AND email <> ''
                AND ${isOfSite} ORDER BY position`,
    mentions: `SELECT count(*) AS count ${isBetween} AND ${isOfSite}
               AND ${lower('email')} <> $4 AND replace(${lower(cells)}, $4, '') <> ${lower(cells)}`,
    tombstones: `SELECT hash, upto FROM tombstone
                 WHERE site = $1 AND hash > $2 ORDER BY hash LIMIT 1000`,
    removals: ofEach({
      each: given('asked', '$1', { site: 'integer', after: 'number', no: 'integer' }),
      no: 'asked.no',
      columns: `removal.position, removal.email, tab.name AS tab, signup.received_at AS "receivedAt",
        ${markAt('removal.position')} AS mark`,
      from: `${removals} WHERE removal.position > asked.after AND signup.email = ''
             AND tab.site = asked.site`,
      order: 'removal.position',
      limit: 100,
    }),
    noteOutcome: `INSERT INTO fact (site, name, value)
                  SELECT $2, $3, $4 FROM removal WHERE position = $1
                  ON CONFLICT (site, name) DO UPDATE SET value = excluded.value`,
    dropRemoval: 'DELETE FROM removal WHERE position = $1',
    takeOutcome: 'DELETE FROM fact WHERE site = $1 AND name = $2 RETURNING value',
    countRemovals: `SELECT count(*) FILTER (WHERE signup.email = '') AS removals,
                      count(*) FILTER (WHERE signup.email <> '') AS frozen,
                      count(*) FILTER (WHERE signup.email = ''
                        AND ${markAt('removal.position')} IS NOT NULL) AS marked
                    FROM ${removals} WHERE tab.site = $1`,
  }
})

export const toTombstone = rowReader({ hash: String, upto: Number })
const toRemoval = rowReader({
  ...{ position: Number, tab: String, email: String, receivedAt: Number, mark: textOf },
})
const toUnfinished = rowReader({ removals: Number, frozen: Number, marked: Number })

/** How people are forgotten on one site. */
export function erasureOf(site: Site): Erasure {
  const { db, id, secret, noteErased, scrub } = site
  return {
    forget: (address) => {
      const hash = addressHash(secret, address)
      return bury(site, [{ hash, upto: forever }], true)
    },
    eraseNext: (after, address) => eraseNext(site, after, address?.toLowerCase()),
    tombstones: async (after = '') => {
      const [{ rows }] = await db.query([sql.tombstones, id, after])
      return rows.map(toTombstone)
    },
    adopt: async (tombstones) => {
      for (let at = 0; at < tombstones.length; at += buriedAtOnce) {
        await bury(site, tombstones.slice(at, at + buriedAtOnce))
      }
    },
    removals: async (after) => {
      const rows = await db.queryTogether(sql.removals, { site: id, after })
      return rows.map(toRemoval)
    },
    removed: async (position, outcome) => {
      await db.change(
        [siteLock(id)],
        [sql.noteOutcome, position, id, outcomeFact(position), JSON.stringify(outcome)],
        [sql.dropRemoval, position],
        ...noteErased(),
      )
    },
    takeOutcome: async (position) => {
      const taking: Step = [sql.takeOutcome, id, outcomeFact(position)]
      const [{ rows }] = await db.change([siteLock(id)], taking)
      return rows[0] && (JSON.parse(String(rows[0]['value'])) as RemovalOutcome)
    },
    unfinished: async () => {
      const [counts] = await db.query([sql.countRemovals, id])
      return toUnfinished(rowOf(counts))
    },
    scrub,
  }
}

/**
 * Returns the last position. The head is locked, too: an append that has looked for tombstones, and was
 * given its position, has committed by then. So it is covered by the tombstone, or knows it.
 */
async function bury(
  { db, id, noteErased }: Site,
  tombstones: readonly Tombstone[],
  isAll = false,
): Promise<number> {
  const [last] = await db.change(
    [headLock, siteLock(id)],
    [sql.last],
    ...tombstones.flatMap(({ hash, upto }): Step[] => [
      ...stepsToForget(id, hash, upto, isAll),
      ...noteErased(),
      ...stepsToBury(id, hash, upto),
    ]),
  )
  return positionIn(last)
}

/** Sets a tombstone of all signups up to a position that are there. It needs the lock of the head. */
export function stepsToBury(site: number, hash: string, upto: number = forever): readonly Step[] {
  return [
    [sql.bury, site, hash, upto],
    [sql.dropKept, site, hash],
  ]
}

/** Finds the positions of an address, in lower case, after `after` up to `end`: an index is not needed. */
export function stepToFindAddress(
  site: number,
  after: number,
  end: number,
  address: string | null,
): Step {
  return [sql.addressed, after, end, site, address]
}

async function eraseNext(
  site: Site,
  after: number,
  address: string | undefined,
): Promise<ErasedSlice> {
  // Let waiting requests run before each slice but the first.
  if (after > 0) await new Promise((resolve) => setImmediate(resolve))
  const { db, id, secret } = site
  const end = after + slicePositions
  const [{ rows }] = await db.query(stepToFindAddress(id, after, end, address ?? null))
  const wanted = await reading(db, forgottenAmong(id, hashedSignups(secret, rows)))
  const found = wanted.slice(0, erasedAtOnce)
  const erased =
    found.length === 0
      ? noneErased
      : await db.transact([siteLock(id)], () => eraseForgotten(site, found))
  const reached = wanted.length > found.length ? (found.at(-1) ?? end) : end
  const counted: Step[] = address === undefined ? [] : [[sql.mentions, after, reached, id, address]]
  const [last, mentions] = await db.query([sql.last], ...counted)
  const next = positionIn(last) > reached ? reached : undefined
  return { next, ...erased, mentions: mentions ? Number(rowOf(mentions)['count']) : 0 }
}

function positionIn(last: Answer): number {
  return Number(rowOf(last)['position'])
}

/** Name of the fact that has the outcome of a removal. */
function outcomeFact(position: number): string {
  return `removal of ${position}`
}
