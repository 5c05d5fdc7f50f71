// @module-tag slow
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'

import type { Forgotten } from '../../src/operations/forget.ts'
import { allDelivered } from '../../harness/delivery-state.ts'
import { freezeNext } from '../../harness/freeze-next.ts'
import { makeSignup } from '../../harness/make-signup.ts'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
import { addressesInSheet, createGoogleWorld } from '../../harness/google-world.ts'
import { postBulk, postSignup } from '../../harness/post-signup.ts'
import { runCommand } from '../../harness/run-command.ts'
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
    rows: { toGo: 2, waiting: 0 },
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
    expect(await forget(place)).toMatchObject({ code: 0, done: true, rows: { toGo: 1 } })
    expect(await filesWithAda(data.path)).toEqual([])
    await postBulk(service.url, { signups: everyone })
    await allDelivered(service)
  }
  expect(await filesWithAda(data.path)).toContain('Sheet1.csv')
  expect(await forget(place)).toMatchObject({ code: 0, done: true, rows: { toGo: 1 } })
  expect(await filesWithAda(data.path)).toEqual([])
  const text = await readFile(join(data.path, 'sheets/Sheet1.csv'), 'utf8')
  const [, ...rows] = text.split('\r\n')
  expect(rows.map((row) => row.split(',')[0])).toEqual([...others, ...others, ''])
})

test('while Google is down, a signup that waits is never written, and what was sent is removed later', async () => {
  await using google = await createGoogleWorld()
  await using data = await tempFolder()
  const place = { dataDir: data.path, env: google.env }
  await using service = await delivered(place)
  google.emulator.faults.add({ on: 'any', times: 0 })
  const calls = () => google.emulator.log.calls('batchUpdate').length
  const before = calls()
  // The first of these is in the frozen batch, the second waits behind it.
  await postSignup(service.url, { email: ada })
  await expect.poll(calls).toBeGreaterThan(before)
  expect((await forget(place, '--wait', '0')).signups.inBatch).toBe(1)
  await postSignup(service.url, { email: ada, sheetTab: 'News' })
  const down = await forget(place, '--wait', '0')
  expect(down).toMatchObject({ code: 1, done: false, signups: { unwritten: 1, inBatch: 1 } })
  expect(down.rows).toEqual({ toGo: 2, waiting: 2 })
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
  expect(await forget(place, '--wait', '8')).toMatchObject({
    code: 1,
    rows: { waiting: 1 },
    reason: 'The caller does not have permission',
  })
  google.emulator.faults.clear()
  google.emulator.faults.add({ on: 'batchUpdate', answer: 'unavailable', times: 0 })
  expect(await forget(place, '--wait', '8')).toMatchObject({
    rows: { waiting: 1 },
    reason: expect.stringMatching(/503|unavailable/i),
  })
  google.emulator.faults.clear()
  const next = await runCommand(['forget', others[0] ?? ''], place)
  expect(next.code).toBe(0)
  expect(next.stdout).toContain('To go from the spreadsheet: 1 row. That is done.')
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
    rows: { toGo: 1, waiting: 0 },
    files: ['sheets/notes.txt'],
  })
  const text = await readFile(join(data.path, 'sheets/Sheet1.csv'), 'utf8')
  expect(text.match(/^\S+@example\.com/gm)).toEqual(others.slice(0, 1))
})

test('forget leaves rows whose address or time a person has changed, and tells of other people who name the address', async () => {
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
    rows: { toGo: 2, waiting: 0 },
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
  expect(await told(ada)).toMatch(
    /^Erased from the journal: 1 signup\.\nTo go .*: 1 row\. That is done\./,
  )
})

test('with --dry-run forget counts what would go, in other letters too, and changes nothing', async () => {
  await using data = await tempFolder()
  const place = { dataDir: data.path }
  {
    await using _ = await delivered(place, [{ email: ada }, { email: others[0] }])
  }
  {
    const policy = { holdsSuspects: true, confirmation: { waitMs: 60_000 } }
    await using journal = openSqliteJournal(join(data.path, 'journal.db'), policy)
    const suspect = { email: ada, suspect: ['hidden-field' as const] }
    await journal.intake.append([makeSignup({ email: ada }), makeSignup(suspect)])
    const addressing = { share: '', language: 'en' }
    const asked = [makeSignup({ email: ada }), makeSignup(suspect), makeSignup()]
    await journal.intake.ask(asked, { addressing })
    await journal.outbox.claim({ kinds: ['confirm'], by: 'me', now: Date.now(), max: 0 })
  }
  const dry = (...args: readonly string[]) =>
    runCommand(['forget', ada.toLowerCase(), '--dry-run', ...args], place)
  const found = { signups: 2, rows: 1, waiting: 1, held: 2, pending: 1, mails: 1 }
  expect(JSON.parse((await dry('--json')).stdout)).toEqual(found)
  const { code, stdout } = await dry()
  expect([code, stdout.split('\n')]).toEqual([
    0,
    [
      'Would erase: 2 signups of the list, 2 held, 1 pending, 1 mail.',
      'To go from the spreadsheet: 1 row.',
      'Waiting for a row: 1 signup.',
      'Nothing was changed.',
      '',
    ],
  ])
  const nobody = await runCommand(['forget', 'adda@example.com', '--dry-run'], place)
  expect(nobody.stdout).toBe('Nothing is kept about this address. Nothing was changed.\n')
  expect(await forget(place)).toMatchObject({
    signups: { erased: 3, unwritten: 2 },
    beside: { pending: 2, mails: 1 },
    rows: { toGo: 1 },
  })
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
