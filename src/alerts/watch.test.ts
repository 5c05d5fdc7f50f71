import { expect, test } from 'vitest'

import { makeSignup } from '../../harness/make-signup.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
import { createHealth } from '../ops/health.ts'
import { JournalUnavailable } from '../journal/contracts/errors.ts'
import { noticeFailureFact } from '../journal/contracts/delivery-log.ts'
import type { HttpAnswer, OutgoingRequest } from '../platform/http-client.ts'
import type { Signup } from '../signup/signup.ts'
import { watchDelivery, watchHeld, watchMail, watchWebhook } from './watched.ts'
import { startWatch, type WatchTimes } from './watch.ts'
import { day, hour, minute, second } from '../platform/clock.ts'

const trouble = { reason: 'permission', error: 'for the log only', hint: 'Share' } as const
const blocked = { state: 'blocked', ...trouble } as const

/** A site whose writer is this test. */
function createWorld(times: Partial<WatchTimes> = {}) {
  const clock = new ManualClock()
  const journal = openSqliteJournal(':memory:', { holdsSuspects: true })
  const log: string[] = []
  const sent: { readonly id: string; readonly type: string; readonly text: string }[] = []
  const world = {
    ...{ clock, journal, log, sent },
    health: createHealth(),
    status: 200,
    delivers: true,
    hasFullDisk: false,
    /** When the oldest mail that may be sent was made. */
    oldestMail: undefined as number | undefined,
    onSend: () => {},
    /** As after a start of the service. */
    start() {
      world.health = createHealth()
      const http = async ({ headers = {}, body }: OutgoingRequest): Promise<HttpAnswer> => {
        const { type, text } = JSON.parse(String(body)) as { type: string; text: string }
        sent.push({ id: headers['webhook-id'] ?? '', type, text })
        world.onSend()
        return { status: world.status, headers: new Headers(), text: '' }
      }
      const fail = async () => {
        if (world.hasFullDisk) throw new JournalUnavailable('full')
      }
      const { health } = world
      const figures = () => mailFigures(world.oldestMail)
      const watched = { health, reader: journal.reader, clock, time: clock }
      return startWatch({
        ...{ site: 'launch', clock, time: clock, times, http, random: () => 0.5 },
        receiver: { url: 'https://hooks.example.com/x', keys: [new Uint8Array(32)] },
        delivers: () => world.delivers,
        watched: [
          ...[watchDelivery(watched), watchHeld(watched)],
          ...watchMail({ health, outbox: { figures }, time: clock }),
          ...['one', 'two'].flatMap((endpoint) => watchWebhook(endpoint, watched)),
        ],
        delivery: {
          fact: (name) => journal.delivery.fact(name),
          noteFact: (name, value) => fail().then(() => journal.delivery.noteFact(name, value)),
        },
        events: {
          noticeMade: ({ type }) => log.push(type),
          noticeSent: () => log.push('received'),
          noticeDelayed: () => log.push('later'),
          noticeGivenUp: () => log.push('given up'),
          noticesFailed: (error) => log.push(String(error)),
        },
      })
    },
    /** Lets time pass. It stands still while the watch works. */
    async pass(ms: number) {
      const { lookMs = 10 * second } = times
      for (let passed = 0; passed < ms; passed += lookMs) {
        await clock.run(lookMs)
        while (clock.sleeping < 1) await new Promise((done) => setTimeout(done))
      }
    },
    append: (given: Partial<Signup> = {}) =>
      journal.intake.append([makeSignup({ receivedAt: clock.now(), ...given })]),
    settle: () => settleAll(journal, clock.now()),
    types: () => sent.map(({ type }) => type),
    [Symbol.asyncDispose]: () => journal[Symbol.asyncDispose](),
  }
  return world
}

