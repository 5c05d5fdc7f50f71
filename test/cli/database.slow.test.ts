// @module-tag slow
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDatabaseWorld, type DatabaseWorld } from '../../harness/database-world.ts'
import { allDelivered } from '../../harness/delivery-state.ts'
import { addressesInSheet } from '../../harness/google-world.ts'
import { postSignups } from '../../harness/post-signup.ts'
import { type PostgresServer, startPostgres } from '../../harness/postgres-server.ts'
import { runCommand } from '../../harness/run-command.ts'
import { runDoctor } from '../../harness/run-doctor.ts'
import { startService } from '../../harness/start-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import type { Forgotten } from '../../src/operations/forget.ts'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
import type { Status } from '../../src/operations/status.ts'

let server: PostgresServer
beforeAll(async () => void (server = await startPostgres()))
afterAll(() => server[Symbol.asyncDispose]())

const [ada, bob, eve] = ['ada@example.com', 'bob@example.com', 'eve@example.com'] as const

/** The addresses in the spreadsheet. A removed row may leave an empty one. */
async function peopleIn({ google }: DatabaseWorld) {
  return (await addressesInSheet(google)).filter((address) => address !== '')
}

test('the commands work beside two instances, and make nothing on disk', async () => {
  await using world = await createDatabaseWorld(server)
  await using folder = await tempFolder()
  const { env } = world
  const place = { env, folder: folder.path }
  await using one = await startService({ env })
  await using other = await startService({ env })
  await postSignups(one.url, [ada])
  await postSignups(other.url, [bob])

  const file = join(folder.path, 'people.csv')
  await writeFile(file, `Email\n${eve}\n`)
  const dry = await runCommand(['import', file, '--dry-run'], place)
  expect(dry).toMatchObject({ code: 0, stdout: expect.stringContaining('1 would be added') })
  expect(await runCommand(['import', file], place)).toMatchObject({ code: 0 })
  await allDelivered(one)
  expect((await peopleIn(world)).toSorted()).toEqual([ada, bob, eve])

  const status = await runCommand(['status', '--json'], place)
  expect(status.code).toBe(0)
  const { accepted, waiting } = JSON.parse(status.stdout) as Status
  expect([accepted.all, waiting.signups]).toEqual([3, 0])
  expect((await runCommand(['export'], place)).stdout).toContain(bob)
  expect(await runCommand(['verify'], place)).toMatchObject({ code: 0 })
  expect(await runCommand(['backfill', '--all'], place)).toMatchObject({ code: 0 })

  const forgot = await runCommand(['forget', '-', '--json'], { ...place, input: bob })
  expect(JSON.parse(forgot.stdout) as Forgotten).toMatchObject({
    done: true,
    signups: { erased: 1 },
    rows: { toGo: 1 },
    files: [],
  })
  expect((await peopleIn(world)).toSorted()).toEqual([ada, eve])
  expect(existsSync(join(folder.path, 'data'))).toBe(false)
})

test('forget removes the row itself when no instance runs', async () => {
  await using world = await createDatabaseWorld(server)
  const { env, database } = world
  {
    await using service = await startService({ env })
    await postSignups(service.url, [ada, bob])
    await allDelivered(service)
  }
  const forgot = await runCommand(['forget', '-'], { env, input: ada })
  expect(forgot).toMatchObject({ code: 0, stdout: expect.not.stringContaining('DATA_DIR') })
  expect(forgot.stdout).toMatch(/to do by hand: .*the database's own copies: VACUUM/)
  expect(await peopleIn(world)).toEqual([bob])
  const tables = await database.query(`SELECT schema_to_xml('rollcall', true, false, '')`)
  expect(JSON.stringify(tables)).toContain(bob)
  expect(JSON.stringify(tables)).not.toContain(ada)
})

test('a journal that was not moved is named by the start, by doctor and by forget', async () => {
  await using world = await createDatabaseWorld(server)
  await using data = await tempFolder()
  const place = { env: world.env, dataDir: data.path }
  const file = join(data.path, 'journal.db')
  const warning = /"msg":"DATA_DIR has a journal that is not used"/g
  await openSqliteJournal(file)[Symbol.asyncDispose]()
  {
    await using service = await startService(place)
    expect(service.output().match(warning)).toHaveLength(1)
    expect(service.output()).toContain('Run npm run -s rollcall -- migrate-journal')
  }
  expect((await runDoctor(place)).of('data')).toMatchObject([
    {
      state: 'warning',
      hint: expect.stringContaining('Run npm run -s rollcall -- migrate-journal'),
    },
  ])

  await writeFile(join(data.path, 'journal.moved'), 'elsewhere\n')
  {
    await using service = await startService(place)
    expect(service.output()).not.toMatch(warning)
  }
  expect((await runDoctor(place)).of('data')).toMatchObject([{ state: 'skipped' }])
  const forgot = await runCommand(['forget', '-'], { ...place, input: ada })
  expect(forgot.stdout).toContain(`the journal of before DATABASE_URL, ${file}`)
})

test('a start without the key of the hashes makes a new one and says so, and commands refuse', async () => {
  await using world = await createDatabaseWorld(server)
  const { env, database } = world
  const warning = 'the key of the hashes was missing in the database'
  {
    await using service = await startService({ env })
    expect(service.output()).not.toContain(warning)
  }
  await runCommand(['forget', '-'], { env, input: ada })
  await database.query('DELETE FROM rollcall.secret')
  expect(await runCommand(['forget', '-'], { env, input: bob })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Restore the table'),
  })
  {
    await using service = await startService({ env })
    expect(service.output()).toContain(warning)
  }
  await using again = await startService({ env })
  expect(again.output()).not.toContain(warning)
  expect(await runCommand(['forget', '-'], { env, input: bob })).toMatchObject({ code: 0 })
})

