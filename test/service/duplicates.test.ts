import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'

import { createGoogleWorld } from '../../harness/google-world.ts'
import { measure, measuredProgram } from '../../harness/measure.ts'
import { postSignup, postSignups } from '../../harness/post-signup.ts'
import { addressesIn } from '../../harness/read-workbook.ts'
import { type BootedService, bootService } from '../../harness/boot-service.ts'
import { changed } from '../../harness/changed.ts'
import { startService } from '../../harness/start-service.ts'
import type { Spreadsheet } from '../../src/spreadsheet/spreadsheet.ts'

const wait = { prefer: 'wait=20' }
const ignore = { DUPLICATES: 'ignore' }
const ada = { email: 'ada@example.com' }

const emailsIn = (service: BootedService, file?: string) =>
  addressesIn(join(service.folder, 'data'), file)

/** An answer without its ids and times, which are never the same twice. */
async function visible(answer: Response): Promise<unknown> {
  const headers = [...answer.headers].filter(([name]) => name !== 'date' && name !== 'x-request-id')
  const text = (await answer.text())
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '<id>')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
  return { status: answer.status, headers, text }
}

test('an ignored duplicate is answered exactly like a first signup and writes no row', async () => {
  await using service = await bootService({ env: ignore })
  for (const headers of [{}, wait]) {
    const person = { email: `ada${Object.keys(headers).length}@example.com`, name: 'Ada' }
    const first = await postSignup(service.url, person, headers)
    const again = { email: person.email.toUpperCase(), name: 'Eda' }
    const second = await postSignup(service.url, again, headers)
    expect(await visible(second.clone())).toEqual(await visible(first.clone()))
    const ids = await Promise.all(
      [first, second].map(async (answer) => ((await answer.json()) as { id: string }).id),
    )
    expect(new Set(ids).size).toBe(2)
    const statuses = () =>
      Promise.all(ids.map(async (id) => visible(await fetch(`${service.url}/api/signup/${id}`))))
    await expect.poll(async () => JSON.stringify(await statuses())).toContain('written')
    await expect
      .poll(async () => new Set((await statuses()).map((it) => JSON.stringify(it))).size)
      .toBe(1)
  }
  expect(emailsIn(service)).toEqual(['ada0@example.com', 'ada1@example.com'])
})

test('on Google a duplicate costs as many calls as a new signup, and does not make a deleted tab again', async () => {
  await using world = await createGoogleWorld()
  await using service = await bootService({ env: { ...world.env, ...ignore } })
  const { counters } = world.emulator
  const callsFor = async (signup: object) => {
    const before = counters.reads + counters.writes
    expect((await postSignup(service.url, signup, wait)).status).toBe(201)
    return counters.reads + counters.writes - before
  }
  await callsFor(ada)
  const first = await callsFor({ email: 'eve@example.com' })
  expect(await callsFor(ada)).toBe(first)
  expect(await world.rows('Sheet1')).toHaveLength(3)
  await callsFor({ ...ada, sheetTab: 'News' })
  world.emulator.spreadsheet(world.spreadsheetId).deleteTab('News')
  await callsFor({ ...ada, sheetTab: 'News' })
  expect(await world.rows('News')).toBeUndefined()
})

test('while delivery is blocked a duplicate gets the same answer as a first signup, with the reason', async () => {
  await using world = await createGoogleWorld()
  await using service = await bootService({ env: { ...world.env, ...ignore } })
  expect((await postSignup(service.url, ada, wait)).status).toBe(201)
  world.emulator.spreadsheet(world.spreadsheetId).share(world.email, 'none')
  // The duplicate makes the call that shows it.
  const second = await postSignup(service.url, ada, wait)
  const first = await postSignup(service.url, { email: 'eve@example.com' }, wait)
  expect(second.status).toBe(202)
  expect(await visible(second)).toEqual(await visible(first))
})

test('a duplicate is on the disk before its 202, as a first signup is', async () => {
  await using service = await bootService({ env: ignore })
  using journal = new DatabaseSync(join(service.folder, 'data', 'journal.db'), { readOnly: true })
  const stored = () => journal.prepare('SELECT count(*) AS count FROM signup').get()?.['count']
  for (const count of [1, 2, 3]) {
    expect((await postSignup(service.url, ada)).status).toBe(202)
    expect(stored()).toBe(count)
  }
})

test('a duplicate waits for a batch before its 201, as a first signup does', async () => {
  let batches = 0
  const wrap = (spreadsheet: Spreadsheet) =>
    changed(spreadsheet, {
      write: (...batch) => {
        batches += 1
        return spreadsheet.write(...batch)
      },
    })
  await using service = await bootService({ env: ignore, wrap })
  for (const count of [1, 2, 3]) {
    expect((await postSignup(service.url, ada, wait)).status).toBe(201)
    expect(batches).toBe(count)
  }
})

test(
  'a duplicate takes as much processor time as a first signup, so that its time tells nothing',
  { tags: 'slow' },
  async () => {
    await using world = await createGoogleWorld()
    // No delivery runs in between.
    world.emulator.faults.add({ times: 0, answer: 'unavailable' })
    await using service = await startService({
      program: measuredProgram,
      env: { ...world.env, ...ignore, LOG_LEVEL: 'error' },
    })
    const known = Array.from({ length: 200 }, (_, index) => `known${index}@example.com`)
    const timeOf = async (emails: readonly string[]) => {
      await measure(service)
      await postSignups(service.url, emails, 1)
      return (await measure(service)).processorMs
    }
    await timeOf(known)
    const [ofKnown, ofFresh]: [number[], number[]] = [[], []]
    for (let round = 0; round < 8; round++) {
      const fresh = known.map((email) => `fresh${round}-${email}`)
      // Each round is faster than the one before, as V8 compiles what is used often: so they take turns.
      if (round % 2 === 0) ofFresh.push(await timeOf(fresh))
      ofKnown.push(await timeOf(known))
      if (round % 2 === 1) ofFresh.push(await timeOf(fresh))
    }
    // A busy machine makes rounds slower, and none faster.
    const ratio = Math.min(...ofKnown) / Math.min(...ofFresh)
    expect(ratio).toBeGreaterThan(0.8)
    expect(ratio).toBeLessThan(1.25)
  },
)
