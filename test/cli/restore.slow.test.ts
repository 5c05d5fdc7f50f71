// @module-tag slow
import { copyFile, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { bootService } from '../../harness/boot-service.ts'
import { allDelivered } from '../../harness/delivery-state.ts'
import { freezeNext } from '../../harness/freeze-next.ts'
import { createGoogleWorld } from '../../harness/google-world.ts'
import { makeSignup } from '../../harness/make-signup.ts'
import { postSignup, postSignups } from '../../harness/post-signup.ts'
import { type CommandOptions, runCommand, startCommand } from '../../harness/run-command.ts'
import { runDoctor } from '../../harness/run-doctor.ts'
import { startService } from '../../harness/start-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import { noticesFact } from '../../src/journal/contracts/delivery-log.ts'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
import type { FrozenBatch } from '../../src/signup/batch.ts'

const noon = Date.UTC(2026, 10, 20, 12)
const address = (name: string) => `${name}@example.com`

/** Appends signups to the journal of this folder while no service runs. */
async function append(dataDir: string, ...names: string[]): Promise<void> {
  await using journal = openSqliteJournal(join(dataDir, 'journal.db'))
  const at = (index: number) => noon + index + Number(names[0]?.codePointAt(0)) * 1000
  await journal.intake.append(
    names.map((name, index) => makeSignup({ email: address(name), receivedAt: at(index) })),
  )
}

/** What the command `backup` makes: a copy of the database of one moment. */
function backUp(dataDir: string): string {
  const file = join(dataDir, '..', `backup-${Math.random()}.db`)
  using database = new DatabaseSync(join(dataDir, 'journal.db'))
  database.prepare('VACUUM INTO ?').run(file)
  return file
}

async function deliver(options: CommandOptions): Promise<void> {
  await using service = await startService(options)
  await allDelivered(service)
  await service.stop()
}

/** The addresses in the workbook, sorted. */
async function inWorkbook(dataDir: string): Promise<string[]> {
  const text = await readFile(join(dataDir, 'sheets', 'Sheet1.csv'), 'utf8')
  const [, ...lines] = text.trimEnd().split('\r\n')
  return lines.map((line) => line.split(',')[0] ?? '').toSorted()
}

/** A folder with a `DATA_DIR`, removed at the end. */
async function dataFolder() {
  const folder = await tempFolder()
  const dataDir = join(folder.path, 'data')
  const restore = (file: string, ...args: string[]) =>
    runCommand(['restore', file, ...args], { dataDir })
  return {
    ...{ dataDir, restore, options: { dataDir } },
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  }
}

test('a restore in the place of a journal that is gone says what it cannot know', async () => {
  await using data = await dataFolder()
  await (await startService(data.options)).stop()
  const backup = backUp(data.dataDir)
  await rm(join(data.dataDir, 'journal.db'))
  const { stdout } = await data.restore(backup)
  expect(stdout).toContain('who were forgotten after the backup are in it again')
  expect(stdout).toContain('Who confirmed, declined or left after it is unknown')
  expect(stdout).toContain('What was released from quarantine or erased there after it is held')
})

test('what was written after the backup is not written twice, and what waits is written', async () => {
  await using data = await dataFolder()
  const { dataDir } = data
  await (await startService(data.options)).stop()
  await append(dataDir, 'ada')
  await deliver(data.options)
  await append(dataDir, 'bob', 'eve')
  const backup = backUp(dataDir)
  {
    await using service = await startService(data.options)
    await postSignups(service.url, [address('later')])
    await allDelivered(service)
    await service.stop()
  }
  const before = await inWorkbook(dataDir)
  expect(before).toEqual(['ada', 'bob', 'eve', 'later'].map(address))
  // A person removes a row: it was never settled as far as the backup knows, so it comes back.
  const file = join(dataDir, 'sheets', 'Sheet1.csv')
  const lines = (await readFile(file, 'utf8')).split('\r\n')
  await writeFile(file, lines.filter((line) => !line.startsWith('eve')).join('\r\n'))

  const { code, stdout } = await data.restore(backup, '--replace', '--json')
  expect({ code, report: JSON.parse(stdout) }).toMatchObject({
    code: 0,
    report: { signups: 3, waiting: 2, forgotten: 0, quotaFull: false },
  })
  await deliver(data.options)
  expect(await inWorkbook(dataDir)).toEqual(before)
  await deliver(data.options)
  expect(await inWorkbook(dataDir)).toEqual(before)
  const verified = await runCommand(['verify', '--json'], data.options)
  expect(JSON.parse(verified.stdout)).toMatchObject({
    signups: { present: 3, missing: 0, waiting: 0 },
    rows: { others: 1 },
  })
})

test('a restore onto a new machine makes a private journal, and says what to do next', async () => {
  await using old = await dataFolder()
  await (await startService(old.options)).stop()
  await append(old.dataDir, 'ada')
  const backup = backUp(old.dataDir)
  await using data = await dataFolder()
  const { code, stdout, stderr } = await data.restore(backup)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(/^Restored: .*journal\.db, with 1 signup, of which 1 waits\.\n/)
  expect(stdout).toMatch(/Start the service now\..*compares/)
  expect((await stat(join(data.dataDir, 'journal.db'))).mode & 0o777).toBe(0o600)
  expect((await readdir(data.dataDir)).toSorted()).toEqual(['journal.db', 'journal.secret', 'lock'])
  await deliver(data.options)
  expect(await inWorkbook(data.dataDir)).toEqual([address('ada')])
})

test('the journal that was there is kept, whole, and can be restored itself', async () => {
  await using data = await dataFolder()
  await (await startService(data.options)).stop()
  const backup = backUp(data.dataDir)
  await append(data.dataDir, 'ada')
  const { stdout } = await data.restore(backup, '--replace', '--json')
  const { aside } = JSON.parse(stdout) as { aside: string }
  expect(aside).toMatch(/journal\.db\.before-\d{8}T\d{6}Z$/)
  const back = await data.restore(aside, '--replace', '--json')
  expect(JSON.parse(back.stdout)).toMatchObject({ signups: 1, waiting: 1 })
})

test('a damaged journal is put aside with its log', async () => {
  await using data = await dataFolder()
  await (await startService(data.options)).stop()
  const backup = backUp(data.dataDir)
  for (const end of ['', '-wal']) await writeFile(join(data.dataDir, `journal.db${end}`), 'rubbish')
  const { code, stdout } = await data.restore(backup, '--replace')
  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('forget') })
  const names = await readdir(data.dataDir)
  expect(names.filter((name) => name.includes('before'))).toHaveLength(2)
  expect(names).not.toContain('journal.db-wal')
  await deliver(data.options)
})

