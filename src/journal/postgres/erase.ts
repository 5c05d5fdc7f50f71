import { restoredFact } from '../contracts/delivery-log.ts'
import { isCovered, outcomeOfErasing } from '../erased-signup.ts'
import type { ErasedSlice } from '../contracts/erasure.ts'
import { addressHash } from '../hashes.ts'
import type { Queries, Step, Transaction } from './database.ts'
import { factOf } from './facts.ts'
import { joinSignupAt } from './rows.ts'
import type { PostgresSite } from './site.ts'
import { statementsOf } from './statement.ts'

/** Erasures that are part of a larger transaction, which holds the lock of the site. */

// The forgotten signups of the batch $1 that still have their cells.
const held = `
  SELECT removal.position, removal.position <= coalesce(progress.written_to, 0) AS is_written
  FROM rollcall.removal
  ${joinSignupAt('removal.position')}
  LEFT JOIN rollcall.progress ON progress.tab = signup.tab
  WHERE signup.email <> '' AND (EXISTS (
    SELECT 1 FROM rollcall.batch_range
    WHERE batch = $1 AND batch_range.tab = signup.tab
      AND removal.position > after AND removal.position <= upto
  ) OR EXISTS (
    SELECT 1 FROM rollcall.redelivery
    WHERE batch = $1 AND redelivery.position = removal.position))`

/** What an erased signup has in its cells. */
export const erasedCells = `email = '', source = '', name = '', tags = '', metadata = '', fields = ''`

const sql = statementsOf('erase', {
  tombstonesOf:
    'SELECT hash, upto FROM rollcall.tombstone WHERE site = $1 AND hash = ANY($2::text[])',
  erasable: `
    SELECT signup.position, email, is_ignored AS "isIgnored",
      signup.position <= coalesce(written_to, 0) AS "isWritten",
      EXISTS (
        SELECT 1 FROM rollcall.batch JOIN rollcall.batch_range ON batch_range.batch = batch.number
        WHERE batch.site = $1 AND settled_at IS NULL AND batch_range.tab = signup.tab
          AND signup.position > after AND signup.position <= upto
      ) OR EXISTS (
        SELECT 1 FROM rollcall.redelivery
        WHERE redelivery.tab = signup.tab AND redelivery.position = signup.position
          AND batch IS NOT NULL
      ) AS "isFrozen"
    FROM rollcall.signup LEFT JOIN rollcall.progress ON progress.tab = signup.tab
    WHERE signup.position = ANY($2::bigint[]) AND email <> ''`,
  addRemovals: `
    INSERT INTO rollcall.removal (position, email)
    SELECT * FROM unnest($1::bigint[], $2::text[]) ON CONFLICT DO NOTHING`,
  // A signup that waits to be delivered once more counts as not written.
  dropRedeliveries: `
    WITH dropped AS (
      DELETE FROM rollcall.redelivery
      WHERE batch IS NULL AND (tab, position) IN (
        SELECT tab, position FROM rollcall.signup WHERE position = ANY($1::bigint[]))
      RETURNING tab)
    UPDATE rollcall.progress
    SET written = written + (SELECT count(*) FROM dropped WHERE dropped.tab = progress.tab)
    WHERE tab IN (SELECT tab FROM dropped)`,
  erase: `
    UPDATE rollcall.signup
    SET ${erasedCells},
      is_ignored = CASE WHEN is_ignored <> 0 OR position = ANY($2::bigint[]) THEN 1 ELSE 0 END
    WHERE position = ANY($1::bigint[])`,
  written: `
    WITH held AS (${held})
    UPDATE rollcall.signup
    SET ${erasedCells}, is_ignored = CASE WHEN is_ignored = 0 THEN 0 ELSE 1 END
    FROM held WHERE signup.position = held.position`,
  // A signup that was to be delivered once more may have a row.
  released: `
    WITH held AS (${held}),
    erased AS (
      UPDATE rollcall.signup
      SET ${erasedCells},
        is_ignored = CASE WHEN is_ignored = 0 AND held.is_written THEN 0 ELSE 1 END
      FROM held WHERE signup.position = held.position)
    DELETE FROM rollcall.removal
    WHERE position IN (SELECT position FROM held WHERE NOT is_written)`,
})

/** Erases the forgotten signups of a batch that was settled. Their rows have to be removed. */
export function eraseWritten(batch: number): Step {
  return [sql.written, batch]
}

/**
 * Erases the forgotten signups of a batch that was released. They get no row by it. To run while the
 * batch still has its ranges.
 */
export function eraseReleased(batch: number): Step {
  return [sql.released, batch]
}

/** A signup with an address. */
export interface AddressedSignup {
  readonly position: number
  readonly email: string
}

type Erased = Pick<ErasedSlice, 'unwritten' | 'written' | 'frozen'>

export const noneErased: Erased = { unwritten: 0, written: [], frozen: [] }

/** Those of these signups that a tombstone covers. */
export async function forgottenAmong<Signup extends AddressedSignup>(
  queries: Queries,
  { id, secret }: Pick<PostgresSite, 'id' | 'secret'>,
  signups: readonly Signup[],
): Promise<readonly Signup[]> {
  if (signups.length === 0) return []
  const hashes = signups.map(({ email }) => addressHash(secret, email))
  const tombstones = await queries.all(sql.tombstonesOf, id, [...new Set(hashes)])
  const uptos = new Map(tombstones.map((row) => [String(row['hash']), Number(row['upto'])]))
  return signups.filter(({ position }, at) => isCovered(position, uptos.get(hashes[at] ?? '')))
}

/** Erases forgotten signups of a site. Leaves out those that another process has erased meanwhile. */
export async function eraseForgotten(
  transaction: Transaction,
  site: number,
  found: readonly AddressedSignup[],
): Promise<Erased> {
  const [rows, restoredTo] = await Promise.all([
    transaction.all(sql.erasable, site, positionsOf(found)),
    factOf(transaction, site, restoredFact),
  ])
  const signups = rows.map((row) => {
    const signup = {
      position: Number(row['position']),
      email: String(row['email']),
      isIgnored: Number(row['isIgnored']),
      isWritten: row['isWritten'] === true,
      isFrozen: row['isFrozen'] === true,
    }
    return { ...signup, ...outcomeOfErasing(signup, Number(restoredTo ?? 0)) }
  })
  const removals = signups.filter(({ kind }) => kind !== 'unwritten')
  const erasable = signups.filter(({ kind }) => kind !== 'frozen')
  const rowless = signups.filter(({ isRowless }) => isRowless)
  await Promise.all([
    transaction.run(
      sql.addRemovals,
      positionsOf(removals),
      removals.map(({ email }) => email),
    ),
    transaction.run(sql.dropRedeliveries, positionsOf(erasable)),
    transaction.run(sql.erase, positionsOf(erasable), positionsOf(rowless)),
  ])
  return {
    unwritten: signups.length - removals.length,
    written: positionsOf(removals.filter(({ kind }) => kind === 'written')),
    frozen: positionsOf(removals.filter(({ kind }) => kind === 'frozen')),
  }
}

function positionsOf(signups: readonly Pick<AddressedSignup, 'position'>[]): readonly number[] {
  return signups.map(({ position }) => position)
}