/** Writes all that waits. */
async function settleAll({ delivery }: ReturnType<typeof openSqliteJournal>, at: number) {
  const [tab] = await delivery.pending()
  if (!tab) throw new Error('Nothing waits.')
  const { signups } = await delivery.waiting(tab)
  const batch = await delivery.freeze([{ tab, signups }], 1000)
  await delivery.settle(batch.number, at)
}

async function mailFigures(oldest: number | undefined) {
  return { waiting: 3, resting: 0, oldest, lastSent: undefined, failed: undefined }
}

test('delivery that is blocked is told once after five minutes, and its end once, across restarts', async () => {
  await using world = createWorld()
  await using first = world.start()
  await world.append()
  world.health.delivery = blocked
  await world.pass(4 * minute)
  expect(world.sent).toEqual([])
  await world.pass(2 * minute)
  expect(world.types()).toEqual(['delivery.blocked'])
  await first[Symbol.asyncDispose]()
  await using _ = world.start()
  await world.pass(30 * second)
  world.health.delivery = blocked
  await world.pass(10 * minute)
  expect(world.types()).toEqual(['delivery.blocked'])
  await world.settle()
  world.health.delivery = { state: 'ok' }
  await world.pass(hour)
  expect(world.types()).toEqual(['delivery.blocked', 'delivery.resumed'])
  expect(world.log.filter((line) => line.startsWith('delivery.'))).toEqual(world.types())
})

test('nothing settled for five minutes is told while something waits, and not while nothing does', async () => {
  await using world = createWorld()
  await using _ = world.start()
  world.health.delivery = { state: 'delayed', error: 'for the log only' }
  await world.pass(hour)
  expect(world.sent).toEqual([])
  await world.append()
  await world.pass(6 * minute)
  expect(world.types()).toEqual(['delivery.stalled'])
  expect(world.sent[0]?.text).toContain(
    'Rollcall keeps trying. 1 signup waits on disk, for 5 minutes',
  )
})

test('signups that waited while no service ran are told when the writer does not get to them within a minute', async () => {
  await using world = createWorld()
  await world.append()
  await world.clock.run(hour)
  await using _ = world.start()
  await world.pass(50 * second)
  expect(world.sent).toEqual([])
  await world.pass(20 * second)
  expect(world.types()).toEqual(['delivery.stalled'])
})

test('nothing settled for five minutes is told also after the wall clock was set back', async () => {
  await using world = createWorld()
  await using _ = world.start()
  await world.append()
  world.clock.jump(-24 * hour)
  await world.pass(4 * minute)
  expect(world.sent).toEqual([])
  await world.pass(2 * minute)
  expect(world.types()).toEqual(['delivery.stalled'])
  expect(world.sent[0]?.text).toContain('no signup was written for 5 minutes')
})

test('a tab that is set aside is told like blocked delivery, without its name', async () => {
  await using world = createWorld()
  await using _ = world.start()
  const tab = { name: 'Secret', place: 'tab 7', ...trouble, reason: 'protectedTab' as const }
  world.health.tabs.set('secret', tab)
  await world.pass(6 * minute)
  expect(world.types()).toEqual(['delivery.blocked'])
  expect(world.sent[0]?.text).toContain('The tab is protected')
  expect(JSON.stringify(world.sent)).not.toMatch(/Secret|tab 7|for the log/)
})

test('an outage with recoveries of under a minute is one outage', async () => {
  await using world = createWorld()
  await using _ = world.start()
  for (let round = 0; round < 20; round++) {
    world.health.delivery = blocked
    await world.pass(40 * second)
    world.health.delivery = { state: 'ok' }
    await world.pass(40 * second)
  }
  expect(world.types()).toEqual(['delivery.blocked'])
})

