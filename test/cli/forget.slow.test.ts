import { existsSync } from 'node:fs'
import { appendFile, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'

import type { Forgotten } from '../../src/operations/forget.ts'
import { allDelivered } from '../../harness/delivery-state.ts'
import { freezeNext } from '../../harness/freeze-next.ts'
import { makeSignup } from '../../harness/make-signup.ts'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
import { addressesInSheet, createGoogleWorld } from '../../harness/google-world.ts'
import { postBulk, postSignup } from '../../harness/post-signup.ts'
import { runCommand, startCommand } from '../../harness/run-command.ts'
import { startService } from '../../harness/start-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'

const ada = 'Ada.Lovelace@example.com'
const others = ['bob@example.com', 'eve@example.com']

interface Place {
  readonly dataDir: string
  readonly env?: Readonly<Record<string, string>>
}

/** Forgets Ada, with her address in other letters and on standard input. */
async function forget(place: Place, ...args: readonly string[]) {
  const input = ' ada.lovelace@EXAMPLE.com\n'
  const { code, stdout } = await runCommand(['forget', '-', '--json', ...args], { ...place, input })
  return { code, ...(JSON.parse(stdout) as Forgotten) }
}

/** A service that has written the rows of these signups. */
async function delivered(place: Place, signups: readonly object[] = everyone) {
  await using started = new AsyncDisposableStack()
  const service = started.use(await startService(place))
  await postBulk(service.url, { signups })
  await allDelivered(service)
  started.move()
  return service
}

/** All files below a folder that have her address, in any letter case. */
async function filesWithAda(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  const found = files.map(async ({ parentPath, name }) => {
    const text = await readFile(join(parentPath, name), 'latin1')
    return text.toLowerCase().includes(ada.toLowerCase()) ? [name] : []
  })
  return (await Promise.all(found)).flat()
}

const everyone = [ada, ...others].map((email) => ({ email, metadata: { note: `of ${email}` } }))

test('forget erases a person beside a service, in all tabs and files, and nobody else', async () => {
  await using google = await createGoogleWorld()
  await using data = await tempFolder()
  const place = { dataDir: data.path, env: google.env }
  await using service = await startService(place)
  await postBulk(service.url, { signups: everyone })
  await postSignup(
    service.url,
    { email: ada.toLowerCase(), sheetTab: 'News' },
    { 'Idempotency-Key': ada },
  )
  await allDelivered(service)
  expect(await filesWithAda(data.path)).toContain('journal.db-wal')
  expect(await forget(place)).toEqual({
    code: 0,
    done: true,
    signups: { erased: 2, unwritten: 0, inBatch: 0 },
    beside: { pending: 0, mails: 0, blocks: 0 },
    rows: { removed: 2, notFound: 0, waiting: 0, others: 0 },
    reason: null,
    absentSites: [],
    mentions: 0,
    files: [],
    byHand: expect.any(Array),
  })
  expect(await filesWithAda(data.path)).toEqual([])
  const left = await addressesInSheet(google)
  expect(left.filter((address) => address !== '')).toEqual(others)
  expect(await addressesInSheet(google, 'News')).toEqual([])
  const again = await postSignup(
    service.url,
    { email: ada.toLowerCase(), sheetTab: 'News' },
    { 'Idempotency-Key': ada },
  )
  expect(again.headers.get('Idempotency-Replayed')).toBe('true')
  expect(await filesWithAda(data.path)).toEqual([])
})

test('forget removes the rows of the local workbook, beside a service and without one, and leaves no empty line', async () => {
  await using data = await tempFolder()
  const place = { dataDir: data.path }
  {
    await using service = await delivered(place)
    expect(await forget(place)).toMatchObject({ code: 0, done: true, rows: { removed: 1 } })
    expect(await filesWithAda(data.path)).toEqual([])
    await postBulk(service.url, { signups: everyone })
    await allDelivered(service)
  }
  expect(await filesWithAda(data.path)).toContain('Sheet1.csv')
  expect(await forget(place)).toMatchObject({ code: 0, done: true, rows: { removed: 1 } })
  expect(await filesWithAda(data.path)).toEqual([])
  const text = await readFile(join(data.path, 'sheets/Sheet1.csv'), 'utf8')
  const [, ...rows] = text.split('\r\n')
  expect(rows.map((row) => row.split(',')[0])).toEqual([...others, ...others, ''])
})

test('a forget that is killed while it writes the file anew loses no row, and the next one ends it', async () => {
  await using data = await tempFolder()
  const place = { dataDir: data.path }
  const sheet = join(data.path, 'sheets/Sheet1.csv')
  const copy = join(data.path, 'sheets/.rollcall/half.tmp')
  {
    await using _ = await delivered(place)
  }
  // A long list of somebody's own makes the file take its time.
  await appendFile(sheet, 'typed by hand,,,,,,\r\n'.repeat(500_000))
  const before = await readFile(sheet)
  const isKilledWithin = async () => {
    const command = startCommand(['forget', '-'], { ...place, input: ada })
    const isAt = () => existsSync(copy)
    const isOver = command.ended.then(() => true)
    while (!isAt() && !(await Promise.race([isOver, sleep(1, false)])));
    command.kill('SIGKILL')
    await command.ended
    return isAt()
  }
  expect(await isKilledWithin(), 'the copy is half written').toBe(true)
  expect(before.equals(await readFile(sheet)), 'the file is as it was').toBe(true)
  expect(await forget(place)).toMatchObject({ code: 0, done: true, rows: { waiting: 0 } })
  const line =
    before
      .toString('latin1')
      .split('\r\n')
      .find((text) => text.startsWith(ada)) ?? ''
  expect(
    (await readFile(sheet, 'latin1')) === before.toString('latin1').replace(`${line}\r\n`, ''),
    'every other row',
  ).toBe(true)
  expect(existsSync(copy)).toBe(false)
  expect(await filesWithAda(data.path)).toEqual([])
})

test('while Google is down, a signup that waits is never written, and what was sent is removed later', async () => {
  await using google = await createGoogleWorld()
  await using data = await tempFolder()
  const place = { dataDir: data.path, env: google.env }
  await using service = await delivered(place)
  google.emulator.faults.add({ on: 'any', times: 0 })
  // The first of these is in the frozen batch, the second waits behind it.
  await postSignup(service.url, { email: ada })
  await expect.poll(async () => (await forget(place, '--wait', '0')).signups.inBatch).toBe(1)
  await postSignup(service.url, { email: ada, sheetTab: 'News' })
  const down = await forget(place, '--wait', '0')
  expect(down).toMatchObject({ code: 1, done: false, signups: { unwritten: 1, inBatch: 1 } })
  expect(down.rows).toMatchObject({ removed: 0, waiting: 2 })
  expect(down.files).not.toEqual([])
  google.emulator.faults.clear()
  await expect.poll(() => filesWithAda(data.path), { timeout: 60_000 }).toEqual([])
  const rows = await addressesInSheet(google)
  expect(rows.filter((address) => address !== '')).toEqual(others)
  await postSignup(service.url, { email: ada })
  await allDelivered(service)
  expect((await addressesInSheet(google)).at(-1)).toBe(ada)
})

test('what forget could not do without a service, the next forget does', async () => {
  await using google = await createGoogleWorld()
  await using data = await tempFolder()
  const place = { dataDir: data.path, env: google.env }
  {
    await using _ = await delivered(place)
  }
  google.emulator.faults.add({ on: ['get', 'batchUpdate'], answer: 'notShared', times: 0 })
  expect(await forget(place, '--wait', '2')).toMatchObject({
    code: 1,
    rows: { waiting: 1 },
    reason: 'The caller does not have permission',
  })
  google.emulator.faults.clear()
  google.emulator.faults.add({ on: 'batchUpdate', answer: 'unavailable', times: 0 })
  expect(await forget(place, '--wait', '2')).toMatchObject({
    rows: { waiting: 1 },
    reason: expect.stringMatching(/503|unavailable/i),
  })
  google.emulator.faults.clear()
  const next = await runCommand(['forget', others[0] ?? ''], place)
  expect(next.code).toBe(0)
  expect(next.stdout).toContain('Removed from the spreadsheet: 1 row.')
  expect(next.stdout).toContain('No file in DATA_DIR has the address.')
  expect(await filesWithAda(data.path)).toEqual([])
  const left = await addressesInSheet(google)
  expect(left.filter((address) => address !== '')).toEqual(others.slice(1))
})

test('forget without a service ends the batch that is on its way, and writes nothing else', async () => {
  await using data = await tempFolder()
  const place = { dataDir: data.path }
  await (await startService(place)).stop()
  {
    await using journal = openSqliteJournal(join(data.path, 'journal.db'))
    const [bob = '', eve = ''] = others
    await journal.intake.append([ada, bob].map((email) => makeSignup({ email })))
    await freezeNext(journal.delivery)
    await journal.intake.append([makeSignup({ email: eve })])
  }
  await writeFile(join(data.path, 'sheets', 'notes.txt'), `call ${ada}`)
  expect(await forget(place)).toMatchObject({
    code: 1,
    signups: { erased: 1, unwritten: 0, inBatch: 0 },
    rows: { removed: 1, waiting: 0 },
    files: ['sheets/notes.txt'],
  })
  const text = await readFile(join(data.path, 'sheets/Sheet1.csv'), 'utf8')
  expect(text.match(/^\S+@example\.com/gm)).toEqual(others.slice(0, 1))
})

test('forget tells of rows that a person has changed, and of other people who name the address', async () => {
  await using google = await createGoogleWorld()
  await using data = await tempFolder()
  const place = { dataDir: data.path, env: google.env }
  await using service = await startService(place)
  await postSignup(service.url, { email: ada })
  await postSignup(service.url, { email: ada })
  await postSignup(service.url, { email: others[0] ?? '', metadata: { friend: ada } })
  await allDelivered(service)
  const sheet = google.emulator.spreadsheet(google.spreadsheetId)
  sheet.editCell('Sheet1', 'A2', 'somebody@example.com')
  sheet.editCell('Sheet1', 'B3', 'last week')
  const before = sheet.rows('Sheet1')
  expect(await forget(place)).toMatchObject({
    code: 1,
    rows: { removed: 0, notFound: 2, others: 1 },
    mentions: 1,
    files: expect.arrayContaining(['journal.db']),
  })
  expect(sheet.rows('Sheet1')).toEqual(before)
})

test('forget tells when no signup has the address, so that a typing error is noticed', async () => {
  await using data = await tempFolder()
  const place = { dataDir: data.path }
  {
    await using _ = await delivered(place, [{ email: ada }])
  }
  const told = async (address: string) => (await runCommand(['forget', address], place)).stdout
  expect(await told('adda@example.com')).toMatch(
    /^No signup has this address: check its spelling\./,
  )
  expect(await told(ada)).toMatch(/^Erased from the journal: 1 signup\.\nRemoved .*: 1 row\./)
})

test('forget says to delete the journal that a restore has put aside', async () => {
  await using data = await tempFolder()
  await using _ = await delivered({ dataDir: data.path })
  await writeFile(join(data.path, 'journal.db.before-20261120T101500Z'), ada)
  const { code, stdout } = await runCommand(['forget', ada], { dataDir: data.path })
  expect(code).toBe(1)
  expect(stdout).toMatch(
    /have the address: journal\.db\.before-\S+Z\. Delete a journal that a restore has put aside/,
  )
  expect(stdout).toMatch(/^Not reached.* lists that were imported.*\(\.rejected\.csv\)/m)
})

test.each([
  ['no address', 'ada', 2],
  ['an address when there is no journal', 'ada@example.com', 1],
])('forget refuses %s, and makes nothing', async (_, address, expected) => {
  await using data = await tempFolder()
  const { code, stdout } = await runCommand(['forget', address], { dataDir: join(data.path, 'x') })
  expect({ code, stdout }).toEqual({ code: expected, stdout: '' })
  expect(await readdir(data.path)).toEqual([])
})
