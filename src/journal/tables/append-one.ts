import type { Millis } from '../../signup/signup.ts'
import { personOf } from '../hashes.ts'
import { type Dialect, type Row, statementsOf, type Step } from '../sql.ts'
import { rowStatus } from './layout.ts'
import { idOf } from './rows.ts'
import type { Site } from './site.ts'
import { stepToCount } from './tally.ts'

/** The columns of the cells that `stepsToAppend` takes from a row. */
export const cellColumns = ['email', 'source', 'name', 'tags', 'metadata', 'fields'] as const

const sql = statementsOf('append one', (dialect) => ({
  append: `
    INSERT INTO signup
      (position, id, tab, received_at, confirmed_at, ${cellColumns.join(', ')}, person, row_status)
    VALUES (${dialect.lastPosition} + 1, ${dialect.id('$1')}, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11,
      ${statusOfNew(dialect, { person: '$11', tab: '$2', hash: '$12', site: '$13' })})`,
  moveLast: dialect.moveLast,
  countInTab: 'UPDATE tab SET accepted = accepted + 1 WHERE id = $1',
}))

/**
 * Appends one signup to the list, and counts it. It needs the lock of the head.
 *
 * @param row its id, its `receivedAt` and its cells
 * @param tab the id of its tab
 */
export function stepsToAppend(
  { id: site, hashOf, policy }: Pick<Site, 'id' | 'hashOf' | 'policy'>,
  row: Row,
  tab: number,
  confirmedAt: Millis | null = null,
): readonly Step[] {
  const receivedAt = Number(row['receivedAt'])
  const cells = cellColumns.map((column) => String(row[column]))
  const hash = hashOf(String(row['email']))
  const person = [personOf(hash), policy.duplicates === 'ignore' ? hash : null, site]
  return [
    [sql.append, idOf(row['id']), tab, receivedAt, confirmedAt, ...cells, ...person],
    [sql.moveLast],
    [sql.countInTab, tab],
    stepToCount(site, 'accepted', receivedAt),
  ]
}

/**
 * The `row_status` of a signup that is appended now: `none` when its tab has the person, unless that was
 * forgotten.
 *
 * @param of SQL for its person, its tab, the site, and the hash of the address: null where duplicates are
 *   not ignored
 */
export function statusOfNew(
  { ofPerson }: Dialect,
  { person, tab, hash, site }: Readonly<Record<'person' | 'tab' | 'hash' | 'site', string>>,
): string {
  const after = `coalesce((SELECT upto FROM tombstone WHERE site = ${site} AND hash = ${hash}), 0)`
  return `CASE WHEN CAST(${hash} AS text) IS NOT NULL AND EXISTS (
      SELECT 1 FROM signup AS earlier WHERE ${ofPerson({ signup: 'earlier', person, tab, after })}
    ) THEN ${rowStatus.none} ELSE ${rowStatus.wanted} END`
}
