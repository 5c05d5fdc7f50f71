import { overflowKeyOf } from '../../signup/closing.ts'
import type { Millis } from '../../signup/signup.ts'
import { personOf } from '../hashes.ts'
import { type Dialect, type Row, statementsOf, type Step } from '../sql.ts'
import { isOf, rowStatus } from './layout.ts'
import { idOf } from './rows.ts'
import { stepToCountIfSeatless } from './seats.ts'
import type { Site } from './site.ts'
import type { Tab } from './tabs.ts'
import { stepToCount } from './tally.ts'

/** The columns of the cells that `stepsToAppend` takes from a row. */
export const cellColumns = ['email', 'source', 'name', 'tags', 'metadata', 'fields'] as const

const sql = statementsOf('append one', (dialect) => ({
  append: append(dialect, { person: '$11', tab: '$2', hash: '$12', site: '$13' }),
  appendBeyond: append(dialect, { person: '$11', hash: '$12', site: '$13' }),
  moveLast: dialect.moveLast,
  countInTab: 'UPDATE tab SET accepted = accepted + 1 WHERE id = $1',
}))

function append(dialect: Dialect, of: Parameters<typeof statusOfNew>[1]): string {
  return `
    INSERT INTO signup
      (position, id, tab, received_at, confirmed_at, ${cellColumns.join(', ')}, person, row_status)
    VALUES (${dialect.lastPosition} + 1, ${dialect.id('$1')}, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11,
      ${statusOfNew(dialect, of)})`
}

/**
 * Appends one signup to the list, and counts it. It needs the lock of the head.
 *
 * @param row its id, its `receivedAt` and its cells
 * @param tab its tab
 */
export function stepsToAppend(
  site: Pick<Site, 'id' | 'hashOf' | 'policy'>,
  row: Row,
  tab: Pick<Tab, 'id' | 'key'>,
  confirmedAt: Millis | null = null,
): readonly Step[] {
  const { id, hashOf, policy } = site
  const isBeyond = tab.key === overflowKeyOf(policy.closing)
  const receivedAt = Number(row['receivedAt'])
  const cells = cellColumns.map((column) => String(row[column]))
  const hash = hashOf(String(row['email']))
  const person = [personOf(hash), policy.duplicates === 'ignore' ? hash : null, id]
  const signup = idOf(row['id'])
  const values = [signup, tab.id, receivedAt, confirmedAt, ...cells, ...person] as const
  return [
    [isBeyond ? sql.appendBeyond : sql.append, ...values],
    [sql.moveLast],
    [sql.countInTab, tab.id],
    stepToCount(id, 'accepted', receivedAt),
    stepToCountIfSeatless(site, signup),
  ]
}

/**
 * The `row_status` of a signup that is appended now: `none` when its tab has the person, unless that was
 * forgotten.
 *
 * @param of SQL for its person, its tab, the site, and the hash of the address: null where duplicates are
 *   not ignored. Without a tab, any tab of the site counts.
 */
export function statusOfNew(
  { ofPerson }: Dialect,
  of: Readonly<Record<'person' | 'hash' | 'site', string>> & { readonly tab?: string | undefined },
): string {
  const { person, tab, hash, site } = of
  const after = `coalesce((SELECT upto FROM tombstone WHERE site = ${site} AND hash = ${hash}), 0)`
  const earlier = (tab: string) =>
    `SELECT 1 FROM signup AS earlier WHERE ${ofPerson({ signup: 'earlier', person, tab, after })}`
  // From one tab to the next that has the person: a site has many tabs, and a person may be in one a thousand times.
  const anywhere = `WITH RECURSIVE been (tab) AS (
      SELECT 0 UNION ALL SELECT (
        SELECT next.tab FROM signup AS next
        WHERE (next.person, next.tab) > (${person}, been.tab) AND next.person <= ${person}
          AND next.person IS NOT NULL AND ${isOf('next.', 'listed')}
        ORDER BY next.person, next.tab, next.position LIMIT 1
      ) FROM been WHERE been.tab IS NOT NULL
    ) SELECT 1 FROM been
    WHERE (SELECT site FROM tab WHERE tab.id = been.tab) = ${site} AND EXISTS (${earlier('been.tab')})`
  return `CASE WHEN CAST(${hash} AS text) IS NOT NULL AND EXISTS (
      ${tab === undefined ? anywhere : earlier(tab)}
    ) THEN ${rowStatus.none} ELSE ${rowStatus.wanted} END`
}