test('restore refuses what it must, and changes nothing', async () => {
  await using data = await dataFolder()
  const { dataDir } = data
  await (await startService(data.options)).stop()
  await append(dataDir, 'ada')
  const journal = join(dataDir, 'journal.db')
  const backup = backUp(dataDir)
  const files = async () => (await readdir(dataDir)).toSorted()
  const before = await files()
  const given = async (name: string, content: string | Uint8Array) => {
    const file = join(dataDir, '..', name)
    await writeFile(file, content)
    return file
  }
  const bytes = await readFile(backup)
  const foreign = join(dataDir, '..', 'foreign.db')
  {
    using database = new DatabaseSync(foreign)
    database.exec('CREATE TABLE a (b); PRAGMA user_version = 9')
  }
  const cases: [string, string[], RegExp][] = [
    [backup, [], /is there already\. Give --replace/],
    [journal, ['--replace'], /is the journal itself/],
    ['nowhere.db', ['--replace'], /there is no such file/],
    [
      await given('empty', ''),
      ['--replace'],
      /no backup\. Give a file that npm run -s rollcall -- backup/,
    ],
    [dataDir, ['--replace'], /is not a file/],
    [await given('cut', bytes.subarray(0, bytes.length / 2)), ['--replace'], /malformed|damaged/],
    [foreign, ['--replace'], /its tables differ/],
  ]
  for (const [file, args, message] of cases) {
    const { code, stderr } = await data.restore(file, ...args)
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(message) })
    expect(stderr.trimEnd()).not.toContain('\n')
  }
  expect(await files()).toEqual(before)
  await using service = await startService(data.options)
  const { code, stderr } = await data.restore(backup, '--replace')
  expect({ code, stderr }).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /is in use by another process\. Stop that process, restore, and start it again\. /,
    ),
  })
  await allDelivered(service)
})

