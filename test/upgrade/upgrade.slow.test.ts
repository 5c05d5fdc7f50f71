// @module-tag slow
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { ChatEmulator } from '../../emulators/chat.ts'
import { type BootOptions, bootService } from '../../harness/boot-service.ts'
import { allDelivered } from '../../harness/delivery-state.ts'
import { createGoogleWorld, type GoogleWorld } from '../../harness/google-world.ts'
import { startMailServer } from '../../harness/mail-world.ts'
import { postSignup } from '../../harness/post-signup.ts'
import { startPostgres } from '../../harness/postgres-server.ts'
import { runCommand } from '../../harness/run-command.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import type { HttpClient } from '../../src/platform/http-client.ts'
import {
  channelUrl,
  type Engine,
  engines,
  folderOf,
  type Left,
  linkIn,
  load,
  moved,
  readDump,
  readLeft,
  schemaIn,
  seats,
  settingsOf,
  siteNames,
  spreadsheetOf,
} from './released.ts'

/** What a deployment of a release has left behind. */
interface Deployment extends AsyncDisposable {
  /** What names its journal. */
  readonly options: Pick<BootOptions, 'dataDir' | 'env'>
  /** Of the journal. The order does not matter. */
  schema(): Promise<string[]>
  /** As `schema`, of a journal that this version makes. */
  newSchema(): Promise<string[]>
}

/** The releases whose journals this version opens. */
const releases = engines.map((engine) => ['0.3.0', engine] as const)

const deploy = { sqlite: deploySqlite, postgres: deployPostgres }

async function deploySqlite(version: string, { at }: Left): Promise<Deployment> {
  const folder = await tempFolder()
  const dataDir = join(folder.path, 'data')
  await mkdir(dataDir, { mode: 0o700 })
  const journal = gunzipSync(await readFile(join(folderOf(version), 'journal.db.gz')))
  await writeFile(join(dataDir, 'journal.db'), journal, { mode: 0o600 })
  const secret = await readFile(join(folderOf(version), 'journal.secret'))
  await writeFile(join(dataDir, 'journal.secret'), secret, { mode: 0o600 })
  bringToNow(join(dataDir, 'journal.db'), at)
  const schemaOf = async (file: string) => {
    using db = new DatabaseSync(join(folder.path, file), { readOnly: true })
    const made = db.prepare(`SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL`).all()
    return made.map(({ sql }) => String(sql))
  }
  return {
    options: { dataDir },
    schema: () => schemaOf('data/journal.db'),
    async newSchema() {
      await serveOnce({ dataDir: join(folder.path, 'new') })
      return schemaOf('new/journal.db')
    },
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  }
}

/** Moves all times in a file to the last day, so that what the release left is no older. */
function bringToNow(file: string, at: number): void {
  using db = new DatabaseSync(file)
  db.function('moved', (value) => Number(moved(at, value)))
  const columns = db.prepare(`SELECT made.name AS "table", info.name AS "column"
    FROM sqlite_schema made, pragma_table_info(made.name) info WHERE info.type = 'INTEGER'`)
  for (const { table, column } of columns.all()) {
    const name = `"${String(column)}"`
    const changed = `moved(${name}) <> ${name}`
    db.exec(`UPDATE "${String(table)}" SET ${name} = moved(${name}) WHERE ${changed}`)
  }
}

