/**
 * `npm run record:release`: keeps the journals of this version in a folder of test/upgrade/, with signups in every
 * state. All later versions have to open them. Run it once for a release.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { gzipSync } from 'node:zlib'
import { createGoogleWorld, type GoogleWorld } from '../harness/google-world.ts'
import { postSignup } from '../harness/post-signup.ts'
import { startPostgres } from '../harness/postgres-server.ts'
import { runCommand } from '../harness/run-command.ts'
import { projectRoot } from '../harness/source-file.ts'
import { startService } from '../harness/start-service.ts'
import { tempFolder } from '../harness/temp-folder.ts'
import { waitUntil } from '../harness/delivery-state.ts'
import { openPostgresSites } from '../src/journal/postgres/postgres-journal.ts'
import { layoutSql } from '../src/journal/postgres/schema.ts'
import { openSqliteSites } from '../src/journal/sqlite/sqlite-journal.ts'
import {
  type Accepted,
  dump,
  folderOf,
  type Left,
  layoutFile,
  layoutNow,
  settingsOf,
  spreadsheetIds,
  zipped,
} from '../test/upgrade/released.ts'

/** The second one is forgotten while its row cannot be removed. */
const forgotten = ['forgotten@example.com', 'launch-7@example.com'] as const

interface Where {
  readonly dataDir?: string
  readonly url?: string
}

/** Erases the cells of all written signups of `news`, as RETENTION_DAYS does in time. */
async function expireNews({ dataDir = '', url }: Where): Promise<void> {
  const sites = new Map([['news', { duplicates: 'ignore' } as const]])
  await using opened =
    url === undefined
      ? openSqliteSites(join(dataDir, 'journal.db'), sites, { access: 'beside' })
      : await openPostgresSites(url, sites)
  while (await opened.sites.get('news')?.retention.expire(Date.now() + 1));
}

/**
 * Serves both sites until signups are written, expired, waiting, to be delivered once more, forgotten, and
 * in a batch with an unknown outcome.
 */
async function live(where: Where): Promise<Left> {
  await using world = await createGoogleWorld()
  for (const id of spreadsheetIds) {
    world.emulator.createSpreadsheet({ id, sharedWith: world.email })
  }
  const env = {
    ...settingsOf(world),
    ...(where.url !== undefined && { DATABASE_URL: where.url }),
  }
  const dataDir = where.dataDir === undefined ? {} : { dataDir: where.dataDir }
  await using service = await startService({ env, ...dataDir })
  const accepted: Accepted[] = []
  const signUp = async (site: string, email: string, fields: object = {}) => {
    const key = `key-of-${email}`
    const body = { email, site, ...fields }
    const answer = await postSignup(service.url, body, { 'idempotency-key': key })
    const { id } = (await answer.json()) as { id: string }
    accepted.push({ id, site, email, key })
  }

  for (let at = 0; at < 10; at += 1) {
    const fields = { company: 'Navy', plan: 'pro', seats: at + 1, news: at % 2 === 0 }
    await signUp('launch', `launch-${at}@example.com`, fields)
    await signUp('news', `news-${at}@example.com`, { tags: ['early'], metadata: { at } })
  }
  await signUp('launch', forgotten[0])
  await postSignup(service.url, { email: 'NEWS-1@example.com', site: 'news' })
  await waitUntil(
    () => countRows(world) === 21,
    () => 'not all rows were written',
  )
  await runCommand(['forget', forgotten[0]], { env, ...dataDir })
  await waitUntil(
    () => countRows(world) === 20,
    () => 'the row of the forgotten person stays',
  )
  await expireNews(where)

  // The batch of one site is applied, and nobody hears of it; that of the other never arrives.
  const [launch, news] = spreadsheetIds
  const on = 'batchUpdate' as const
  world.emulator.faults.add(
    { on, spreadsheetId: launch ?? '', apply: 'now', answer: 'drop' },
    { on, spreadsheetId: launch ?? '', apply: 'never', answer: 'drop', times: 1000 },
    { on, spreadsheetId: news ?? '', apply: 'never', answer: 'drop', times: 1000 },
  )
  await signUp('launch', 'frozen@example.com', { company: 'Frozen', plan: 'free' })
  await signUp('news', 'unsent@example.com', { tags: ['late'], metadata: { at: 99 } })
  await waitUntil(
    () => service.output().split('delivery delayed').length > 2,
    () => 'no batch was frozen',
  )
  deleteRow(world, launch ?? '', 'launch-4@example.com')
  await runCommand(['backfill', '--site', 'launch', '--all', '--deleted'], { env, ...dataDir })
  await runCommand(['forget', forgotten[1], '--wait', '0'], { env, ...dataDir })
  await signUp('launch', 'waiting-launch@example.com', {
    company: 'Wait & Co',
    plan: 'pro',
    seats: 7,
  })
  await signUp('news', 'waiting-news@example.com')
  await service.kill()
  const stayed = accepted.filter(({ email }) => !forgotten.some((it) => it === email))
  return {
    version: await ownVersion(),
    accepted: stayed,
    forgotten,
    spreadsheets: spreadsheetsOf(world),
  }
}

function countRows({ emulator }: GoogleWorld): number {
  const sheets = spreadsheetIds.map((id) => emulator.spreadsheet(id))
  return sheets.flatMap((it) => it.titles().flatMap((title) => it.rows(title).slice(1))).length
}

/** As a person does it, by mistake. */
function deleteRow({ emulator }: GoogleWorld, id: string, email: string): void {
  const sheet = emulator.spreadsheet(id)
  const at = sheet.rows('Waitlist').findIndex(([it]) => it === email)
  sheet.deleteRows('Waitlist', at + 1)
}

async function ownVersion(): Promise<string> {
  const text = await readFile(join(projectRoot, 'package.json'), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}

function spreadsheetsOf({ emulator }: GoogleWorld): Left['spreadsheets'] {
  return Object.fromEntries(
    spreadsheetIds.map((id) => {
      const { sheets, metadata } = emulator.spreadsheet(id).version()
      return [id, { sheets, metadata: [...metadata] }]
    }),
  )
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
const secret = await readFile(join(dataDir, 'journal.secret'))
await writeFile(join(folder, 'journal.secret'), secret)

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
await writeFile(layoutFile, `${JSON.stringify(layoutNow(), null, 2)}\n`)
process.stdout.write(`Recorded in ${folder}\n`)
