import { expect, test } from 'vitest'
import { confirming, decidePending, expirePending } from '../../harness/pending-world.ts'
import { postBulk, postSignup } from '../../harness/post-signup.ts'
import { postSuspect } from '../../harness/post-suspect.ts'
import { readTab } from '../../harness/read-workbook.ts'
import { bootService } from '../../harness/boot-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import type { BulkAccepted, SignupAccepted } from '../../src/signup/wire.ts'

const apiKey = 'a-long-random-text-for-tests'
const withKey = { authorization: `Bearer ${apiKey}` }
const keyed = { ...confirming, API_KEYS: apiKey }
const ada = { email: 'ada@example.com' }

/** A service that confirms, with its data folder. */
async function startConfirming(env: Readonly<Record<string, string>> = confirming) {
  await using made = new AsyncDisposableStack()
  const data = made.use(await tempFolder())
  const service = made.use(await bootService({ dataDir: data.path, env }))
  const kept = made.move()
  return {
    ...{ url: service.url, dataDir: data.path },
    /** What `GET /api/signup/{id}` says. */
    status: async (id: string): Promise<unknown> =>
      (await fetch(`${service.url}/api/signup/${id}`)).json(),
    /** The rows of the default tab, without its header. */
    rows: () => readTab(data.path, 'Sheet1.csv').slice(1),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

async function answered(sent: Promise<Response>) {
  const answer = await sent
  const body: unknown = await answer.json()
  return { status: answer.status, headers: answer.headers, body }
}

const signedUp = async (...sent: Parameters<typeof postSignup>) => {
  const answer = await answered(postSignup(...sent))
  return { ...answer, body: answer.body as SignupAccepted }
}

test('every address gets the same answer, pending and at once, also one that is on the list', async () => {
  await using site = await startConfirming()
  const first = await signedUp(site.url, ada, { prefer: 'wait=20' })
  expect(first.status).toBe(202)
  expect(first.body).toEqual({
    ...{ id: expect.any(String), status: 'pending' },
    ...{ sheetTab: 'Sheet1', receivedAt: expect.any(String) },
  })
  expect(first.headers.get('preference-applied')).toBeNull()
  await decidePending(site.dataDir)
  await expect.poll(site.rows).toHaveLength(1)
  const again = await signedUp(site.url, ada, { prefer: 'wait=20' })
  expect([again.status, again.body.status, Object.keys(again.body)]).toEqual([
    ...[202, 'pending'],
    Object.keys(first.body),
  ])
})

test('a confirmed signup is accepted and written with its id and both times, and a declined one stays pending', async () => {
  await using site = await startConfirming()
  const { body } = await signedUp(site.url, ada)
  const { id, receivedAt } = body
  expect(await site.status(id)).toEqual(body)
  expect(site.rows()).toEqual([])
  await decidePending(site.dataDir)
  await expect.poll(() => site.status(id)).toMatchObject({ status: 'written', receivedAt })
  const confirmed = readTab(site.dataDir, 'Sheet1.csv')[0]?.indexOf('Confirmed')
  expect(confirmed).toBe(7)
  const [row = []] = site.rows()
  expect(row[1]).toBe(receivedAt)
  expect(Date.parse(row[7] ?? '')).toBeGreaterThanOrEqual(Date.parse(receivedAt))

  const { body: other } = await signedUp(site.url, { email: 'bob@example.com' })
  await decidePending(site.dataDir, 'decline')
  expect(await site.status(other.id)).toMatchObject({ status: 'pending' })
  expirePending(site.dataDir)
  expect(await site.status(other.id)).toEqual({ ...other, status: 'expired' })
})

test('a repeated request gets the first answer again, with the status of now', async () => {
  await using site = await startConfirming()
  const send = () => signedUp(site.url, ada, { 'idempotency-key': 'one', prefer: 'wait=20' })
  const first = await send()
  const second = await send()
  expect(second.headers.get('idempotency-replayed')).toBe('true')
  expect([second.status, second.body]).toEqual([202, first.body])
  await decidePending(site.dataDir)
  const third = await send()
  expect([third.status, third.body]).toEqual([201, { ...first.body, status: 'written' }])
  expect(site.rows()).toHaveLength(1)
})

test('with an API key signups are pending, too, unless the request says that people have confirmed', async () => {
  await using site = await startConfirming(keyed)
  const bulk = async (body: object) => {
    const answer = await answered(postBulk(site.url, body, withKey))
    return { ...answer, body: answer.body as BulkAccepted }
  }
  const asked = await bulk({ signups: [ada, { email: 'nobody' }] })
  expect([asked.status, asked.body.results[0]]).toMatchObject([207, { status: 'pending' }])
  expect((await signedUp(site.url, ada, withKey)).body.status).toBe('pending')
  expect(site.rows()).toEqual([])

  const grace = { email: 'grace@example.com', confirmed: true }
  const one = await signedUp(site.url, grace, { ...withKey, prefer: 'wait=20' })
  expect([one.status, one.body.status]).toEqual([201, 'written'])
  const people = [{ email: 'alan@example.com' }, { email: 'joan@example.com' }]
  const all = await bulk({ signups: people, confirmed: true })
  expect([all.status, all.body.results.map(({ status }) => status)]).toEqual([
    202,
    ['accepted', 'accepted'],
  ])
  await expect.poll(site.rows).toHaveLength(3)
  // Nobody has told when.
  expect(site.rows().map((row) => row[7])).toEqual(['', '', ''])
})

test('who says that people have confirmed needs an API key, whether the site confirms or not', async () => {
  for (const env of [keyed, { API_KEYS: apiKey }]) {
    await using site = await startConfirming(env)
    const said = { ...ada, confirmed: true }
    const refused = await answered(postSignup(site.url, said))
    expect(refused).toMatchObject({ status: 422, body: { errors: [{ field: 'confirmed' }] } })
    expect((await signedUp(site.url, said, withKey)).body.status).toBe('accepted')
    const unsaid = await signedUp(site.url, { ...ada, confirmed: false })
    expect(unsaid.status).toBe(202)
  }
})

test('one idempotency key does not stand for a request that says it and one that does not', async () => {
  await using site = await startConfirming(keyed)
  const headers = { ...withKey, 'idempotency-key': 'one' }
  expect((await signedUp(site.url, ada, headers)).status).toBe(202)
  expect((await signedUp(site.url, { ...ada, confirmed: true }, headers)).status).toBe(422)
  expect((await signedUp(site.url, { ...ada, confirmed: false }, headers)).status).toBe(202)
})

test('what looks like spam is answered like any other, and is in no sheet', async () => {
  await using site = await startConfirming({ ...confirming, SPAM_FILTER: 'quarantine' })
  const normal = await signedUp(site.url, ada)
  const suspect = await answered(postSuspect(site.url, { email: 'b@example.com' }))
  const told = suspect.body as SignupAccepted
  expect([suspect.status, told.status]).toEqual([202, 'pending'])
  expect(Object.keys(told)).toEqual(Object.keys(normal.body))
  await decidePending(site.dataDir)
  await expect.poll(site.rows).toHaveLength(1)
  expect(await site.status(told.id)).toMatchObject({ status: 'pending' })
})

test('pending signups are counted, and not as accepted ones', async () => {
  const token = 'a-token-for-the-metrics'
  await using site = await startConfirming({ ...confirming, METRICS_TOKEN: token })
  await signedUp(site.url, ada)
  const headers = { authorization: `Bearer ${token}` }
  const text = await (await fetch(`${site.url}/metrics`, { headers })).text()
  expect(text).toContain('rollcall_signups_unconfirmed_total{site="default"} 1')
  expect(text).toContain('rollcall_signups_accepted_total{site="default"} 0')
})
