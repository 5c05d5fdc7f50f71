import { expect, test } from 'vitest'

import { makeSignup } from '../../harness/make-signup.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
import { createHealth, type Health } from '../ops/health.ts'
import { JournalUnavailable } from '../journal/contracts/errors.ts'
import type { Journal } from '../journal/contracts/journal.ts'
import type { HttpAnswer, HttpClient, OutgoingRequest } from '../platform/http-client.ts'
import { Sender } from '../outbox/sender.ts'
import { noticeConsumer } from '../outbox/webhook/notice-consumer.ts'
import { sha256 } from '../platform/node/digest.ts'
import { watchDelivery } from './watched.ts'
import { startWatch, type WatchTimes } from './watch.ts'

const second = 1000
const minute = 60 * second
const hour = 60 * minute

const trouble = { reason: 'permission', error: 'for the log only', hint: 'Share' } as const
const blocked = { state: 'blocked', ...trouble } as const

interface SendingWorld {
  readonly clock: ManualClock
  readonly journal: Journal
  readonly log: string[]
  readonly delivers: boolean
  readonly health: Health
  readonly hasFullDisk: boolean
  readonly forgetsFacts: boolean
  sending: number
}

function startSender(world: SendingWorld, http: HttpClient, times: Partial<WatchTimes>): Sender {
  const { clock, journal, log } = world
  const receiver = { url: 'https://hooks.example.com/x', keys: [new Uint8Array(32)] }
  return new Sender({
    ...{ clock, time: clock, random: () => 0.5, delivers: () => world.delivers },
    consumer: noticeConsumer(receiver, http, clock),
    lookMs: times.lookMs ?? 10 * second,
    outbox: {
      isClaimed: (number, by) => journal.outbox.isClaimed(number, by),
      claim: async (order) => {
        const claimed = await journal.outbox.claim(order)
        world.sending += claimed.messages.length
        return claimed
      },
      settle: async (number, outcome) => {
        await journal.outbox.settle(number, outcome)
        world.sending -= 1
      },
    },
    events: {
      sent: () => log.push('received'),
      delayed: () => log.push('later'),
      failed: () => log.push('given up'),
      serverFails: () => log.push('server fails'),
      serverWorks: () => {},
      crashed: (error) => log.push(String(error)),
    },
  })
}

function watchDeliveryOf(world: SendingWorld, times: Partial<WatchTimes>): AsyncDisposable {
  const { clock, journal, log } = world
  const fail = async () => {
    if (world.hasFullDisk) throw new JournalUnavailable('full')
  }
  const site = 'launch'
  return startWatch({
    ...{ site, clock, time: clock, times, digest: sha256, hasReceiver: true },
    delivers: () => world.delivers,
    watched: [watchDelivery({ health: world.health, reader: journal.reader, clock, time: clock })],
    journal: {
      outbox: { add: (message) => fail().then(() => journal.outbox.add(message)) },
      delivery: {
        fact: (name) => journal.delivery.fact(name),
        noteFact: async (name, value) => {
          if (world.forgetsFacts) throw new JournalUnavailable('killed')
          await fail()
          await journal.delivery.noteFact(name, value)
        },
      },
    },
    events: {
      noticeMade: ({ type }) => log.push(type),
      noticesFailed: (error) => log.push(String(error)),
    },
  })
}

