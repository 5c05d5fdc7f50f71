import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'

import { allDelivered } from '../../harness/delivery-state.ts'
import { bootService } from '../../harness/boot-service.ts'
import { postBulk, postSignup } from '../../harness/post-signup.ts'
import { postSuspect } from '../../harness/post-suspect.ts'
import { addressesIn } from '../../harness/read-workbook.ts'
import { runCommand } from '../../harness/run-command.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import { systemClock } from '../../src/platform/clock.ts'
import type { BulkAccepted, ConfigAnswer, Problem, SignupAccepted } from '../../src/signup/wire.ts'

const overflow = 'Waiting list'
const twoSeats = { CLOSES_AFTER: '2', RATE_LIMIT_PER_MINUTE: '0' }
const env = { ...twoSeats, OVERFLOW_TAB: overflow }
const form = { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html' }

const person = (name: string) => ({ email: `${name}@example.com` })
const people = (...names: string[]) => ({ signups: names.map(person) })

async function bodyOf<Body>(answer: Response): Promise<Body> {
  return (await answer.json()) as Body
}

async function configOf(url: string) {
  const { open, closesAt, overflow } = await bodyOf<ConfigAnswer>(await fetch(`${url}/api/config`))
  return { open, closesAt, overflow }
}

test('signups beyond the seats are answered as in the overflow tab, and are there', async () => {
  await using data = await tempFolder()
  await using service = await bootService({ env, dataDir: data.path })
  expect(await configOf(service.url)).toEqual({ open: true, closesAt: null, overflow: false })
  const first = await postSignup(service.url, person('a'))
  expect(await bodyOf(first)).not.toHaveProperty('overflow')
  const many = await postBulk(service.url, people('b', 'c', 'd'))
  expect(many.status).toBe(202)
  const { accepted, results } = await bodyOf<BulkAccepted>(many)
  expect([accepted, results.map((it) => 'overflow' in it)]).toEqual([3, [false, true, true]])
  const late = await postSignup(service.url, { ...person('e'), sheetTab: 'News' })
  expect(late.status).toBe(202)
  expect(await bodyOf(late)).toMatchObject({ sheetTab: overflow, overflow: true })
  expect(await configOf(service.url)).toEqual({ open: true, closesAt: null, overflow: true })
  await allDelivered(service)
  expect(addressesIn(data.path)).toEqual(['a@example.com', 'b@example.com'])
  expect(addressesIn(data.path, `${overflow}.csv`)).toHaveLength(3)
})

test('without an overflow tab signups beyond the seats are refused, in a bulk request and by a form as well', async () => {
  await using service = await bootService({ env: twoSeats })
  const key = { 'idempotency-key': 'first' }
  const first = await bodyOf(await postSignup(service.url, person('a'), key))
  const some = await postBulk(service.url, people('b', 'c'))
  expect(some.status).toBe(207)
  const { results } = await bodyOf<BulkAccepted>(some)
  expect(results[1]).toEqual({
    ...{ index: 1, status: 'rejected' },
    errors: [{ field: '', message: 'This site takes no more signups.' }],
  })
  for (const refused of [
    await postSignup(service.url, person('d')),
    await postBulk(service.url, people('d', 'e')),
  ]) {
    expect(refused.status).toBe(410)
    const { type, title, detail } = await bodyOf<Problem>(refused)
    expect([type, title]).toEqual(['/problems/closed', 'Signups are closed'])
    expect(detail).toMatch(/no more signups/)
  }
  const typed = new URLSearchParams({ ...person('typed'), name: 'Ada' })
  const posted = await fetch(`${service.url}/api/signup`, {
    ...{ method: 'POST', headers: form, body: typed.toString(), redirect: 'manual' },
  })
  expect([posted.status, await posted.text()]).toEqual([410, expect.stringContaining('typed@')])
  const again = await postSignup(service.url, person('a'), key)
  expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([202, 'true'])
  expect(await bodyOf(again)).toMatchObject({ id: (first as SignupAccepted).id })
  expect(await configOf(service.url)).toMatchObject({ open: false, overflow: false })
})

test('at its closing time it refuses what it took a moment before', async () => {
  let aheadMs = 0
  const clock = { ...systemClock, now: () => Date.now() + aheadMs }
  const closesAt = new Date(Date.now() + 60_000).toISOString()
  await using service = await bootService({ env: { ...env, CLOSES_AT: closesAt }, clock })
  expect((await postSignup(service.url, person('a'))).status).toBe(202)
  expect(await configOf(service.url)).toEqual({ open: true, closesAt, overflow: false })
  aheadMs = 60_000
  expect((await postSignup(service.url, person('b'))).status).toBe(410)
  expect(await configOf(service.url)).toEqual({ open: false, closesAt, overflow: false })
  await using later = await bootService({ env: { CLOSES_AT: closesAt }, clock })
  const told = `signups are closed since ${closesAt}`
  expect([service.output().includes(told), later.output().includes(told)]).toEqual([false, true])
})

test('nobody can name the overflow tab, in any letter case and whether tabs are limited or not', async () => {
  for (const SHEET_TABS of ['News', `News,${overflow}`, '']) {
    await using service = await bootService({ env: { ...env, SHEET_TABS } })
    const named = { ...person('a'), sheetTab: overflow.toUpperCase() }
    const refused = await postSignup(service.url, named)
    expect(refused.status).toBe(422)
    const { errors = [] } = await bodyOf<Problem>(refused)
    expect(errors).toMatchObject([
      { field: 'sheetTab', message: expect.stringMatching(/^This tab takes no signups\. /) },
    ])
    const config = await bodyOf<ConfigAnswer>(await fetch(`${service.url}/api/config`))
    expect(config.sheetTabs).toEqual(SHEET_TABS === '' ? null : ['News'])
    await postBulk(service.url, people('b', 'c'))
    expect(await bodyOf(await postSignup(service.url, person('d')))).toMatchObject({
      sheetTab: overflow,
    })
  }
})

/** What `rollcall status` tells of the seats, in JSON and in words. */
async function statusOf(place: { env: Readonly<Record<string, string>>; dataDir: string }) {
  const { stdout } = await runCommand(['status', '--json'], place)
  const { closing } = JSON.parse(stdout) as { closing: unknown }
  const words = (await runCommand(['status'], place)).stdout
  const facts = words.split('\n').filter((line) => /^(Seats|New signups)/.test(line))
  return { closing, words: facts.map((line) => line.replaceAll(/ +/g, ' ')) }
}

test('commands and releases take seats beyond the last one, and status tells how many are taken', async () => {
  await using data = await tempFolder()
  const place = { env: { ...twoSeats, SPAM_FILTER: 'quarantine' }, dataDir: data.path }
  await using service = await bootService(place)
  const held = await bodyOf<SignupAccepted>(await postSuspect(service.url, person('x')))
  await postSignup(service.url, person('a'))
  const half = { state: 'open', seats: { taken: 1, of: 2 }, at: null, overflowTab: null }
  expect(await statusOf(place)).toEqual({
    closing: half,
    words: ['Seats 1 of 2 taken', 'New signups open'],
  })
  await postSignup(service.url, person('b'))
  await runCommand(['quarantine', 'release', held.id], place)
  const list = join(service.folder, 'list.csv')
  await writeFile(list, 'email\ni@example.com\n')
  await runCommand(['import', list], place)
  expect((await statusOf(place)).closing).toEqual({
    ...half,
    ...{ state: 'closed', seats: { taken: 4, of: 2 } },
  })
  expect((await postSignup(service.url, person('c'))).status).toBe(410)
  await allDelivered(service)
  expect(addressesIn(data.path).toSorted()).toEqual(
    ['a', 'b', 'i', 'x'].map((name) => `${name}@example.com`),
  )
})

test.each([true, false])(
  'after a restore, rows that only the spreadsheet has take seats (the journal before is there: %s)',
  async (isThere) => {
    await using folder = await tempFolder()
    // Its file has another name.
    const seats = { CLOSES_AFTER: '3', OVERFLOW_TAB: "Liste d'attente" }
    const place = { env: { ...env, ...seats }, dataDir: join(folder.path, 'data') }
    const backup = join(folder.path, 'backup.db')
    {
      await using service = await bootService(place)
      await postSignup(service.url, person('a'))
      await allDelivered(service)
      expect((await runCommand(['backup', backup], place)).code).toBe(0)
      await postBulk(service.url, people('b', 'c', 'd', 'e'))
      await allDelivered(service)
    }
    const replace = ['restore', backup, '--replace']
    if (!isThere) await rm(join(place.dataDir, 'journal.db'))
    const { code, stdout } = await runCommand(isThere ? replace : replace.slice(0, 2), place)
    expect([code, stdout.includes('all seats count as taken')]).toEqual([...[0, !isThere]])
    const full = { state: 'overflow', seats: { taken: 3, of: 3 } }
    expect((await statusOf(place)).closing).toMatchObject(full)
    await using service = await bootService(place)
    const late = await bodyOf<SignupAccepted>(await postSignup(service.url, person('f')))
    expect(late.overflow).toBe(true)
    await allDelivered(service)
    expect((await statusOf(place)).closing).toMatchObject(full)
  },
)
