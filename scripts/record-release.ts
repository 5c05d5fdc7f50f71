/**
 * `npm run record:release`: keeps the journals of this version in a folder of test/upgrade/, with signups in every
 * state. All later versions have to open them. Run it once for a release.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { gzipSync } from 'node:zlib'
import { waitUntil } from '../harness/delivery-state.ts'
import { createGoogleWorld, type GoogleWorld } from '../harness/google-world.ts'
import { type MailServer, startMailServer } from '../harness/mail-world.ts'
import { postSignup } from '../harness/post-signup.ts'
import { postSuspect } from '../harness/post-suspect.ts'
import { startPostgres } from '../harness/postgres-server.ts'
import { runCommand } from '../harness/run-command.ts'
import { projectRoot } from '../harness/source-file.ts'
import { startService } from '../harness/start-service.ts'
import { tempFolder } from '../harness/temp-folder.ts'
import { openPostgresSites } from '../src/journal/postgres/postgres-journal.ts'
import { layoutSql } from '../src/journal/postgres/schema.ts'
import { openSqliteSites } from '../src/journal/sqlite/sqlite-journal.ts'
import {
  type Accepted,
  dump,
  folderOf,
  type Left,
  linkIn,
  settingsOf,
  type Site,
  siteNames,
  spreadsheetOf,
  zipped,
} from '../test/upgrade/released.ts'

/** The second one is forgotten while its row cannot be removed. */
const forgotten: readonly [string, string] = ['forgotten@example.com', 'launch-7@example.com']

interface Where {
  readonly dataDir?: string
  readonly url?: string
}

/** Erases the cells of all written signups of `news`, as RETENTION_DAYS does in time. */
async function expireNews({ dataDir = '', url }: Where): Promise<void> {
  const policies = new Map([['news', { duplicates: 'ignore' } as const]])
  await using opened =
    url === undefined
      ? openSqliteSites(join(dataDir, 'journal.db'), policies, { access: 'beside' })
      : await openPostgresSites(url, policies)
  while (await opened.sites.get('news')?.retention.expire(Date.now() + 1));
}

/**
 * Serves all sites until signups are written, expired, waiting, to be delivered once more, forgotten, held, pending
 * with a mail and without, beyond the seats, and in a batch with an unknown outcome. A channel has heard of none.
 */
async function live(where: Where): Promise<Left> {
  await using world = await createGoogleWorld()
  await using mailServer = await startMailServer()
  for (const site of siteNames) {
    world.emulator.createSpreadsheet({ id: spreadsheetOf(site), sharedWith: world.email })
  }
  const env = {
    ...settingsOf(world, mailServer),
    ...(where.url !== undefined && { DATABASE_URL: where.url }),
  }
  const options = { env, ...(where.dataDir !== undefined && { dataDir: where.dataDir }) }
  await using service = await startService(options)
  const accepted: Accepted[] = []
  const signUp = signingUp(service.url, accepted)

  for (let at = 0; at < 10; at += 1) {
    const fields = { company: 'Navy', plan: 'pro', chairs: at + 1, news: at % 2 === 0 }
    await signUp('launch', `launch-${at}`, fields)
    await signUp('news', `news-${at}`, { tags: ['early'], metadata: { at } })
  }
  await signUp('launch', 'forgotten')
  await postSignup(service.url, { email: 'NEWS-1@example.com', site: 'news' })
  for (const site of ['launch', 'club']) {
    await postSuspect(service.url, { email: `held-${site}@example.com`, site })
  }
  await signUp('club', 'member')
  await signUp('club', 'asked')
  const body = new URLSearchParams({ decision: 'confirm' })
  const member = linkIn(await mailTo(mailServer, 'member@example.com'))
  await fetch(service.url + member, { method: 'POST', body })
  const link = linkIn(await mailTo(mailServer, 'asked@example.com'))
  await mailServer.stop()
  await signUp('club', 'unmailed')
  await waitUntil(
    () => countRows(world) === 22,
    () => `not all rows were written, but ${countRows(world)}`,
  )
  await runCommand(['forget', forgotten[0]], options)
  await waitUntil(
    () => countRows(world) === 21,
    () => 'the row of the forgotten person stays',
  )
  await expireNews(where)

  // The batch of one site is applied, and nobody hears of it; that of the other never arrives.
  const on = 'batchUpdate' as const
  const launch = spreadsheetOf('launch')
  world.emulator.faults.add(
    { on, spreadsheetId: launch, apply: 'now', answer: 'drop' },
    { on, apply: 'never', answer: 'drop', times: 1000 },
  )
  await signUp('launch', 'frozen', { company: 'Frozen', plan: 'free' })
  await signUp('news', 'unsent', { tags: ['late'], metadata: { at: 99 } })
  await waitUntil(
    () => service.output().split('delivery delayed').length > 2,
    () => 'no batch was frozen',
  )
  deleteRow(world, 'launch-4@example.com')
  await runCommand(['backfill', '--site', 'launch', '--all', '--deleted'], options)
  await runCommand(['forget', forgotten[1], '--wait', '0'], options)
  await signUp('launch', 'beyond', { company: 'Wait & Co', plan: 'pro', chairs: 7 })
  await signUp('news', 'waiting')
  await service.kill()
  return {
    at: Date.now(),
    accepted: accepted.filter(({ email }) => !forgotten.includes(email)),
    ...{ forgotten, link },
    spreadsheets: spreadsheetsOf(world),
  }
}

