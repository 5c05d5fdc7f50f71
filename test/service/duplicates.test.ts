import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'

import { seededRandom } from '../../emulators/google-sheets/faults.ts'
import { createGoogleWorld } from '../../harness/google-world.ts'
import { postBulk, postSignup } from '../../harness/post-signup.ts'
import { addressesIn } from '../../harness/read-workbook.ts'
import { type BootedService, bootService } from '../../harness/boot-service.ts'

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

test('by default a second signup for an address is a second row', async () => {
  await using service = await bootService()
  await postSignup(service.url, ada, wait)
  await postSignup(service.url, ada, wait)
  expect(emailsIn(service)).toEqual([ada.email, ada.email])
})

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

test('the same address in another tab is a row, and within one bulk request there is one row', async () => {
  await using service = await bootService({ env: ignore })
  const news = { ...ada, sheetTab: 'News' }
  const answer = await postBulk(
    service.url,
    { signups: [ada, { email: 'ADA@example.com' }, news, { ...news, sheetTab: 'NEWS' }, ada] },
    wait,
  )
  expect(answer.status).toBe(201)
  expect(await answer.json()).toMatchObject({ accepted: 5, rejected: 0 })
  expect(emailsIn(service)).toEqual([ada.email])
  expect(emailsIn(service, 'News.csv')).toEqual([ada.email])
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
  world.emulator.spreadsheet(world.spreadsheetId).share(world.email, 'editor')
  await expect.poll(() => world.rows('Sheet1')).toHaveLength(3)
})

/**
 * A sign test: of two requests in random order, how often is the duplicate the faster one? A busy machine
 * slows both alike. A fair share is a half. The bounds are over five standard deviations away from it;
 * a duplicate that saves the server a commit or a batch would be far outside of them.
 */
test.each([
  ['its 202', 800, 0.1, {}],
  ['its 201', 60, 0.35, wait],
])(
  'nobody can tell a duplicate from a first signup by the time to %s',
  async (_, pairs, bound, headers) => {
    await using service = await bootService({ env: { ...ignore, LOG_LEVEL: 'error' } })
    const seed = fc.sample(fc.integer(), 1)[0] ?? 0
    const random = seededRandom(seed)
    const known = Array.from({ length: pairs }, (_unused, index) => `known${index}@example.com`)
    await postBulk(service.url, { signups: known.map((email) => ({ email })) }, wait)
    const timeOf = async (email: string) => {
      const from = performance.now()
      const answer = await postSignup(service.url, { email }, headers)
      await answer.arrayBuffer()
      return performance.now() - from
    }
    let duplicateWins = 0
    for (const [index, email] of known.entries()) {
      const isFirst = random() < 0.5
      const addresses = [email, `fresh${index}@example.com`]
      const order = isFirst ? addresses : addresses.toReversed()
      const times = new Map<string, number>()
      for (const address of order) times.set(address, await timeOf(address))
      const [duplicate = 0, fresh = 0] = addresses.map((address) => times.get(address))
      if (duplicate < fresh) duplicateWins += 1
    }
    const advantage = Math.abs(duplicateWins / pairs - 0.5)
    expect(advantage, `${duplicateWins} of ${pairs}, seed ${seed}`).toBeLessThan(bound)
  },
)
