import type { Millis } from '../../signup/signup.ts'
import { hourOf } from '../contracts/reader.ts'
import { addressHash } from '../hashes.ts'
import { type Dialect, type Row, statementsOf, type Step } from '../sql.ts'
import { rowStatus } from './layout.ts'
import { idOf } from './rows.ts'
import type { Site } from './site.ts'

/** The columns of the cells that `stepsToAppend` takes from a row. */
export const cellColumns = ['email', 'source', 'name', 'tags', 'metadata', 'fields'] as const

const sql = statementsOf('append one', (dialect) => ({
  append: `
    INSERT INTO signup (position, id, tab, received_at, confirmed_at, ${cellColumns.join(', ')}, row_status)
    VALUES (${dialect.lastPosition} + 1, ${dialect.id('$1')}, $2, $3, $4, $5, $6, $7, $8, $9, $10,
      ${statusOfNew(dialect, { email: '$5', tab: '$2', hash: '$11', site: '$12' })})`,
  moveLast: dialect.moveLast,
  countInTab: 'UPDATE tab SET accepted = accepted + 1 WHERE id = $1',
  countInHour: `INSERT INTO hour_accepted AS known (site, hour, count) VALUES ($1, $2, 1)
                ON CONFLICT (site, hour) DO UPDATE SET count = known.count + 1`,
}))

/**
 * Appends one signup to the list, and counts it. It needs the lock of the head.
 *
 * @param row its id, its `receivedAt` and its cells
 * @param tab the id of its tab
 */
export function stepsToAppend(
  { id: site, secret, policy }: Pick<Site, 'id' | 'secret' | 'policy'>,
  row: Row,
  tab: number,
  confirmedAt: Millis | null = null,
): readonly Step[] {
  const receivedAt = Number(row['receivedAt'])
  const cells = cellColumns.map((column) => String(row[column]))
  const hash = policy.duplicates === 'ignore' ? addressHash(secret, String(row['email'])) : null
  return [
    [sql.append, idOf(row['id']), tab, receivedAt, confirmedAt, ...cells, hash, site],
    [sql.moveLast],
    [sql.countInTab, tab],
    [sql.countInHour, site, hourOf(receivedAt)],
  ]
}

/**
 * The `row_status` of a signup that is appended now: `none` when its tab has the address, unless that was
 * forgotten. The sums keep PostgreSQL from reading a whole tab by another index than that of addresses.
 *
 * @param of SQL for its address, its tab, the site, and the hash of the address: null where duplicates are
 *   not ignored
 */
export function statusOfNew(
  { lower }: Dialect,
  { email, tab, hash, site }: Readonly<Record<'email' | 'tab' | 'hash' | 'site', string>>,
): string {
  return `CASE WHEN CAST(${hash} AS text) IS NOT NULL AND (EXISTS (
      SELECT 1 FROM signup AS earlier
      WHERE ${lower('earlier.email')} = ${lower(email)}
        AND earlier.tab + 0 = ${tab} AND earlier.position + 0 > coalesce((
          SELECT upto FROM tombstone
          WHERE site = ${site} AND hash = ${hash}), 0)
    ) OR EXISTS (SELECT 1 FROM kept_address WHERE tab = ${tab} AND hash = ${hash}))
    THEN ${rowStatus.none} ELSE ${rowStatus.wanted} END`
}
