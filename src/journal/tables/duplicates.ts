import type { Dialect } from '../sql.ts'
import { rowStatus } from './layout.ts'

/**
 * The `row_status` of a signup that is appended now: `none` when its tab has the address, unless that was
 * forgotten. The sums keep PostgreSQL from reading a whole tab by another index than that of addresses.
 *
 * @param of SQL for its address, its tab, the hash of the address and, where it is known, the site of the tab.
 *   The hash is null where duplicates are not ignored
 */
export function statusOfNew(
  { lower }: Dialect,
  of: Readonly<Record<'email' | 'tab' | 'hash', string>> & { readonly site?: string },
): string {
  const { email, tab, hash, site = `(SELECT site FROM tab WHERE tab.id = ${tab})` } = of
  return `CASE WHEN CAST(${hash} AS text) IS NOT NULL AND (EXISTS (
      SELECT 1 FROM signup AS earlier
      WHERE ${lower('earlier.email')} = ${lower(email)}
        AND earlier.tab + 0 = ${tab} AND earlier.position + 0 > coalesce((
          SELECT upto FROM tombstone
          WHERE site = ${site} AND hash = ${hash}), 0)
    ) OR EXISTS (SELECT 1 FROM kept_address WHERE tab = ${tab} AND hash = ${hash}))
    THEN ${rowStatus.none} ELSE ${rowStatus.wanted} END`
}

/** Counts a signup that was appended alone: in its tab $1, and in the hour $2 of the site $1. */
export const countingOne = {
  countInTab: 'UPDATE tab SET accepted = accepted + 1 WHERE id = $1',
  countInHour: `INSERT INTO hour_accepted AS known (site, hour, count) VALUES ($1, $2, 1)
                ON CONFLICT (site, hour) DO UPDATE SET count = known.count + 1`,
} as const