test('a notice that nobody receives is tried for a day with one id, soon at first, and then the next one goes', async () => {
  await using world = createWorld({ lookMs: 5 * minute, toldAfterMs: 10 * minute })
  world.status = 500
  await using _ = world.start()
  world.health.delivery = blocked
  await world.pass(70 * minute)
  expect(world.sent).toHaveLength(5)
  await world.pass(22 * hour)
  expect(world.log).not.toContain('given up')
  await world.pass(8 * hour)
  expect(world.sent).toHaveLength(27)
  expect(new Set(world.sent.map(({ id }) => id)).size).toBe(1)
  expect(world.log.at(-1)).toBe('given up')
  world.status = 204
  world.health.delivery = { state: 'ok' }
  await world.pass(hour)
  expect(world.types().slice(27)).toEqual(['delivery.resumed'])
})

test('the journal keeps why the last try failed, until one is received', async () => {
  await using world = createWorld()
  const failed = () => world.journal.reader.fact(noticeFailureFact)
  await using _ = world.start()
  world.health.delivery = blocked
  await world.pass(4 * minute)
  expect(await failed()).toBeUndefined()
  world.status = 404
  await world.pass(2 * minute)
  const reason = 'the receiver answered with status 404'
  expect(JSON.parse((await failed()) ?? '')).toMatchObject({ reason, tries: world.sent.length })
  world.status = 204
  await world.pass(5 * minute)
  expect(await failed()).toBe('')
})

test('the notices of two webhooks of one host that fail at once have ids of their own', async () => {
  await using world = createWorld()
  await using _ = world.start()
  const failing = { state: 'failing', host: 'hooks.example.com', reason: 'down' } as const
  for (const endpoint of ['one', 'two']) {
    world.health.webhooks.set(endpoint, { ...failing, since: world.clock.now() })
  }
  await world.pass(6 * minute)
  expect(world.types()).toEqual(['webhook.failing', 'webhook.failing'])
  expect(new Set(world.sent.map(({ id }) => id)).size).toBe(2)
})

test('a notice that is received while the watch stops is not sent again', async () => {
  await using world = createWorld()
  const first = world.start()
  const stopping = Promise.withResolvers<undefined>()
  world.onSend = () => void first[Symbol.asyncDispose]().then(() => stopping.resolve(undefined))
  world.health.delivery = blocked
  await world.clock.run(10 * minute)
  await stopping.promise
  expect(world.log).toContain('received')
  await using _ = world.start()
  world.health.delivery = blocked
  await world.pass(10 * minute)
  expect(world.types()).toEqual(['delivery.blocked'])
})

test('a receiver that answers 410 is asked no more', async () => {
  await using world = createWorld()
  world.status = 410
  await using _ = world.start()
  world.health.delivery = blocked
  await world.pass(10 * minute)
  expect(world.log).toEqual(['delivery.blocked', 'given up'])
  expect(world.sent).toHaveLength(1)
})

test('delivery that was blocked for less than five minutes is not told, and neither is its end', async () => {
  await using world = createWorld()
  await using _ = world.start()
  world.health.delivery = blocked
  await world.pass(4 * minute)
  world.health.delivery = { state: 'ok' }
  await world.pass(10 * minute)
  expect(world.log).toEqual([])
})

test('a notice that the journal cannot keep is told when it can, and once', async () => {
  await using world = createWorld()
  await using _ = world.start()
  world.health.delivery = blocked
  await world.pass(minute)
  world.hasFullDisk = true
  await world.pass(10 * minute)
  expect(world.log).toEqual([])
  world.hasFullDisk = false
  await world.pass(minute)
  expect(world.log).toEqual(['delivery.blocked', 'received'])
})

test('a wall clock that is set back does not put a notice off', async () => {
  await using world = createWorld()
  await using _ = world.start()
  world.health.delivery = blocked
  await world.pass(minute)
  world.clock.jump(-hour)
  await world.pass(6 * minute)
  expect(world.types()).toEqual(['delivery.blocked'])
})

test('the newest notice takes the place of one that waits, also after a restart', async () => {
  await using world = createWorld()
  world.status = 500
  const first = world.start()
  world.health.delivery = blocked
  await world.pass(30 * minute)
  world.health.delivery = { state: 'ok' }
  await world.pass(2 * minute)
  await first[Symbol.asyncDispose]()
  expect(world.types().at(-1)).toBe('delivery.resumed')
  world.status = 200
  world.sent.length = 0
  await using _ = world.start()
  await world.pass(2 * hour)
  expect(world.types()).toEqual(['delivery.resumed'])
  expect(world.sent[0]?.text).toMatch(/works again, after 3\d minutes/)
})

