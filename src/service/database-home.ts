import type { Config } from '../config/config.ts'
import { ConfigError } from '../config/problem.ts'
import type { OpenJournal } from '../journal/contracts/journal.ts'
import { openPostgresReader, openPostgresSites } from '../journal/postgres/postgres-journal.ts'
import { Unreachable } from '../journal/postgres/reach.ts'
import {
  hasLeaseholder,
  readServerFacts,
  type ServerFacts,
} from '../journal/postgres/server-facts.ts'
import { openSqliteSites } from '../journal/sqlite/sqlite-journal.ts'
import { JournalUnavailable } from '../journal/contracts/errors.ts'
import { accessProblem, type Needs, risksOf } from '../operations/database-findings.ts'
import { policiesOf } from './journal-policy.ts'
import { leftBehindHint, oldJournalIn } from './data-folder.ts'
import type { ForeignCopies, Hold, JournalHome } from '../operations/journal-home.ts'
import { patiently } from './patiently.ts'
import type { World } from './world.ts'

/** For how long a start tries to reach a database that is not up yet, and how often. */
const patience = {
  maxMs: 60_000,
  restMs: 1_000,
  mayPass: (error: Error) =>
    error instanceof JournalUnavailable ||
    (error instanceof Unreachable && error.reason.mayPass === true),
} as const

/** The journal is in a PostgreSQL database, which any number of services share. Nothing is on disk here. */
export function databaseHome(
  config: Config,
  url: string,
  { clock }: Pick<World, 'clock'>,
): JournalHome {
  const openBeside = (others?: Iterable<string>) =>
    openPostgresSites(url, policiesOf(config, others), { clock })
  const expectAccess = (needs: Needs = 'writing') => readUsable(url, config, needs)
  return {
    async open(starting) {
      const { log } = starting
      const onNewSecret = () => log.warn({ hint: newSecretHint }, newSecretWords)
      const open = async () => {
        const facts = await expectAccess()
        const journal = await openPostgresSites(url, policiesOf(config), { clock, onNewSecret })
        return { facts, journal }
      }
      const { facts, journal } = await patiently(open, { ...starting, ...patience, clock })
      for (const { message, hint } of risksOf(facts)) log.warn({ hint }, `the database ${message}`)
      const old = oldJournalIn(config.dataDir)
      if (old && !old.isMoved) {
        log.warn(
          { file: old.path, hint: leftBehindHint },
          'DATA_DIR has a journal that is not used',
        )
      }
      return journal
    },
    async openBeside(others) {
      await expectAccess()
      return openBeside(others)
    },
    async openForTrial(): Promise<OpenJournal> {
      const { tables } = await expectAccess()
      if (tables === 0) return openSqliteSites(':memory:', policiesOf(config), { clock })
      // Refuses what is no journal of this version. To open it for writing would make one.
      await (await openPostgresReader(url, [], { clock }))[Symbol.asyncDispose]()
      return openBeside()
    },
    async openReader() {
      await expectAccess('reading')
      const names = config.sites.map(({ name }) => name)
      return openPostgresReader(url, names, { clock })
    },
    hold: async () => nothingToHold,
    isInUse: () => hasLeaseholder(url),
    filesWith: async () => undefined,
    leftBehind: () => oldJournalIn(config.dataDir),
    copies,
  }
}

/**
 * Reads the facts of the database of this URL.
 *
 * @throws ConfigError when it cannot be used until a person acts; Unreachable when waiting may help; Error
 *   when it is a standby: a failover may make it the primary, so whoever starts the service may try again
 */
export async function readUsable(
  url: string,
  { database }: Pick<Config, 'database'>,
  needs: Needs,
): Promise<ServerFacts> {
  const refuse = (message: string, hint: string, cause?: unknown) => {
    const problem = {
      setting: 'DATABASE_URL',
      problem: `names a database that ${message}.`,
      given: `${database?.name ?? ''} on ${database?.host ?? ''}`,
      expected: 'a database in which its user may make, read and change the tables of Rollcall',
      hint,
    }
    return new ConfigError([problem], { cause })
  }
  const facts = await readServerFacts(url).catch((error: unknown) => {
    if (!(error instanceof Unreachable) || error.reason.mayPass) throw error
    throw refuse(error.reason.why, error.reason.hint, error)
  })
  const problem = accessProblem(facts, needs)
  if (!problem) return facts
  const { message, hint, isStandby } = problem
  if (isStandby) throw new Error(`The database of DATABASE_URL ${message}. ${hint}`)
  throw refuse(message, hint)
}

const newSecretWords =
  'the key of the hashes was missing in the database: a new one was made, and the journal does not recognize ' +
  'who was forgotten or an Idempotency-Key of before'
const newSecretHint =
  'When you have a backup of the table rollcall.secret, stop all instances, and restore it.'

/** The lease of the journal makes one service at a time deliver. */
const nothingToHold: Hold = {
  keepPrivate: async () => undefined,
  watch: () => {},
  [Symbol.dispose]: () => {},
}

const copies: ForeignCopies = {
  kind: 'foreign',
  toBackUp:
    'The journal is in PostgreSQL, so its own tools back it up while services run: ' +
    'umask 077; PGSERVICE=rollcall pg_dump --schema=rollcall --exclude-table-data=rollcall.secret --format=custom --file=FILE; ' +
    'or pg_basebackup with an archive of the log, for every moment. docs/scaling.md says how to write the ' +
    'service file, which has the password, and how to back up the secret.',
  toRestore:
    'The journal is in PostgreSQL, so its own tools restore it, while no service runs: ' +
    'pg_restore --clean --if-exists --single-transaction --dbname=service=rollcall FILE, and then the same with the ' +
    'dump of the secret. Read docs/scaling.md before: what was written to the spreadsheet after the backup would be written again.',
}
