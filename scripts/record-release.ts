/**
 * `npm run record:release`: keeps the journals of this version in test/upgrade/, with signups in every
 * state. All later versions have to open them. Run it once for a release.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { gzipSync } from 'node:zlib'
import { createGoogleWorld } from '../harness/google-world.ts'
import { postSignup } from '../harness/post-signup.ts'
import { startPostgres } from '../harness/postgres-server.ts'
import { runCommand } from '../harness/run-command.ts'
import { projectRoot } from '../harness/source-file.ts'
import { startService } from '../harness/start-service.ts'
import { tempFolder } from '../harness/temp-folder.ts'
import { waitUntil } from '../harness/delivery-state.ts'
import { migrations } from '../src/journal/postgres/schema.ts'
import {
  type Accepted,
  dump,
  folder,
  type Left,
  migrationsFile,
  migrationsNow,
  settingsOf,
  spreadsheetIds,
  zipped,
} from '../test/upgrade/released.ts'

const forgotten = 'forgotten@example.com'

/** Serves both sites until signups are written, waiting and in a batch with an unknown outcome. */
async function live(where: { readonly dataDir?: string; readonly url?: string }): Promise<Left> {
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
  const sheets = () => spreadsheetIds.map((id) => world.emulator.spreadsheet(id))
  const countRows = () =>
    sheets().flatMap((it) => it.titles().flatMap((title) => it.rows(title).slice(1))).length

  for (let at = 0; at < 10; at += 1) {
    const fields = { company: 'Navy', plan: 'pro', seats: at + 1, news: at % 2 === 0 }
    await signUp('launch', `launch-${at}@example.com`, fields)
    await signUp('news', `news-${at}@example.com`, { tags: ['early'], metadata: { at } })
  }
  await signUp('launch', forgotten)
  await postSignup(service.url, { email: 'NEWS-1@example.com', site: 'news' })
  await waitUntil(
    () => countRows() === 21,
    () => 'not all rows were written',
  )
  await runCommand(['forget', forgotten], { env, ...dataDir })
  await waitUntil(
    () => countRows() === 20,
    () => 'the row of the forgotten person stays',
  )

  // The batch of one site is applied, and nobody hears of it; that of the other never arrives.
  const [launch, news] = spreadsheetIds
  const on = 'batchUpdate' as const
  world.emulator.faults.add(
    { on, spreadsheetId: launch ?? '', apply: 'now', answer: 'drop' },
    { on: 'any', spreadsheetId: launch ?? '', apply: 'never', answer: 'drop', times: 1000 },
    { on: 'any', spreadsheetId: news ?? '', apply: 'never', answer: 'drop', times: 1000 },
  )
  await signUp('launch', 'frozen@example.com', { company: 'Frozen', plan: 'free' })
  await signUp('news', 'unsent@example.com')
  await waitUntil(
    () => service.output().split('delivery delayed').length > 2,
    () => 'no batch was frozen',
  )
  await signUp('launch', 'waiting@example.com', { seats: 7 })
  await signUp('news', 'waiting@example.com')
  await service.kill()
  const text = await readFile(join(projectRoot, 'package.json'), 'utf8')
  const { version } = JSON.parse(text) as { version: string }
  const spreadsheets = Object.fromEntries(
    spreadsheetIds.map((id) => {
      const { sheets: tabs, metadata } = world.emulator.spreadsheet(id).version()
      return [id, { sheets: tabs, metadata: [...metadata] }]
    }),
  )
  const stayed = accepted.filter(({ email }) => email !== forgotten)
  return { version, accepted: stayed, forgotten, spreadsheets }
}

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
  'CREATE TABLE rollcall.version (only_row boolean PRIMARY KEY CHECK (only_row), number integer NOT NULL)',
  ...migrations,
]
await writeFile(join(folder, 'postgres-dump.json.gz'), zipped(await dump(database.url, tables)))
await writeFile(migrationsFile, `${JSON.stringify(migrationsNow(), null, 2)}\n`)
process.stdout.write(`Recorded in ${folder}\n`)
