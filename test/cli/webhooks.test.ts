import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'

import { allDelivered } from '../../harness/delivery-state.ts'
import { makeSignup } from '../../harness/make-signup.ts'
import { runCommand } from '../../harness/run-command.ts'
import { runDoctor } from '../../harness/run-doctor.ts'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
import { bootService } from '../../harness/boot-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import { startWebhookReceiver } from '../../harness/webhook-receiver.ts'
import type { Journal } from '../../src/journal/contracts/journal.ts'
import { type EndpointFare, workingFare } from '../../src/journal/contracts/webhook-log.ts'
import { endpointKeyOf } from '../../src/outbox/webhook/endpoint.ts'

const at = Date.UTC(2026, 10, 20)
const gone = 'the receiver answered with status 410'

/** A journal whose endpoint 1 is followed, and is a receiver by HTTP; nobody follows endpoint 2. */
async function createWorld() {
  await using made = new AsyncDisposableStack()
  const data = made.use(await tempFolder())
  const receiver = made.use(await startWebhookReceiver('http'))
  const { ALERT_WEBHOOK_URL: url = '', ALERT_WEBHOOK_SECRET: WEBHOOK_SECRET = '' } = receiver.env
  const webhooks = [url, `${url}&second`].map((it) => {
    return { url: it, secretVariable: 'WEBHOOK_SECRET' }
  })
  const sites = { news: { webhooks }, blog: {} }
  const place = {
    dataDir: data.path,
    env: { ROLLCALL_CONFIG: JSON.stringify({ sites }), WEBHOOK_SECRET },
  }
  const key = endpointKeyOf(url)
  async function inJournal<T>(work: (journal: Journal) => Promise<T>): Promise<T> {
    const file = join(data.path, 'journal.db')
    await using journal = openSqliteJournal(file, {}, { site: 'news' })
    return await work(journal)
  }
  const note = (fare: Partial<EndpointFare>) =>
    inJournal(async ({ webhooks: log }) => {
      const { cursor = 0 } = (await log.endpoint(key)) ?? {}
      const all = { ...workingFare, reason: gone, ...fare }
      await log.settle(key, { from: cursor, to: cursor, outcomes: [], fare: all })
    })
  // A service forgets who was not followed for a day.
  await inJournal(({ webhooks: log }) => log.follow([key], Date.now()))
  const { host } = new URL(url)
  const kept = made.move()
  return {
    ...{ receiver, place, host, key, inJournal, note },
    run: async (...args: string[]) => {
      const { code, stdout, stderr } = await runCommand(['webhooks', ...args], place)
      expect(stdout + stderr).not.toMatch(/very-secret|4711|whsec/)
      return { code, stdout, stderr }
    },
    json: async (...args: string[]) => {
      const { stdout } = await runCommand(['webhooks', ...args, '--json'], place)
      return (JSON.parse(stdout) as { webhooks: Record<string, unknown>[] }).webhooks
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

test('webhooks tells how each does by its number and host, and ends with 1 when one is disabled', async () => {
  await using world = await createWorld()
  const { host, inJournal, note } = world
  const names = [`Webhook 1 of news, ${host}`, `Webhook 2 of news, ${host}`]
  await inJournal(({ intake }) => intake.append([makeSignup({ receivedAt: at })]))
  expect(await world.run()).toEqual({
    code: 0,
    stdout:
      `${names[0]}: not tried yet; 1 waiting, the oldest of 2026-11-20T00:00:00.000Z\n` +
      `${names[1]}: no service has run with it yet\n`,
    stderr: '',
  })
  await note({ disabledAt: at })
  const since = '2026-11-20T00:00:00.000Z'
  const [first, second] = await world.json()
  expect(first).toMatchObject({ site: 'news', webhook: 1, host, state: 'disabled', since })
  expect(first).toMatchObject({ reason: gone, position: 0, waiting: 1, triedAgain: 0, failed: 0 })
  expect(second).toMatchObject({ webhook: 2, state: 'unknown', since: null, position: null })
  expect(await world.run()).toMatchObject({
    code: 1,
    stdout: expect.stringContaining(
      `${names[0]}: disabled since ${since}: ${gone}; 1 waiting, the oldest of ${since}. ` +
        'Do: Mend its receiver. Then press “Send what waits now” on the admin page, or run npm run -s rollcall -- webhooks enable 1.\n',
    ),
  })
  const { stdout } = await runCommand(['status', '--site', 'news'], world.place)
  expect(stdout).toMatch(new RegExp(`^Webhook 1, ${host} +disabled since`, 'm'))
  await note({ failingSince: at })
  expect(await world.run()).toMatchObject({
    code: 1,
    stdout: expect.stringContaining(`${names[0]}: takes nothing since ${since}: ${gone}`),
  })
  await note(workingFare)
  await inJournal(({ webhooks }) =>
    webhooks.settle(world.key, { from: 0, to: 1, outcomes: [], takenAt: at }),
  )
  expect((await world.json())[0]).toMatchObject({ state: 'ok', lastTaken: since, waiting: 0 })
  expect((await world.run()).stdout).toContain(`${names[0]}: works\n`)
})

test('webhooks test sends one signed message of its type, and tells what was answered', async () => {
  await using world = await createWorld()
  const { receiver } = world
  expect(await world.run('test', '1', '--site', 'news')).toMatchObject({
    code: 0,
    stdout: `Webhook 1 of news, ${world.host}: has taken the test\n`,
  })
  expect(receiver.received).toMatchObject([
    { body: { type: 'webhook.test', data: { site: 'news' } } },
  ])
  receiver.answer = (response) => void response.writeHead(503).end()
  const { code, stdout } = await world.run('test')
  expect(code).toBe(1)
  expect(
    stdout.match(/has not taken the test: the receiver answered with status 503/g),
  ).toHaveLength(2)
  expect(receiver.received).toHaveLength(3)
})

test('what has failed is listed, sent again by its id or a time, and a disabled webhook is enabled', async () => {
  await using world = await createWorld()
  const { key, inJournal, note } = world
  const signup = makeSignup({ receivedAt: at })
  const position = await inJournal(async ({ intake, webhooks, reader }) => {
    await intake.append([signup])
    const [record] = await reader.page(0, 1)
    const position = record?.position ?? 0
    const kinds = { kind: 'failed', type: 'signup.accepted' } as const
    const failure = { ...kinds, position, tries: 5, at, nextAt: undefined, reason: gone }
    await webhooks.settle(key, { from: 0, to: position, outcomes: [failure] })
    return position
  })
  await note({ failingSince: at, disabledAt: at })
  const { id } = signup
  const message = { position, id, type: 'signup.accepted', tries: 5, reason: gone }
  expect((await world.json('failed', '1', '--site', 'news'))[0]).toMatchObject({
    messages: [{ ...message, at: '2026-11-20T00:00:00.000Z' }],
  })
  expect((await world.run('failed')).stdout).toContain(
    `1 message failed\n${id}  2026-11-20T00:00:00.000Z  signup.accepted  5 times: ${gone}\n`,
  )

  const ofNews = ['replay', '1', '--site', 'news']
  expect(await world.run(...ofNews, '--id', id.toUpperCase())).toMatchObject({ code: 0 })
  const nobody = '0199d4c0-8a6e-7b1f-9c3d-2e4f6a8b0c1d'
  expect(await world.run(...ofNews, '--id', nobody)).toMatchObject({ code: 1 })
  const { messages } = await inJournal(({ webhooks }) => webhooks.next(key, position, at))
  expect(messages).toMatchObject([{ position, tries: 0 }])

  expect(await world.run(...ofNews, '--since', '2026-11-21')).toMatchObject({ code: 0 })
  expect((await inJournal(({ webhooks }) => webhooks.endpoint(key)))?.cursor).toBe(position)
  expect((await world.json(...ofNews, '--since', '2026-11-20'))[0]).toMatchObject({ positions: 1 })
  expect((await inJournal(({ webhooks }) => webhooks.endpoint(key)))?.cursor).toBe(0)

  expect(await world.run('enable')).toMatchObject({ code: 0 })
  expect(await inJournal(({ webhooks }) => webhooks.endpoint(key))).toMatchObject(workingFare)
})

test.each([
  [['replay'], 'Give --since TIME or --id ID with replay.'],
  [['enable', '--id', 'x'], "unknown option '--id'"],
  [['tset'], 'say test, failed, replay or enable, or the number of one, such as 1.'],
  [['--site', 'news', 'test', '1'], 'Right behind webhooks, say test, failed, replay or enable'],
  [['1', 'test'], 'right behind webhooks, say state, test, failed, replay, enable or help.'],
  [['test', '3', '--site', 'news'], 'There is no such webhook: there are 1 ('],
  [['replay', '--id', 'x'], 'There are several sites: give --site NAME.'],
  [['test', '1'], 'There are several sites: give --site NAME.'],
  [['--site', 'blog'], 'No webhook is set: docs/webhooks.md says how.'],
])('webhooks %j is refused with what to do', async (args, words) => {
  await using world = await createWorld()
  expect(await world.run(...args)).toMatchObject({
    ...{ code: 2, stdout: '' },
    stderr: expect.stringContaining(words),
  })
})

test('doctor looks whether each webhook answers, sends no message, and warns of what it has not taken', async () => {
  await using world = await createWorld()
  const { host, note, receiver } = world
  const found = async () => (await runDoctor(world.place)).of('webhooks')
  expect(await found()).toMatchObject([
    {
      ...{ site: 'news', state: 'ok' },
      message: `number 1 goes to ${host}, which answers; npm run -s rollcall -- webhooks test 1 sends it a test`,
    },
    { site: 'news', state: 'ok', message: expect.stringContaining('number 2 goes to') },
  ])
  await note({ failingSince: at })
  expect((await found())[1]).toMatchObject({
    state: 'warning',
    message: `number 1: takes nothing since 2026-11-20T00:00:00.000Z: ${gone}`,
    hint: 'Mend its receiver. What waits is sent by itself then.',
  })
  await receiver[Symbol.asyncDispose]()
  expect((await found())[0]).toMatchObject({
    state: 'fault',
    message: expect.stringContaining(`number 1 goes to ${host}, which does not answer:`),
  })
  expect(receiver.received).toEqual([])
})

test('what is imported or delivered again is told to webhooks with --webhooks only', async () => {
  await using world = await createWorld()
  const { place, key, inJournal } = world
  const ofNews = ['--site', 'news']
  const bring = async (address: string, ...args: string[]) => {
    const file = join(place.dataDir, 'list.csv')
    await writeFile(file, `Email\n${address}\n`)
    expect((await runCommand(['import', file, ...ofNews, ...args], place)).code).toBe(0)
  }
  const told = () =>
    inJournal(async ({ webhooks }) => {
      const { messages } = await webhooks.next(key, 0, at)
      return messages.map(({ signup }) => signup.email).toSorted()
    })
  await bring('ada@example.com')
  expect(await told()).toEqual([])
  await bring('bob@example.com', '--webhooks')
  expect(await told()).toEqual(['bob@example.com'])

  const silent = { ...place, env: { ROLLCALL_CONFIG: '{"sites":{"news":{}}}' } }
  {
    await using service = await bootService(silent)
    await allDelivered(service)
  }
  const sheet = join(place.dataDir, 'sheets/news/Sheet1.csv')
  const rows = await readFile(sheet, 'utf8')
  await writeFile(sheet, rows.replace(/^ada@.*\r?\n/m, ''))
  const again = ['backfill', ...ofNews, '--all', '--deleted', '--webhooks']
  expect((await runCommand([...again, '--dry-run'], place)).code).toBe(0)
  expect(await told()).toEqual(['bob@example.com'])
  const { code, stderr } = await runCommand(again, place)
  expect({ code, stderr }).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('delivery: 1'),
  })
  expect(await told()).toEqual(['ada@example.com', 'bob@example.com'])
})
