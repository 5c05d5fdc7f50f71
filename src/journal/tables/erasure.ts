import type { ErasedSlice, Erasure, Tombstone } from '../contracts/erasure.ts'
import { addressHash, personOf } from '../hashes.ts'
import {
  flagOf,
  givenPositions,
  headLock,
  reading,
  rowReader,
  siteLock,
  statementsOf,
  type Step,
  rowOf,
} from '../sql.ts'
import { stepsToForget } from './pending/pending.ts'
import {
  eraseListed,
  forgottenAmong,
  hashedSignups,
  noneErased,
  stepToFindAddress,
} from './erase.ts'
import { findLast, positionIn } from './rows.ts'
import type { Site } from './site.ts'
import { sparedBeside } from './spared.ts'

/** How many positions one slice reads. That takes SQLite two milliseconds for one address. */
const slicePositions = 2_000
/** At most how many tombstones one transaction sets. */
const buriedAtOnce = 1_000
const forever = Number.MAX_SAFE_INTEGER
/** At most how many signups one transaction erases. */
const erasedAtOnce = 100

const sql = statementsOf('erasure', (dialect) => {
  const { given, lower, signupAt, ofEach, ofPerson, lastPosition } = dialect
  // The signups of the site $3 after $1 up to $2. A join with the tab might begin with all its signups.
  const isBetween = 'FROM signup WHERE position > $1 AND position <= $2'
  const isOfSite = '(SELECT site FROM tab WHERE tab.id = signup.tab) = $3'
  const cells = `source || ' ' || name || ' ' || tags || ' ' || metadata || ' ' || fields`
  // The removals, each with its signup and tab.
  const removals = `removal ${signupAt('removal.position')} JOIN tab ON tab.id = signup.tab`
  return {
    // A tombstone covers no position that is given later.
    bury: `
      INSERT INTO tombstone (site, hash, upto) VALUES ($1, $2,
        CASE WHEN CAST($3 AS bigint) < ${lastPosition} THEN CAST($3 AS bigint) ELSE ${lastPosition} END)
      ON CONFLICT (site, hash) DO UPDATE SET upto = excluded.upto WHERE excluded.upto > tombstone.upto`,
    // What has outlived its cells is the first of the person in its tab.
    dropKept: `UPDATE signup SET person = NULL WHERE email = '' AND position <= $3 AND position IN (
                 SELECT (SELECT position FROM signup AS first
                         WHERE ${ofPerson({ signup: 'first', person: '$2', tab: 'tab.id', after: '0' })}
                         ORDER BY person, tab, position LIMIT 1)
                 FROM tab WHERE site = $1)`,
    mentions: `SELECT count(*) AS count ${isBetween} AND ${isOfSite}
               AND ${lower('email')} <> $4 AND replace(${lower(cells)}, $4, '') <> ${lower(cells)}`,
    tombstones: `SELECT hash, upto FROM tombstone
                 WHERE site = $1 AND hash > $2 ORDER BY hash LIMIT 1000`,
    removals: ofEach({
      each: given('asked', '$1', { site: 'integer', after: 'number', no: 'integer' }),
      no: 'asked.no',
      columns: `removal.position, removal.email, tab.name AS tab, signup.received_at AS "receivedAt",
        removal.is_leaving AS "isLeaving"`,
      from: `${removals} WHERE removal.position > asked.after AND signup.email = ''
             AND tab.site = asked.site`,
      order: 'removal.position',
      limit: 100,
    }),
    // Who is forgotten after they have left waits behind nobody.
    hasten: `UPDATE removal SET is_leaving = false
             WHERE is_leaving AND ${lower('email')} = ${lower('$1')}`,
    dropRemovals: `DELETE FROM removal
                   WHERE position IN (SELECT position FROM ${given('done', '$1', { position: 'number' })})`,
    countRemovals: `SELECT count(*) FILTER (WHERE signup.email = '') AS removals,
                      count(*) FILTER (WHERE signup.email <> '') AS frozen
                    FROM ${removals} WHERE tab.site = $1`,
  }
})

export const toTombstone = rowReader({ hash: String, upto: Number })
const toRemoval = rowReader({
  ...{ position: Number, tab: String, email: String, receivedAt: Number },
  isLeaving: flagOf,
})
const toUnfinished = rowReader({ removals: Number, frozen: Number })

/** How people are forgotten on one site. */
export function erasureOf(site: Site): Erasure {
  const { db, id, secret, noteErased, scrub } = site
  return {
    forget: async (address) => {
      const hash = addressHash(secret, address)
      const last = await bury(site, [{ hash, upto: forever }], true)
      await db.change([siteLock(id)], [sql.hasten, address])
      return last
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
    spared: (rows) => sparedBeside(site, rows),
    removed: async (positions) => {
      const dropping: Step = [sql.dropRemovals, givenPositions(positions)]
      await db.change([siteLock(id)], dropping, ...noteErased())
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
    findLast,
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
  return [[sql.bury, site, hash, upto], stepToDropKept(site, personOf(hash), upto)]
}

/** Lets nothing know a person any more by a signup that has expired. */
export function stepToDropKept(site: number, person: string, upto: number = forever): Step {
  return [sql.dropKept, site, person, upto]
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
      : await db.transact([siteLock(id)], () => eraseListed(site, found))
  const reached = wanted.length > found.length ? (found.at(-1) ?? end) : end
  const counted: Step[] = address === undefined ? [] : [[sql.mentions, after, reached, id, address]]
  const [last, mentions] = await db.query(findLast, ...counted)
  const next = positionIn(last) > reached ? reached : undefined
  return { next, ...erased, mentions: mentions ? Number(rowOf(mentions)['count']) : 0 }
}
