import { statementsOf } from '../sql.ts'
import { challengeTokenMs, idempotencyKeyMs, type SiteRequest, timeOf } from '../tables/intake.ts'
import type { Step } from './connections.ts'

/**
 * Deletes what was stored more than $2 milliseconds before $1: the $3 oldest ones, and those of the same
 * millisecond. A machine's clock says $1. When that is ahead of the database's, the database's counts, so
 * it deletes nothing early that other machines have stored.
 */
function deletingOld(table: string): string {
  return `DELETE FROM ${table} WHERE stored_at <= (
    SELECT max(stored_at) FROM (
      SELECT stored_at FROM ${table} WHERE stored_at < (
        SELECT least($1, (extract(epoch FROM clock_timestamp()) * 1000)::bigint) - $2::bigint
      ) ORDER BY stored_at LIMIT $3
    ) AS oldest)`
}

const sql = statementsOf('postgres old keys', {
  keys: deletingOld('rollcall.idempotency_key'),
  tokens: deletingOld('rollcall.used_token'),
})

/**
 * The statements that delete keys and tokens that are no longer needed: up to two for each one that the
 * group stores, so the tables shrink as they are used.
 */
export function stepsToForgetOld(group: readonly SiteRequest[]): readonly Step[] {
  const at = Math.max(...group.map(timeOf))
  const keys = group.filter(({ terms }) => terms.idempotency).length
  const tokens = group.filter(({ terms }) => terms.token !== undefined).length
  const steps: Step[] = []
  if (keys > 0) steps.push([sql.keys, at, idempotencyKeyMs, 2 * keys])
  if (tokens > 0) steps.push([sql.tokens, at, challengeTokenMs, 2 * tokens])
  return steps
}
