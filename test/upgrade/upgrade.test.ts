import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { allDelivered } from '../../harness/delivery-state.ts'
import { createGoogleWorld, type GoogleWorld } from '../../harness/google-world.ts'
import { postSignup } from '../../harness/post-signup.ts'
import { startPostgres } from '../../harness/postgres-server.ts'
import { startService, type StartOptions } from '../../harness/start-service.ts'
import { tempFolder, type TempFolder } from '../../harness/temp-folder.ts'
import {
  dump,
  type Engine,
  folderOf,
  type Left,
  load,
  readDump,
  readLeft,
  schemaIn,
  settingsOf,
  spreadsheetIds,
} from './released.ts'

/** What a deployment of a release has left behind. */
interface Deployment extends AsyncDisposable {
  /** Settings that name its journal. */
  readonly env: Readonly<Record<string, string>>
  /** Of the journal. The order does not matter. */
  schema(): Promise<string[]>
  /** As `schema`, of a journal that this version makes. */
  newSchema(): Promise<string[]>
  /** How many people of how many sites were forgotten. */
  tombstones(): Promise<number>
}

/** The journals with which this version goes on. */
const upgraded: readonly (readonly [version: string, engine: Engine])[] = [
  ['0.1.0', 'sqlite'],
  ['0.2.0', 'sqlite'],
  ['0.2.0', 'postgres'],
]

const deploy = { sqlite: deploySqlite, postgres: deployPostgres }