async function deployPostgres(version: string, { at }: Left): Promise<Deployment> {
  await using stack = new AsyncDisposableStack()
  const server = stack.use(await startPostgres())
  const database = stack.use(await server.createDatabase())
  await load(database.url, await readDump(version, at))
  const all = stack.move()
  return {
    options: { env: { DATABASE_URL: database.url } },
    schema: () => schemaIn(database.url),
    async newSchema() {
      await using fresh = await server.createDatabase()
      await serveOnce({ env: { DATABASE_URL: fresh.url } })
      return await schemaIn(fresh.url)
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

/** Lets this version make a journal. */
async function serveOnce({ env, ...options }: BootOptions): Promise<void> {
  await using world = await createGoogleWorld()
  await using _service = await bootService({ env: { ...world.env, ...env }, ...options })
}

/** The spreadsheets as the release left them. */
function restoreSheets({ emulator, email }: GoogleWorld, { spreadsheets }: Left): void {
  for (const [site, { sheets, metadata }] of spreadsheets) {
    const handle = emulator.createSpreadsheet({ id: spreadsheetOf(site), sharedWith: email })
    handle.restore({ sheets, metadata: new Map(metadata) }, true)
  }
}

async function serveReleased(version: string, engine: Engine) {
  await using stack = new AsyncDisposableStack()
  const left = await readLeft(version, engine)
  const world = stack.use(await createGoogleWorld())
  restoreSheets(world, left)
  const mailServer = stack.use(await startMailServer())
  const deployment = stack.use(await deploy[engine](version, left))
  const { env: database, dataDir } = deployment.options
  const options = {
    env: { ...settingsOf(world, mailServer), ...database },
    ...(dataDir !== undefined && { dataDir }),
  }
  let minute = 0
  const channel = new ChatEmulator(() => (minute += 60_000))
  const receiverHttp: HttpClient = async ({ url, body }) => {
    expect(url).toBe(channelUrl)
    const { status, text = '' } = channel.take(channel.pathOf('mattermost'), String(body))
    return { status, headers: new Headers(), text }
  }
  const service = stack.use(await bootService({ ...options, receiverHttp }))
  const all = stack.move()
  return {
    ...{ left, world, mailServer, deployment, channel, service },
    run: (...args: readonly string[]) => runCommand(args, options),
    async press(link: string): Promise<void> {
      const body = new URLSearchParams({ decision: 'confirm' })
      expect(await fetch(service.url + link, { method: 'POST', body })).toMatchObject({
        status: 200,
      })
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

const rowsIn = ({ emulator }: GoogleWorld) =>
  siteNames
    .map((site) => emulator.spreadsheet(spreadsheetOf(site)))
    .flatMap((it) => it.titles().flatMap((title) => it.rows(title).slice(1)))
    // A row that was removed may be empty now.
    .filter((row) => row.length > 0)

/** Have not confirmed when the release ends. The second was sent no mail. */
const pending = ['asked@example.com', 'unmailed@example.com']

const inOrder = (texts: readonly (string | undefined)[]) => texts.toSorted()

test.each(releases)(
  'this version goes on with the journal that %s left on %s',
  async (version, engine) => {
    await using released = await serveReleased(version, engine)
    const { left, world, mailServer, channel, service, run, press } = released
    const addresses = () => inOrder(rowsIn(world).map(([email]) => email))
    const written = left.accepted.filter(({ email }) => !pending.includes(email))
    await allDelivered(service)
    await expect.poll(addresses).toEqual(inOrder(written.map(({ email }) => email)))
    // This version has written these.
    const cells = Object.fromEntries(rowsIn(world).map(([email = '', , ...row]) => [email, row]))
    expect(cells).toMatchObject({
      'beyond@example.com': ['api', '', '', '', 'Later', 'Wait & Co', 'pro', '7'],
      'launch-4@example.com': ['api', '', '', '', 'Waitlist', 'Navy', 'pro', '5', 'TRUE'],
      'unsent@example.com': ['api', '', 'late', '{"at":99}', 'Letters'],
    })
    for (const { id, site } of written) {
      const answer = await fetch(`${service.url}/api/signup/${id}?site=${site}`)
      expect(await answer.json()).toMatchObject({ id, status: 'written' })
    }

    // It knows who is on the list, what was answered, and that all seats are taken.
    await postSignup(service.url, { email: 'News-2@example.com', site: 'news' })
    const { id, email, site, key } = left.accepted.at(-1) ?? expect.fail('nobody signed up')
    const repeated = await postSignup(service.url, { email, site }, { 'idempotency-key': key })
    expect(await repeated.json()).toMatchObject({ id, status: 'written' })
    const status: unknown = JSON.parse((await run('status', '--json')).stdout)
    expect(JSON.stringify(status)).toContain(`"seats":{"taken":${seats},"of":${seats}}`)
    const late = await postSignup(service.url, { email: 'later@example.com', site: 'launch' })
    expect(await late.json()).toMatchObject({ sheetTab: 'Later', overflow: true })

    // Somebody confirms by a mail of the release, others by those that go now. Held ones are released.
    await press(left.link)
    for (const held of ['held-launch@example.com', 'held-club@example.com'])
      expect(await run('quarantine', 'release', held)).toMatchObject({ code: 0 })
    const mailed = async () => inOrder((await mailServer.mails()).map(({ to }) => to))
    await expect.poll(mailed).toEqual(['held-club@example.com', 'unmailed@example.com'])
    for (const { text } of await mailServer.mails()) await press(linkIn(text))
    const ofLaunch = ['later@example.com', 'held-launch@example.com']
    const more = [...pending, 'held-club@example.com', ...ofLaunch]
    const all = [...written.map((it) => it.email), ...more]
    await expect.poll(addresses).toEqual(inOrder(all))

    // The channel hears of each once. Nobody was there, so it rests.
    expect(await run('webhooks', 'enable')).toMatchObject({ code: 0 })
    const told = () => channel.posts.flatMap(({ text }) => text.match(/[\w-]+@example\.com/g) ?? [])
    const known = written.filter((it) => it.site === 'launch').map((it) => it.email)
    await expect.poll(() => inOrder(told())).toEqual(inOrder([...known, ...ofLaunch]))
  },
)

test.each(releases)(
  'what this version makes of the tables of %s on %s is what a new journal has',
  async (version, engine) => {
    await using released = await serveReleased(version, engine)
    const { deployment, service } = released
    await service.stop()
    const made = await deployment.schema()
    expect(made.toSorted()).toEqual((await deployment.newSchema()).toSorted())
  },
)
