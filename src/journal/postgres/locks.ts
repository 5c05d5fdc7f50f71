import type { Step } from './database.ts'
import { statementsOf } from './statement.ts'

const sql = statementsOf('locks', {
  head: 'SELECT position FROM rollcall.head FOR UPDATE',
  site: 'SELECT id FROM rollcall.site WHERE id = $1 FOR UPDATE',
})

/**
 * Lets one transaction at a time add signups or tabs. A transaction that needs this lock and that of a
 * site takes this one first.
 */
export const headLock: Step = [sql.head]

/** Lets one transaction at a time change what a site has delivered, noted or erased. */
export function siteLock(site: number): Step {
  return [sql.site, site]
}