/** A site whose writer is this test. */
function createWorld(times: Partial<WatchTimes> = {}) {
  const clock = new ManualClock()
  const journal = openSqliteJournal(':memory:')
  const log: string[] = []
  const sent: { readonly id: string; readonly type: string; readonly text: string }[] = []
  const world = {
    ...{ clock, journal, log, sent },
    health: createHealth(),
    status: 200,
    delivers: true,
    hasFullDisk: false,
    /** A crash before an outage is noted. */
    forgetsFacts: false,
    onSend: () => {},
    /** How many notices are being sent. */
    sending: 0,
    /** As after a start of the service. */
    start() {
      world.health = createHealth()
      const http = async ({ headers = {}, body }: OutgoingRequest): Promise<HttpAnswer> => {
        const { type, text } = JSON.parse(String(body)) as { type: string; text: string }
        sent.push({ id: headers['webhook-id'] ?? '', type, text })
        world.onSend()
        return { status: world.status, headers: new Headers(), text: '' }
      }
      const watch = watchDeliveryOf(world, times)
      const sender = startSender(world, http, times)
      return {
        async [Symbol.asyncDispose]() {
          await Promise.all([watch[Symbol.asyncDispose](), sender.stop()])
        },
      }
    },
    /** Lets time pass. It stands still while the watch works. */
    async pass(ms: number) {
      const { lookMs = 10 * second } = times
      for (let passed = 0; passed < ms; passed += lookMs) {
        await clock.run(lookMs)
        while (clock.sleeping < 2 || world.sending > 0)
          await new Promise((done) => setTimeout(done))
      }
    },
    append: () => journal.intake.append([makeSignup({ receivedAt: clock.now() })]),
    /** Writes all that waits. */
    async settle() {
      await journal.delivery.resolveDefaultTab('Sheet1')
      const [tab] = await journal.delivery.pending()
      if (!tab) throw new Error('Nothing waits.')
      const { signups } = await journal.delivery.waiting(tab)
      const batch = await journal.delivery.freeze([{ tab, signups }], 1000)
      await journal.delivery.settle(batch.number, clock.now())
    },
    types: () => sent.map(({ type }) => type),
    [Symbol.asyncDispose]: () => journal[Symbol.asyncDispose](),
  }
  return world
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

test('a notice that nobody receives is tried for a day with one id, and the next one waits for it', async () => {
  await using world = createWorld({ lookMs: 5 * minute, toldAfterMs: 10 * minute })
  world.status = 500
  await using _ = world.start()
  world.health.delivery = blocked
  await world.pass(hour)
  world.health.delivery = { state: 'ok' }
  await world.pass(22 * hour)
  const tries = world.sent.length
  expect(tries).toBeGreaterThan(15)
  expect(new Set(world.sent.map(({ id }) => id)).size).toBe(1)
  expect(world.log).not.toContain('given up')
  await world.pass(3 * hour)
  expect(world.log).toContain('given up')
  expect(world.types().at(-1)).toBe('delivery.resumed')
})

test('the journal keeps why the last try failed, until one is received', async () => {
  await using world = createWorld()
  const failed = async () => (await world.journal.outbox.figures(['notice'])).failed
  await using _ = world.start()
  world.health.delivery = blocked
  await world.pass(4 * minute)
  expect(await failed()).toBeUndefined()
  world.status = 404
  await world.pass(2 * minute)
  expect(await failed()).toMatchObject({ reason: 'the receiver answered with status 404' })
  expect((await failed())?.tries).toBe(world.sent.length)
  world.status = 204
  await world.pass(5 * minute)
  expect(await failed()).toBeUndefined()
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

test('of more than 20 notices that wait, the newest reach a receiver that is back', async () => {
  await using world = createWorld({ lookMs: minute, toldAfterMs: minute })
  world.status = 500
  await using _ = world.start()
  for (let round = 1; round <= 12; round++) {
    world.health.delivery = blocked
    await world.pass(2 * round * minute)
    world.health.delivery = { state: 'ok' }
    await world.pass(2 * minute)
  }
  world.status = 200
  world.sent.length = 0
  await world.pass(3 * hour)
  // The one that was being tried when the last one came does not count.
  expect(world.types().length).toBeLessThanOrEqual(21)
  expect(world.types().slice(-20)).toEqual(
    Array.from({ length: 10 }, () => ['delivery.blocked', 'delivery.resumed']).flat(),
  )
  expect(world.sent.at(-1)?.text).toMatch(/works again, after 2[456] minutes/)
})

test('an instance that does not deliver tells nothing', async () => {
  await using world = createWorld()
  world.delivers = false
  await using _ = world.start()
  world.health.delivery = blocked
  await world.pass(10 * minute)
  expect(world.log).toEqual([])
})

test('a crash after a notice was made and before the outage was noted makes no second one', async () => {
  await using world = createWorld()
  const first = world.start()
  world.health.delivery = blocked
  await world.pass(4 * minute)
  world.forgetsFacts = true
  await world.pass(2 * minute)
  expect(world.types()).toEqual(['delivery.blocked'])
  await first[Symbol.asyncDispose]()
  world.forgetsFacts = false
  await using _ = world.start()
  world.health.delivery = blocked
  await world.pass(10 * minute)
  expect(world.types()).toEqual(['delivery.blocked'])
  expect(world.log).toEqual(['received', 'delivery.blocked'])
})

test('a notice of a version before this one, which nobody had received, is sent', async () => {
  await using world = createWorld()
  const body = JSON.stringify({ type: 'delivery.blocked', text: 'of before' })
  const waiting = [{ id: 'msg_before', body, tries: 3, nextAt: world.clock.now() + hour }]
  const kept = { outage: { since: world.clock.now(), isTold: true }, waiting }
  await world.journal.delivery.noteFact('notices', JSON.stringify(kept))
  await using _ = world.start()
  world.health.delivery = blocked
  await world.pass(10 * minute)
  expect(world.sent).toEqual([{ id: 'msg_before', type: 'delivery.blocked', text: 'of before' }])
})

test('a notice waits for the one before it also after a restart', async () => {
  await using world = createWorld()
  world.status = 500
  const first = world.start()
  world.health.delivery = blocked
  await world.pass(30 * minute)
  world.health.delivery = { state: 'ok' }
  await world.pass(2 * minute)
  await first[Symbol.asyncDispose]()
  world.status = 200
  world.sent.length = 0
  await using _ = world.start()
  await world.pass(2 * hour)
  expect(world.types()).toEqual(['delivery.blocked', 'delivery.resumed'])
})
