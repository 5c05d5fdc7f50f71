import { type Clock, systemClock } from '../../platform/clock.ts'
import { defaultPolicy, type JournalPolicy } from '../policy.ts'
import { type DatabaseOptions, PostgresDatabase } from './database.ts'
import { makeAddressIndex, migrate } from './migrate.ts'
import { openSite, type PostgresSite } from './site.ts'

export interface PostgresOptions extends Pick<DatabaseOptions, 'limits'> {
  /** The name of the site. */
  readonly site?: string
  readonly clock?: Pick<Clock, 'elapsed' | 'sleep'>
}

/** Opens the journal in the database of this URL. Makes or migrates its tables if necessary. */
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
