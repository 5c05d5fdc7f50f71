import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createGoogleWorld } from '../../harness/google-world.ts'
import { allDelivered } from '../../harness/delivery-state.ts'
import { startPostgres } from '../../harness/postgres-server.ts'
import { readTab } from '../../harness/read-workbook.ts'
import { type RunningService, startService } from '../../harness/start-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import { readJournal } from './crash-load.ts'
import { Instances } from './instances.ts'
import { journalOf } from './journal-of.ts'

type Env = Readonly<Record<string, string>>

/** A service that is killed and started again, on one journal. */
export interface MailLives extends AsyncDisposable {
  /** How long a round is at least, and by how much one may be longer. */
  readonly shortestMs: number
  readonly spreadMs: number
  nextUrl(): string
  /** @param look runs when the process has ended, before another one starts in its place */
  kill(random: () => number, look: () => Promise<void>): Promise<void>
  /** The ids of the mails that the journal has made for a signup, and counted before they were sent. */
  countedMessages(): Promise<ReadonlySet<string>>
  allDelivered(): Promise<void>
  /** Ends it. Resolves with the addresses in the list of the journal and in the spreadsheet, both in order. */
  end(): Promise<{ readonly listed: readonly string[]; readonly rows: readonly string[] }>
}

export function livesOn(store: 'file' | 'database', env: Env): Promise<MailLives> {
  return store === 'file' ? livesOnFile(env) : livesOnDatabase(env)
}

const countedSql = (schema: string) => `
  SELECT id FROM ${schema}message AS message
  WHERE EXISTS (SELECT 1 FROM ${schema}sending AS sending WHERE sending.message = message.number)
    AND EXISTS (SELECT 1 FROM ${schema}pending AS pending WHERE pending.person = message.person)`

async function livesOnFile(env: Env): Promise<MailLives> {
  await using stack = new AsyncDisposableStack()
  const { path: dataDir } = stack.use(await tempFolder())
  const start = () => startService({ dataDir, env })
  let service: RunningService = await start()
  stack.defer(async () => {
    await service.stop()
  })
  const all = stack.move()
  return {
    ...{ shortestMs: 300, spreadMs: 2200 },
    nextUrl: () => service.url,
    kill: async (_, look) => {
      await service.kill()
      await look()
      service = await start()
    },
    countedMessages: async () => {
      using database = new DatabaseSync(join(dataDir, 'journal.db'), { readOnly: true })
      return new Set(
        database
          .prepare(countedSql(''))
          .all()
          .map(({ id }) => String(id)),
      )
    },
    allDelivered: () => allDelivered(service),
    end: async () => {
      await service.stop()
      const listed = readJournal(dataDir).map(({ email }) => email)
      const rows = readTab(dataDir, 'Sheet1.csv').slice(1)
      return { listed, rows: rows.map(([email = '']) => email) }
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

async function livesOnDatabase(env: Env): Promise<MailLives> {
  await using stack = new AsyncDisposableStack()
  const server = stack.use(await startPostgres())
  const database = stack.use(await server.createDatabase())
  const world = stack.use(await createGoogleWorld())
  const instances = stack.use(
    await Instances.start(2, {
      ...{ ...world.env, ...env, DATABASE_URL: database.url },
      SHEETS_REQUESTS_PER_MINUTE: '3000',
    }),
  )
  const all = stack.move()
  return {
    // The other instance takes over within ten seconds.
    ...{ shortestMs: 1000, spreadMs: 12_000 },
    nextUrl: () => instances.nextUrl(),
    kill: (random, look) => instances.kill(Math.floor(random() * 2), look),
    countedMessages: async () => {
      const rows = await database.query(countedSql('rollcall.'))
      return new Set(rows.map(({ id }) => String(id)))
    },
    allDelivered: () => instances.allDelivered(),
    end: async () => {
      await instances.end()
      const { signups } = await journalOf(database.url)
      const rows = ((await world.rows('Sheet1')) ?? []).slice(1)
      return {
        listed: signups.map(({ email }) => email),
        rows: rows.map(([email = '']) => email),
      }
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}