test('a notice that was sent and could not be noted as sent comes again with the same id', async () => {
  await using world = createWorld()
  world.onSend = () => void (world.hasFullDisk = true)
  const first = world.start()
  world.health.delivery = blocked
  await world.pass(6 * minute)
  await first[Symbol.asyncDispose]()
  const before = world.sent.length
  world.onSend = () => {}
  world.hasFullDisk = false
  await using _ = world.start()
  world.health.delivery = blocked
  await world.pass(10 * minute)
  expect(world.sent).toHaveLength(before + 1)
  expect(new Set(world.sent.map(({ id }) => id)).size).toBe(1)
  expect(world.log.filter((line) => line === 'delivery.blocked')).toHaveLength(1)
})

test('how many held signups will be erased is told a week before at least, and once a week, across restarts', async () => {
  await using world = createWorld({ lookMs: 6 * hour })
  const first = world.start()
  await world.append({ suspect: ['links'] })
  await world.append({ suspect: ['links'] })
  await world.settle()
  await world.pass(75 * day)
  expect(world.types()).toEqual([])
  await world.pass(8 * day)
  expect(world.types()).toEqual(['held.ending'])
  expect(world.sent[0]?.text).toMatch(
    /what was held for 90 days is gone, unless .* 2 such signups wait in the journal, the oldest one for (7|8)\d days\./,
  )
  await first[Symbol.asyncDispose]()
  await using _ = world.start()
  await world.pass(7 * day)
  expect(world.types()).toEqual(['held.ending', 'held.ending'])
  expect(new Set(world.sent.map(({ id }) => id)).size).toBe(2)
  await world.journal.confirmation.sweep(world.clock.now())
  await world.pass(20 * day)
  expect(world.sent).toHaveLength(2)
})

test('a mail server that fails is told after five minutes, and that it works after one', async () => {
  await using world = createWorld()
  await using _ = world.start()
  const reason = 'The mail server refuses the login'
  world.health.mail = { state: 'failing', reason, since: world.clock.now() }
  await world.pass(5 * minute - 10 * second)
  expect(world.types()).toEqual([])
  await world.pass(minute)
  expect(world.types()).toEqual(['mail.failing'])
  expect(world.sent[0]?.text).toContain(
    'no mail could be sent for 5 minutes. The mail server refuses the login.',
  )
  world.health.mail = { state: 'ok' }
  await world.pass(10 * minute)
  expect(world.types()).toEqual(['mail.failing', 'mail.resumed'])
  expect(world.sent[1]?.text).toContain('3 mails wait in the journal')
})

test('mails that have waited for ten minutes are told once, and when they no longer do', async () => {
  await using world = createWorld()
  await using _ = world.start()
  world.oldestMail = world.clock.now()
  await world.pass(10 * minute)
  expect(world.types()).toEqual([])
  await world.pass(60 * minute)
  expect(world.types()).toEqual(['mail.delayed'])
  world.oldestMail = undefined
  await world.pass(2 * minute)
  expect(world.types()).toEqual(['mail.delayed', 'mail.on_time'])
})

test('a mail is not late because its next try has just come, nor while the server fails', async () => {
  await using world = createWorld()
  await using _ = world.start()
  const oldest = world.clock.now()
  await world.pass(60 * minute)
  world.oldestMail = oldest
  await world.pass(10 * second)
  world.oldestMail = undefined
  await world.pass(minute)
  world.oldestMail = oldest
  world.health.mail = { state: 'failing', reason: 'any', since: world.clock.now() }
  await world.pass(60 * minute)
  expect(world.types()).toEqual(['mail.failing'])
})
