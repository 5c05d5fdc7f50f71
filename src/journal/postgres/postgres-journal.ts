import { type Clock, systemClock } from '../../platform/clock.ts'
import type { Journal } from '../journal.ts'
import { defaultPolicy, type JournalPolicy } from '../policy.ts'
import { type DatabaseOptions, PostgresDatabase } from './database.ts'
import { PostgresIntakeLog } from './intake-log.ts'
import { PostgresLease } from './lease.ts'
import { makeAddressIndex, migrate } from './migrate.ts'
import { PostgresReader } from './reader.ts'
import { openSite, type PostgresSite } from './site.ts'

export interface PostgresOptions extends Pick<DatabaseOptions, 'limits'> {
  /** The name of the site. */
  readonly site?: string
  readonly clock?: Pick<Clock, 'elapsed' | 'sleep'>
}

export type PostgresJournal = Pick<
  Journal,
  'intake' | 'reader' | 'lease' | typeof Symbol.asyncDispose
>

/**
 * Opens the journal in the database of this URL. Makes or migrates its tables if necessary. Any number of
 * processes may have it open.
 *
 * @throws JournalUnavailable when the database cannot be used; Error when a newer version made the journal
 */
export async function openPostgresJournal(
  url: string,
  policy: Partial<JournalPolicy> = {},
  options: PostgresOptions = {},
): Promise<PostgresJournal> {
  const { clock = systemClock } = options
  const site = await openPostgresSite(url, policy, options)
  const intake = new PostgresIntakeLog(site, clock)
  return {
    intake,
    reader: new PostgresReader(site),
    lease: new PostgresLease(site),
    [Symbol.asyncDispose]: async () => {
      await intake.drain()
      await site.db.close()
    },
  }
}

/** Opens a site of the journal in the database of this URL. Makes or migrates its tables if necessary. */
export async function openPostgresSite(
  url: string,
  policy: Partial<JournalPolicy> = {},
  { site = 'default', clock = systemClock, limits }: PostgresOptions = {},
): Promise<PostgresSite> {
  const db = new PostgresDatabase(url, { clock, limits })
  try {
    await migrate(db)
    if (policy.duplicates === 'ignore') await makeAddressIndex(db)
    return await openSite(db, site, { ...defaultPolicy, ...policy })
  } catch (error) {
    await db.close()
    throw error
  }
}
