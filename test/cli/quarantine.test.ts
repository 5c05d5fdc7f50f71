import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { allDelivered } from '../../harness/delivery-state.ts'
import { createGoogleWorld } from '../../harness/google-world.ts'
import { postSignup } from '../../harness/post-signup.ts'
import { postSuspect } from '../../harness/post-suspect.ts'
import { addressesIn, readTab } from '../../harness/read-workbook.ts'
import { runCommand } from '../../harness/run-command.ts'
import { bootService } from '../../harness/boot-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import type { Decided } from '../../src/operations/quarantine.ts'
import type { Status } from '../../src/operations/status.ts'

const env = { SPAM_FILTER: 'quarantine' }

interface Place {
  readonly dataDir: string
  readonly env: Readonly<Record<string, string>>
}

interface Answered {
  readonly id: string
  readonly receivedAt: string
}

async function idOf(answer: Promise<Response>): Promise<string> {
  return ((await (await answer).json()) as Answered).id
}

async function held(place: Place, ...args: readonly string[]) {
  const { code, stdout } = await runCommand(['quarantine', '--json', ...args], place)
  expect(code).toBe(0)
  const lines = stdout.split('\n').filter((line) => line !== '')
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>)
}

async function act(place: Place, ...args: readonly string[]) {
  const { code, stdout, stderr } = await runCommand(['quarantine', ...args, '--json'], place)
  return { code, stderr, ...(stdout && (JSON.parse(stdout) as Decided)) }
}

const done = (signups: number) => ({ code: 0, signups, inBatch: 0, notHeld: 0 })

test('a suspect signup has no row in the spreadsheet, and gets its row where it asked for one when it is released', async () => {
  await using data = await tempFolder()
  const place = { dataDir: data.path, env }
  await using service = await bootService(place)
  const metadata = JSON.stringify({ plan: 'free' })
  const answer = await postSuspect(service.url, {
    ...{ email: 'ada@example.com', sheetTab: 'Letters', name: 'Ada', metadata },
  })
  const { id, receivedAt } = (await answer.clone().json()) as Answered
  expect([answer.status, await answer.json()]).toEqual([
    202,
    { id, receivedAt, status: 'accepted', sheetTab: 'Letters' },
  ])
  await allDelivered(service)
  const cells = ['ada@example.com', receivedAt, 'form', 'Ada', '']
  expect(await readdir(join(data.path, 'sheets'))).not.toContainEqual(expect.stringMatching(/csv$/))
  const status = async (): Promise<unknown> =>
    (await fetch(`${service.url}/api/signup/${id}`)).json()
  expect(await status()).toMatchObject({ status: 'written', sheetTab: 'Letters' })
  const signup = { email: 'ada@example.com', name: 'Ada', source: 'form', sheetTab: 'Letters' }
  expect(await held(place)).toEqual([
    { id, ...signup, timestamp: receivedAt, metadata: { plan: 'free' }, suspect: ['hidden-field'] },
  ])
  const { stdout, stderr } = await runCommand(['quarantine'], place)
  expect(stdout).toBe(`${id}  ${receivedAt}  hidden-field  Letters  ada@example.com  Ada\n`)
  expect(stderr).toContain('Held: 1 signup.')

  expect(await act(place, 'release', id, id)).toMatchObject(done(1))
  await allDelivered(service)
  expect(readTab(data.path, 'Letters.csv').slice(1)).toEqual([
    [...cells, '{"plan":"free"}', 'Letters'],
  ])
  expect(await status()).toMatchObject({ status: 'written', sheetTab: 'Letters' })
  expect(await held(place)).toEqual([])
  expect(await act(place, 'release', id)).toMatchObject({ code: 1, signups: 0, notHeld: 1 })
  expect(readTab(data.path, 'Letters.csv')).toHaveLength(2)
})

test('filters choose what is listed, released and erased, and --dry-run changes nothing', async () => {
  await using google = await createGoogleWorld()
  await using data = await tempFolder()
  const place = { dataDir: data.path, env: { ...google.env, ...env } }
  await using service = await bootService(place)
  const addresses = ['a@one.example', 'b@one.example', 'c@two.example', 'd@sub.one.example']
  for (const email of addresses) await postSuspect(service.url, { email })
  await postSignup(service.url, { email: 'e@one.example' })
  await allDelivered(service)
  const emails = async (...args: readonly string[]) =>
    (await held(place, ...args)).map(({ email }) => email)
  expect(await emails('--domain', 'ONE.example')).toEqual(addresses.slice(0, 2))
  const [first] = await held(place)
  expect(await emails('--since', String(first?.['timestamp']))).toEqual(addresses)
  expect(await emails('--since', '2099-01-01')).toEqual([])
  const trial = await act(place, 'erase', '--domain', 'one.example', '--dry-run')
  expect(trial).toMatchObject(done(2))
  expect(await emails()).toEqual(addresses)
  const erased = await act(place, 'erase', '--domain', 'one.example')
  expect(erased).toMatchObject(done(2))
  const released = await act(place, 'release', 'C@two.example', 'nobody@two.example')
  expect(released).toMatchObject({ ...done(1), code: 1, notHeld: 1 })
  const others = await act(place, 'release', '--since', '2001-01-01')
  expect(others).toMatchObject(done(1))
  await allDelivered(service)
  const rows = async (tab: string) => ((await google.rows(tab)) ?? []).map(([email]) => email)
  expect(await rows('Sheet1')).toEqual([
    'Email',
    'e@one.example',
    'c@two.example',
    'd@sub.one.example',
  ])
})