test('a restore that is killed at any moment leaves the journal before or the restored one', async () => {
  await using data = await dataFolder()
  const { dataDir } = data
  await (await startService(data.options)).stop()
  await append(dataDir, 'ada')
  const backup = backUp(dataDir)
  await append(dataDir, 'bob', 'eve')
  const saved = join(dataDir, '..', 'saved.db')
  await copyFile(backUp(dataDir), saved)
  const seen = new Set<number>()
  const begin = performance.now()
  await data.restore(backup, '--replace')
  const wholeMs = performance.now() - begin
  // The first is early enough on a machine that was busy when the whole one was measured.
  for (const share of [0.2, 0.5, 0.58, 0.66, 0.74, 0.82, 0.9, 0.98, 1.06]) {
    await data.restore(saved, '--replace')
    const command = startCommand(['restore', backup, '--replace'], { dataDir })
    await sleep(wholeMs * share)
    command.kill('SIGKILL')
    await command.ended.catch(() => undefined)
    await using journal = openSqliteJournal(join(dataDir, 'journal.db'))
    seen.add((await journal.reader.figures()).all.accepted)
  }
  expect([...seen].every((count) => count === 1 || count === 3)).toBe(true)
  expect(seen.has(3)).toBe(true)
})

test('a forgotten person of a batch that was on its way when the backup was made keeps no row', async () => {
  await using data = await dataFolder()
  await (await startService(data.options)).stop()
  await append(data.dataDir, 'ada', 'bob')
  {
    await using journal = openSqliteJournal(join(data.dataDir, 'journal.db'))
    await freezeNext(journal.delivery)
  }
  const backup = backUp(data.dataDir)
  {
    await using journal = openSqliteJournal(backup)
    await journal.erasure.forget(address('ada'))
    expect(await journal.erasure.eraseNext(0)).toMatchObject({ frozen: [1] })
  }
  await deliver(data.options)
  expect(await inWorkbook(data.dataDir)).toEqual(['ada', 'bob'].map(address))
  expect((await data.restore(backup, '--replace')).code).toBe(0)
  await using service = await startService(data.options)
  await allDelivered(service)
  const people = async () => (await inWorkbook(data.dataDir)).filter((cell) => cell.trim() !== '')
  await expect.poll(people).toEqual([address('bob')])
})

test('the quota counts as used up by calls since the backup, unless the journal before knows them', async () => {
  await using data = await dataFolder()
  await using google = await createGoogleWorld()
  const options = { ...data.options, env: google.env }
  await using service = await startService(options)
  await postSignups(service.url, [address('ada')])
  await allDelivered(service)
  const backup = backUp(data.dataDir)
  await service.stop()
  const restore = async (dataDir: string, ...args: string[]) => {
    const run = { ...options, dataDir }
    const { stdout } = await runCommand(['restore', backup, '--json', ...args], run)
    const status = await runCommand(['status', '--json'], run)
    const { quota } = JSON.parse(status.stdout) as {
      quota: { perMinute: { left: number }; perDay: { left: number } }
    }
    return { report: JSON.parse(stdout) as object, quota }
  }
  const known = await restore(data.dataDir, '--replace')
  expect(known).toMatchObject({ report: { quotaFull: false } })
  expect(known.quota.perMinute.left).toBeGreaterThan(30)
  await using other = await dataFolder()
  const blind = await restore(other.dataDir)
  expect(blind).toMatchObject({ report: { quotaFull: true }, quota: { perMinute: { left: 0 } } })
})