async function deploySqlite(version: string): Promise<Deployment> {
  await using stack = new AsyncDisposableStack()
  const { path }: TempFolder = stack.use(await tempFolder())
  const dataDir = join(path, 'data')
  await mkdir(dataDir, { mode: 0o700 })
  const journal = gunzipSync(await readFile(join(folderOf(version), 'journal.db.gz')))
  await writeFile(join(dataDir, 'journal.db'), journal, { mode: 0o600 })
  const secret = await readFile(join(folderOf(version), 'journal.secret'))
  await writeFile(join(dataDir, 'journal.secret'), secret, { mode: 0o600 })
  const schemaOf = async (file: string) => {
    using db = new DatabaseSync(join(path, file), { readOnly: true })
    // Nobody can drop a table that SQLite has made for itself. 0.1.0 had it make one.
    const made = db.prepare(
      `SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'`,
    )
    return made.all().map(({ sql }) => String(sql))
  }
  const all = stack.move()
  return {
    env: { DATA_DIR: dataDir },
    schema: () => schemaOf('data/journal.db'),
    async tombstones() {
      using db = new DatabaseSync(join(dataDir, 'journal.db'), { readOnly: true })
      return db.prepare('SELECT hash FROM tombstone').all().length
    },
    async newSchema() {
      await serveOnce({ dataDir: join(path, 'new') })
      return schemaOf('new/journal.db')
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

async function deployPostgres(version: string): Promise<Deployment> {
  await using stack = new AsyncDisposableStack()
  const server = stack.use(await startPostgres())
  const database = stack.use(await server.createDatabase())
  await load(database.url, await readDump(version))
  const all = stack.move()
  return {
    env: { DATABASE_URL: database.url },
    schema: () => schemaIn(database.url),
    tombstones: async () => (await dump(database.url, [])).rows['tombstone']?.length ?? 0,
    async newSchema() {
      await using fresh = await server.createDatabase()
      await serveOnce({ env: { DATABASE_URL: fresh.url } })
      return await schemaIn(fresh.url)
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

/** Lets this version make a journal. */
async function serveOnce({ env, ...options }: StartOptions): Promise<void> {
  await using world = await createGoogleWorld()
  await using service = await startService({ env: { ...settingsOf(world), ...env }, ...options })
  await service.stop()
}

/** The spreadsheets as the release left them. */
function restoreSheets({ emulator, email }: GoogleWorld, { spreadsheets }: Left): void {
  for (const [id, { sheets, metadata }] of Object.entries(spreadsheets)) {
    const handle = emulator.createSpreadsheet({ id, sharedWith: email })
    handle.restore({ sheets, metadata: new Map(metadata) }, true)
  }
}

async function serveReleased(version: string, engine: Engine) {
  await using stack = new AsyncDisposableStack()
  const left = await readLeft(version, engine)
  const world = stack.use(await createGoogleWorld())
  restoreSheets(world, left)
  const deployment = stack.use(await deploy[engine](version))
  const { DATA_DIR: dataDir, ...database } = deployment.env
  const env = { ...settingsOf(world), ...database }
  const service = stack.use(await startService({ env, ...(dataDir !== undefined && { dataDir }) }))
  const all = stack.move()
  return { left, world, deployment, service, [Symbol.asyncDispose]: () => all.disposeAsync() }
}

const rowsIn = ({ emulator }: GoogleWorld, { spreadsheets }: Left) =>
  Object.keys(spreadsheets)
    .map((id) => emulator.spreadsheet(id))
    .flatMap((it) => it.titles().flatMap((title) => it.rows(title).slice(1)))
    // A row that was removed may be empty now.
    .filter((row) => row.length > 0)

test.each(upgraded)(
  'this version goes on with the journal that %s left on %s',
  async (version, engine) => {
    await using released = await serveReleased(version, engine)
    const { left, world, service } = released
    await allDelivered(service)
    const addresses = () => rowsIn(world, left).map(([email = '']) => email)
    await expect.poll(addresses).not.toContain(left.forgotten.at(-1))
    expect(addresses().toSorted()).toEqual(left.accepted.map(({ email }) => email).toSorted())
    // This version has written these.
    const cells = Object.fromEntries(
      rowsIn(world, left).map(([email = '', , ...row]) => [email, row]),
    )
    expect(cells).toMatchObject({
      'waiting-launch@example.com': ['api', '', '', '', 'Waitlist', 'Wait & Co', 'pro', '7'],
      'launch-4@example.com': ['api', '', '', '', 'Waitlist', 'Navy', 'pro', '5', 'TRUE'],
      'unsent@example.com': ['api', '', 'late', '{"at":99}', 'Letters'],
    })

    for (const { id, site } of left.accepted) {
      const answer = await fetch(`${service.url}/api/signup/${id}?site=${site}`)
      expect(await answer.json()).toMatchObject({ id, status: 'written' })
    }
    const duplicate = await postSignup(service.url, { email: 'News-2@example.com', site: 'news' })
    expect(duplicate.status).toBe(202)
    const again = left.accepted.find(({ email }) => email === 'waiting-news@example.com')
    const replay = await postSignup(
      service.url,
      { email: again?.email, site: again?.site },
      { 'idempotency-key': again?.key ?? '' },
    )
    expect(await replay.json()).toMatchObject({ id: again?.id, status: 'written' })

    await postSignup(service.url, { email: 'later@example.com', site: 'launch', seats: 3 })
    await allDelivered(service)
    expect(rowsIn(world, left)).toHaveLength(left.accepted.length + 1)
  },
)

test.each(upgraded)(
  'what this version makes of the tables of %s on %s is what a new journal has',
  async (version, engine) => {
    await using released = await serveReleased(version, engine)
    const { left, deployment, service } = released
    await service.stop()
    expect(await deployment.tombstones()).toBe(left.forgotten.length * spreadsheetIds.length)
    const made = await deployment.schema()
    expect(made.toSorted()).toEqual((await deployment.newSchema()).toSorted())
  },
)

test('a database of 0.1.0 is refused with the way out, and stays as it is', async () => {
  await using deployment = await deployPostgres('0.1.0')
  const before = await deployment.schema()
  await using world = await createGoogleWorld()
  const starting = startService({ env: { ...settingsOf(world), ...deployment.env } })
  await expect(starting).rejects.toThrow(
    /never released\. Start that version until it has delivered/,
  )
  expect(await deployment.schema()).toEqual(before)
})
