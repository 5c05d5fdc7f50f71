import { type Clock, systemClock } from '../../platform/clock.ts'
import type { Appended } from '../contracts/intake-log.ts'
import {
  type Commit,
  type OpenJournal,
  type OpenReader,
  type SitePolicies,
} from '../contracts/journal.ts'
import { Listeners } from '../../platform/listeners.ts'
import type { SiteRequest } from '../tables/intake.ts'
import { journalOf, openJournal, type SiteEngine } from '../tables/journal.ts'
import { readersIn } from '../tables/reader.ts'
import { appendGroup, importsIn } from './appends.ts'
import { SqliteDatabase } from './database.ts'
import { GroupCommit } from './group-commit.ts'
import type { Access } from './open-database.ts'
import { openSite } from './site.ts'
import { logProgram } from './write-ahead-log.ts'

export interface SqliteOptions {
  /** `beside` when a service may have the journal open with other settings. */
  readonly access?: Exclude<Access, 'read'>
  readonly clock?: Pick<Clock, 'elapsed' | 'sleep'>
  /** Called in each transaction before its changes. When it throws, nothing is changed. */
  readonly assertWritable?: () => void
}

/**
 * Opens the journal in this SQLite file with these sites. Makes or migrates its tables if necessary, and
 * adds the sites that it does not have. What somebody waits for is synced to disk. Any number of processes may have
 * the file open.
 *
 * @throws Error when the file is not a journal, or was written by a newer version.
 */
export function openSqliteSites(
  file: string,
  policies: SitePolicies,
  options: SqliteOptions = {},
): OpenJournal {
  const { access = 'own', clock = systemClock, assertWritable } = options
  const db = new SqliteDatabase(file, { access, clock, assertWritable })
  try {
    const sites = sitesOn(db, policies, { clock })
    // What opens the sites waits for no other writer.
    if (access === 'own') db.log.useThread(logProgram)
    return sites
  } catch (error) {
    db[Symbol.dispose]()
    throw error
  }
}

/** The journal on a connection of its own. Disposing closes the connection. */
export function sitesOn(
  db: SqliteDatabase,
  policies: SitePolicies,
  { clock = systemClock }: Pick<SqliteOptions, 'clock'>,
): OpenJournal {
  const commits = new Listeners<Commit>()
  const appends = new GroupCommit<SiteRequest, Appended>(
    (group) => appendGroup(db, group, clock, commits),
    clock,
  )
  const sites = Array.from(policies, ([name, policy]) => {
    const site = openSite(db, name, policy)
    const imports = importsIn(db, site)
    return [name, journalOf(site, { ...onOneMachine, appends, imports })] as const
  })
  return openJournal(db, new Map(sites), commits, async () => {
    await db.log[Symbol.asyncDispose]()
    db[Symbol.dispose]()
  })
}

/** What is so where all processes are on one machine. */
const onOneMachine: Pick<SiteEngine, 'waitingMax' | 'lease' | 'assertDelivers'> = {
  // That takes a millisecond at most.
  waitingMax: 100,
  // The service that has locked `DATA_DIR` is the only one, so it always holds the lease.
  lease: {
    hold: async () => ({ kind: 'held', term: 1, forMs: Infinity }),
    release: async () => undefined,
  },
  *assertDelivers() {
    yield []
  },
}

/**
 * Opens the journal in this SQLite file for reading only, beside a service. Changes nothing.
 *
 * @param names of sites to read that it may not have: they have no signups then
 * @throws Error when there is no such file, or when it is no journal of this version
 */
export async function openSqliteReader(
  file: string,
  names: readonly string[] = [],
  { clock = systemClock }: Pick<SqliteOptions, 'clock'> = {},
): Promise<OpenReader> {
  const db = new SqliteDatabase(file, { access: 'read', clock })
  return {
    sites: await readersIn(db, names),
    [Symbol.asyncDispose]: async () => db[Symbol.dispose](),
  }
}