function signingUp(url: string, accepted: Accepted[]) {
  return async (site: Site, name: string, fields: object = {}) => {
    const email = `${name}@example.com`
    const key = `key-of-${email}`
    const answer = await postSignup(url, { email, site, ...fields }, { 'idempotency-key': key })
    const { id } = (await answer.json()) as { id: string }
    accepted.push({ id, site, email, key })
  }
}

async function mailTo(server: MailServer, address: string): Promise<string> {
  const find = async () => (await server.mails()).find(({ to }) => to === address)
  await waitUntil(
    async () => (await find()) !== undefined,
    () => `no mail went to ${address}`,
  )
  return (await find())?.text ?? ''
}

function countRows({ emulator }: GoogleWorld): number {
  const sheets = siteNames.map((site) => emulator.spreadsheet(spreadsheetOf(site)))
  return sheets.flatMap((it) => it.titles().flatMap((title) => it.rows(title).slice(1))).length
}

/** As a person does it, by mistake. */
function deleteRow({ emulator }: GoogleWorld, email: string): void {
  const sheet = emulator.spreadsheet(spreadsheetOf('launch'))
  const at = sheet.rows('Waitlist').findIndex(([it]) => it === email)
  sheet.deleteRows('Waitlist', at + 1)
}

async function ownVersion(): Promise<string> {
  const text = await readFile(join(projectRoot, 'package.json'), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}

function spreadsheetsOf({ emulator }: GoogleWorld): Left['spreadsheets'] {
  return siteNames.map((site) => {
    const { sheets, metadata } = emulator.spreadsheet(spreadsheetOf(site)).version()
    return [site, { sheets, metadata: [...metadata] }]
  })
}

const folder = folderOf(await ownVersion())
await mkdir(folder, { recursive: true })
await using temp = await tempFolder()
const dataDir = join(temp.path, 'data')
await writeFile(join(folder, 'sqlite.json.gz'), zipped(await live({ dataDir })))
const copy = join(temp.path, 'copy.db')
const journal = new DatabaseSync(join(dataDir, 'journal.db'))
journal.prepare('VACUUM INTO ?').run(copy)
journal.close()
await writeFile(join(folder, 'journal.db.gz'), gzipSync(await readFile(copy), { level: 9 }))
await writeFile(join(folder, 'journal.secret'), await readFile(join(dataDir, 'journal.secret')))

await using server = await startPostgres()
await using database = await server.createDatabase()
await writeFile(join(folder, 'postgres.json.gz'), zipped(await live({ url: database.url })))
const tables = [
  'CREATE SCHEMA rollcall',
  'SET search_path = rollcall',
  'CREATE TABLE rollcall.version (only_row boolean PRIMARY KEY CHECK (only_row), number integer NOT NULL)',
  layoutSql,
]
await writeFile(join(folder, 'postgres-dump.json.gz'), zipped(await dump(database.url, tables)))
process.stdout.write(`Recorded in ${folder}\n`)