test('a command that reads or tries makes no tables', async () => {
  await using world = await createDatabaseWorld(server)
  await using folder = await tempFolder()
  const { env, database } = world
  const file = join(folder.path, 'people.csv')
  await writeFile(file, `Email\n${eve}\n`)
  for (const command of [['status'], ['export'], ['verify'], ['forget', ada]]) {
    expect(await runCommand(command, { env })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('The database has no journal of Rollcall.'),
    })
  }
  const dry = await runCommand(['import', file, '--dry-run'], { env })
  expect(dry).toMatchObject({ code: 0, stdout: expect.stringContaining('1 would be added') })
  // It fails when there is one.
  await database.query('CREATE SCHEMA rollcall')
})

test('a trial of an import mends no journal, and does not take a damaged one for none', async () => {
  await using world = await createDatabaseWorld(server)
  await using folder = await tempFolder()
  const { env, database } = world
  const file = join(folder.path, 'people.csv')
  await writeFile(file, `Email\n${eve}\n`)
  expect(await runCommand(['import', file], { env })).toMatchObject({ code: 0 })
  await database.query('DELETE FROM rollcall.version')
  const dry = await runCommand(['import', file, '--dry-run'], { env })
  expect(dry).toMatchObject({ code: 1, stdout: '' })
  const status = await runCommand(['status'], { env })
  expect(status.stderr).toContain('The database has no journal of Rollcall.')
})

test('backup and restore say which tools to use, and what not to take along', async () => {
  await using world = await createDatabaseWorld(server)
  await using folder = await tempFolder()
  const { env } = world
  const file = join(folder.path, 'journal.backup')
  const backup = await runCommand(['backup', file], { env })
  expect(backup).toMatchObject({ code: 2, stdout: '' })
  expect(backup.stderr).toMatch(/pg_dump .*--exclude-table-data=rollcall\.secret.*pg_basebackup/)
  const restore = await runCommand(['restore', file], { env })
  expect(restore).toMatchObject({ code: 2, stdout: '' })
  expect(restore.stderr).toContain('pg_restore')
  expect(existsSync(file)).toBe(false)
})

test('doctor finds no fault in a good database, and says what it is', async () => {
  await using world = await createDatabaseWorld(server)
  const { env } = world
  await using _ = await startService({ env })
  const { code, faults, of } = await runDoctor({ env })
  expect({ code, faults }).toEqual({ code: 1, faults: ['database'] })
  const said = of('database').map(({ message }) => message)
  expect(said.join('\n')).toMatch(/is reached\nruns PostgreSQL 1\d\.\d+\nhas the tables of this/)
  // The servers of the tests sync nothing.
  expect(said).toContainEqual(expect.stringContaining('fsync: a power cut loses signups'))
  expect(of('process')).toMatchObject([{ state: 'ok', message: 'an instance delivers' }])
  expect(of('data')).toMatchObject([{ state: 'skipped' }])
  expect(of('journal')[0]?.message).toMatch(/^takes a commit in [\d.]+ ms; signups in it: 0$/)
})