test('a restored journal has new markers, no frozen batch, and nothing to tell of the time before', async () => {
  await using data = await dataFolder()
  const file = join(data.dataDir, 'journal.db')
  await (await startService(data.options)).stop()
  await append(data.dataDir, 'ada')
  let before: FrozenBatch | undefined
  {
    await using journal = openSqliteJournal(file)
    before = await freezeNext(journal.delivery)
    const outage = { since: noon, isTold: true }
    const waiting = [{ id: 'msg_1', body: '{}', tries: 3, nextAt: noon }]
    await journal.delivery.noteFact(noticesFact, JSON.stringify({ outage, waiting }))
  }
  await data.restore(backUp(data.dataDir), '--replace')
  const { stdout } = await runCommand(['status', '--json'], data.options)
  const delivery = { state: 'unknown' }
  expect(JSON.parse(stdout), 'how delivery fared then').toMatchObject({ delivery })
  await using journal = openSqliteJournal(file)
  expect(await journal.delivery.fact(noticesFact)).toBeUndefined()
  expect(await journal.delivery.frozenBatch()).toBeUndefined()
  const after = await freezeNext(journal.delivery)
  expect(after?.tabs).toEqual(before?.tabs)
  const base = (batch: typeof after) => Number(batch?.marker) - Number(batch?.number)
  expect(base(after)).not.toBe(base(before))
  expect(after?.number).not.toBe(before?.number)
  expect(after?.fingerprint.split(':')[0]).not.toBe(before?.fingerprint.split(':')[0])
})

test('a restored journal knows the markers of the journals before it as its own', async () => {
  await using data = await dataFolder()
  await using google = await createGoogleWorld()
  const options = { ...data.options, env: google.env }
  const deliverTo = async (name: string) => {
    await using service = await startService(options)
    await postSignups(service.url, [address(name)])
    await allDelivered(service)
    await service.stop()
  }
  await deliverTo('ada')
  const backup = backUp(data.dataDir)
  await deliverTo('bob')
  const aboutSpreadsheet = async () =>
    (await runDoctor(options)).of('spreadsheet').map(({ state }) => state)
  // What the second journal writes is in no backup; the third replaces it.
  for (const name of ['eve', 'zoe']) {
    const { stderr } = await runCommand(['restore', backup, '--replace'], options)
    expect(stderr).toBe('')
    expect(await aboutSpreadsheet()).toEqual(['ok'])
    await deliverTo(name)
  }
  expect(await aboutSpreadsheet()).toEqual(['ok'])
})

test('a backup of several sites is restored for each of them, and no row is written twice', async () => {
  await using data = await dataFolder()
  const { dataDir } = data
  const sites = ['shop', 'blog']
  const env = {
    ROLLCALL_CONFIG: JSON.stringify({ sites: Object.fromEntries(sites.map((it) => [it, {}])) }),
  }
  const post = async (url: string, site: string, name: string) => {
    const email = `${name}-${site}@example.com`
    const answer = await postSignup(url, { email, site }, { prefer: 'wait=20' })
    expect(answer.status).toBe(201)
  }
  let backup: string
  {
    await using service = await bootService({ dataDir, env })
    for (const site of sites) await post(service.url, site, 'ada')
    backup = backUp(dataDir)
    for (const site of sites) await post(service.url, site, 'later')
  }
  const restored = await runCommand(['restore', backup, '--replace', '--json'], { dataDir, env })
  expect(restored.code, restored.stderr).toBe(0)
  expect(JSON.parse(restored.stdout)).toMatchObject({ signups: 2 })
  {
    await using service = await bootService({ dataDir, env })
    for (const site of sites) await post(service.url, site, 'last')
  }
  for (const site of sites) {
    const text = await readFile(join(dataDir, 'sheets', site, 'Sheet1.csv'), 'utf8')
    const names = text.match(/^\w+(?=-\w+@)/gm)
    expect(names).toEqual(['ada', 'later', 'last'])
  }
})