test(
  'one in a batch that is on its way is released when that has ended, and until then the command says so',
  { tags: 'slow' },
  async () => {
    await using google = await createGoogleWorld()
    await using data = await tempFolder()
    const place = { dataDir: data.path, env: { ...google.env, ...env } }
    await using service = await bootService(place)
    await postSignup(service.url, { email: 'before@example.com' })
    await allDelivered(service)
    google.emulator.faults.add({ answer: 'unavailable', times: Infinity })
    const calls = () => google.emulator.log.calls('batchUpdate').length
    const before = calls()
    const id = await idOf(postSuspect(service.url, { email: 'ada@example.com' }))
    await expect.poll(calls).toBeGreaterThan(before)
    const report = await act(place, 'release', id, '--wait', '1')
    expect(report).toMatchObject({ code: 1, signups: 0, inBatch: 1 })
    const { stdout } = await runCommand(['quarantine', 'release', id, '--wait', '0'], place)
    expect(stdout).toContain('In a batch that is on its way, and still held: 1.')
    const waiting = act(place, 'release', id)
    google.emulator.faults.clear()
    expect(await waiting).toMatchObject(done(1))
    await allDelivered(service)
    const rows = ((await google.rows('Sheet1')) ?? []).map(([email]) => email)
    expect(rows).toEqual(['Email', 'before@example.com', 'ada@example.com'])
  },
)

test('status, doctor, export and a later filter tell suspect signups apart', async () => {
  await using data = await tempFolder()
  const place = { dataDir: data.path, env }
  {
    await using service = await bootService(place)
    await postSuspect(service.url, { email: 'a@example.com' })
    await postSuspect(service.url, { email: 'd@example.net' })
    await postSignup(service.url, { email: 'b@example.com' })
    await allDelivered(service)
    const { stdout } = await runCommand(['status', '--json'], place)
    expect(JSON.parse(stdout) as Status).toMatchObject({
      // Today may have begun since.
      accepted: { sevenDays: 1, all: 1 },
      written: { all: 1 },
      suspect: { sevenDays: 2, all: 2, signs: { 'hidden-field': 2 } },
      waiting: { signups: 0 },
    })
    expect((await runCommand(['status'], place)).stdout).toMatch(/Suspect +\d +2 +2[^]*^Held +2$/m)
    const doctor = await runCommand(['doctor'], place)
    expect(doctor.stdout).toMatch(/^warning held +signups that are held: 2\. Do: .* quarantine, /m)
    const exported = await runCommand(['export'], place)
    expect(exported.stdout).toContain('b@example.com')
    expect(exported.stdout).not.toContain('a@example.com')
    expect(exported.stderr).toContain('as they are held: 2 signups')
    const verified = await runCommand(['verify', '--json'], place)
    expect(JSON.parse(verified.stdout)).toMatchObject({ signups: { present: 1, missing: 0 } })
  }
  const logging = { ...place, env: {} }
  await using service = await bootService(logging)
  await postSignup(service.url, { email: 'c@example.com', sheetTab: 'Other' })
  await allDelivered(service)
  const emails = (await held(logging)).map(({ email }) => email)
  expect(emails).toEqual(['a@example.com', 'd@example.net'])
  const { stdout } = await runCommand(['status', '--json'], logging)
  expect(JSON.parse(stdout) as Status).toMatchObject({ accepted: { all: 2 }, suspect: { all: 2 } })
  const report = await act(logging, 'release', '--domain', 'example.com')
  expect(report).toMatchObject(done(1))
  await allDelivered(service)
  expect(addressesIn(data.path)).toEqual(['b@example.com', 'a@example.com'])
})

test('an import is never suspected', async () => {
  await using data = await tempFolder()
  const place = { dataDir: data.path, env }
  const list = join(data.path, 'list.csv')
  const [email, name] = ['ada@mailinator.com', 'www.spam.example']
  await writeFile(list, `Email,Name\n${email},${name}\n`)
  const imported = await runCommand(['import', list], place)
  expect(imported).toMatchObject({ code: 0, stdout: expect.stringContaining('1 added') })
  expect(await held(place)).toEqual([])
  // The same signup of a visitor is held.
  await using service = await bootService(place)
  await postSignup(service.url, { email, name })
  expect(await held(place)).toMatchObject([{ email, name, source: 'api' }])
})

test.each([
  [['release'], /ids or addresses, or else filters/],
  [['release', 'ada@'], /36 characters/],
  [['erase', '0198-1', '--domain', 'example.com'], /ids or addresses, or else filters/],
  [['release', '--domain', 'a@b.example'], /such as example\.com/],
  [['--dry-run'], /unknown option '--dry-run'/],
  [['--site', 'other'], /There is no site/],
  [['relaese'], /: right behind quarantine, say list, release, erase or help\. /],
  // Before the command, an option would be lost: everything would be released.
  [['--site', 'default', 'release', '--since', '2026-11-20'], /right behind quarantine/],
])('quarantine %j is refused with what to do', async (args, words) => {
  await using data = await tempFolder()
  const { code, stderr } = await runCommand(['quarantine', ...args], { dataDir: data.path, env })
  expect([code, stderr]).toEqual([2, expect.stringMatching(words)])
})
