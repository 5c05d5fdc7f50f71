import { expect, test } from 'vitest'

import { ChatEmulator } from '../../../emulators/chat.ts'
import { ManualClock } from '../../../harness/manual-clock.ts'
import { MemoryWebhookLog } from '../../../harness/webhook-log.ts'
import type { HttpAnswer, OutgoingRequest } from '../../platform/http-client.ts'
import { HttpFailure } from '../../platform/http-client.ts'
import { hour, minute, second } from '../../platform/clock.ts'
import { EndpointSender } from '../webhook/endpoint-sender.ts'
import { chatTeller } from './teller.ts'

/** A journal in memory, and a channel of Slack's. */
function createWorld(log = new MemoryWebhookLog(), clock = new ManualClock(), sharers = 1) {
  const emulator = new ChatEmulator(() => clock.elapsed())
  const host = 'hooks.slack.com'
  const url = `https://${host}${emulator.pathOf('slack')}`
  let told = () => {}
  const lines: string[] = []
  const world = {
    ...{ clock, log, lines, delivers: true },
    /** Whether the answers are lost on their way. */
    losesAnswers: false,
    /** How long the journal takes to note something. */
    settleMs: 0,
    /** All bodies that came, those whose answers were lost, too. */
    posts: emulator.posts,
    answers: emulator.answers,
    add: (count: number) => {
      log.add(count)
      told()
    },
    start: () => {
      const http = async ({ body, signal }: OutgoingRequest): Promise<HttpAnswer> => {
        const { status, headers, text = '' } = emulator.take(new URL(url).pathname, String(body))
        await clock.sleep(10, signal)
        if (world.losesAnswers || signal?.aborted) throw new HttpFailure('no answer came')
        return { status, headers: new Headers(headers), text }
      }
      const endpoint = {
        chat: 'slack',
        url,
        host,
        key: 'key',
        title: 'Launch',
        own: [],
        sharers,
      } as const
      const sender = new EndpointSender({
        ...{ clock, time: clock, random: () => 0, delivers: () => world.delivers },
        webhooks: {
          endpoint: () => log.endpoint(),
          next: (...asked) => log.next(...asked),
          settle: async (...settled) => {
            if (world.settleMs > 0) await clock.sleep(world.settleMs)
            return log.settle(...settled)
          },
        },
        teller: chatTeller(endpoint, { http, clock }),
        onAppend: (listener) => {
          told = listener
          return () => (told = () => {})
        },
        events: {
          webhookSent: () => void lines.push('sent'),
          webhookDelayed: () => void lines.push('delayed'),
          webhookFailed: (_host, tries, reason) =>
            void lines.push(`failed after ${tries}: ${reason}`),
          webhookFares: () => {},
          webhooksCrashed: (error) => void lines.push(String(error)),
        },
      })
      const stop = async () => {
        const stopped = sender.stop()
        await clock.run(2 * second)
        await stopped
      }
      return { stop, [Symbol.asyncDispose]: stop }
    },
  }
  return world
}

type World = ReturnType<typeof createWorld>

/** What the messages say: who is named, and how many people they are about. */
function toldBy(posts: World['posts']) {
  const named = posts.flatMap(({ text }) =>
    [...text.matchAll(/^(\d+)@/gm)].map(([, it]) => Number(it)),
  )
  const counts = posts.map(({ text }) => Number(/: (\d+) new/.exec(text)?.[1]))
  return { named, count: counts.reduce((sum, it) => sum + it, 0) }
}

const upTo = (count: number) => Array.from({ length: count }, (_, at) => at + 1)

test('5,000 signups in an hour are at most 720 messages, and each is in one or in the number of those left out', async () => {
  const world = createWorld()
  await using _ = world.start()
  // Half of them come at once, the others evenly.
  world.add(2_501)
  for (let at = 0; at < 833; at++) {
    await world.clock.run((hour - minute) / 833)
    world.add(3)
  }
  await world.clock.run(minute)
  expect(world.posts.length).toBeLessThanOrEqual(720)
  expect(world.posts.length).toBeGreaterThan(600)
  const gaps = world.posts.slice(1).map(({ at }, before) => at - (world.posts[before]?.at ?? 0))
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(5 * second)
  const { named, count } = toldBy(world.posts)
  expect(count).toBe(5_000)
  expect(new Set(named).size).toBe(named.length)
  expect(world.posts.slice(0, 5).map(({ text }) => /and \d+ more/.exec(text)?.[0])).toEqual(
    Array.from({ length: 5 }, () => 'and 480 more'),
  )
  expect(world.log).toMatchObject({ cursor: 5_000, own: [], fixedTo: undefined })
})

test('a signup is told at once, and those of the next five seconds in one message', async () => {
  const world = createWorld()
  await using _ = world.start()
  await world.clock.run(minute)
  for (let left = 3; left > 0; left--) {
    world.add(1)
    await world.clock.run(100)
  }
  expect(toldBy(world.posts)).toEqual({ named: [1], count: 1 })
  await world.clock.run(5 * second)
  expect(world.posts).toHaveLength(2)
  expect(toldBy(world.posts)).toEqual({ named: [1, 2, 3], count: 3 })
})

test('a channel that three sites share gets a message of each in fifteen seconds', async () => {
  const world = createWorld(undefined, undefined, 3)
  await using _ = world.start()
  for (let at = 0; at < 60; at++) {
    world.add(1)
    await world.clock.run(second)
  }
  expect(world.posts.map(({ at }) => Math.floor(at / second))).toEqual([15, 30, 45, 60])
})

test('a message whose answer was lost says the same again, whoever has signed up since', async () => {
  const world = createWorld()
  await using _ = world.start()
  world.losesAnswers = true
  world.add(3)
  await world.clock.run(10 * second)
  world.add(30)
  await world.clock.run(2 * minute)
  expect(world.posts.length).toBeGreaterThan(2)
  expect(new Set(world.posts.map(({ body }) => body)).size).toBe(1)
  expect(toldBy(world.posts.slice(0, 1))).toEqual({ named: [1, 2, 3], count: 3 })
  expect(world.log).toMatchObject({ cursor: 0, fixedTo: 3 })
  world.losesAnswers = false
  const { length } = world.posts
  await world.clock.run(hour)
  expect(toldBy(world.posts.slice(length)).count).toBe(33)
  expect(world.log).toMatchObject({ cursor: 33, own: [], fixedTo: undefined })
})

test('after a kill at any moment, nobody is in two messages that differ, and nobody in none', async () => {
  // Messages go after 5 and 10 seconds, and are on their way for 10 milliseconds.
  for (const ms of [0, 1, 2, 5, 9, 10, 11, 15, 30].flatMap((it) => [5_000 + it, 10_000 + it])) {
    const world = createWorld()
    const clock = world.clock
    const killed = world.start()
    world.add(4)
    await clock.run(4_999)
    world.add(2)
    await clock.run(2)
    world.add(3)
    await clock.run(ms - 5_001)
    // Its calls reach nothing any more.
    const log = Object.assign(new MemoryWebhookLog(), { cursor: world.log.cursor })
    log.fixedTo = world.log.fixedTo
    log.add(world.log.signups.length + 3)
    const before = [...world.posts]
    world.delivers = false
    await killed.stop()
    const next = createWorld(log, clock)
    await using _ = next.start()
    await clock.run(20 * second)
    const bodies = new Map([...before, ...next.posts].map((it) => [it.body, it]))
    const { named, count } = toldBy([...bodies.values()])
    expect([named, count], `after ${ms} ms`).toEqual([upTo(12), 12])
  }
})

test('two instances that send at once tell the same, whichever fixes the message first', async () => {
  const slow = createWorld()
  const { clock, log } = slow
  slow.settleMs = 55
  await using _ = slow.start()
  await clock.run(50)
  const other = createWorld(log, clock)
  await using __ = other.start()
  slow.add(3)
  // The slow one has read, and fixes it while the other one sends.
  await clock.run(4_970)
  other.add(2)
  await clock.run(minute)
  const bodies = new Map([...slow.posts, ...other.posts].map((it) => [it.body, it]))
  expect(toldBy([...bodies.values()])).toEqual({ named: upTo(5), count: 5 })
  expect(log).toMatchObject({ cursor: 5, fixedTo: undefined })
})

test('a message all of whose people were erased ends, and the next one goes', async () => {
  const world = createWorld()
  world.losesAnswers = true
  await using _ = world.start()
  world.log.add(1)
  await world.clock.run(7 * second)
  expect(world.log).toMatchObject({ cursor: 0, fixedTo: 1 })
  world.log.erased.add(1)
  world.losesAnswers = false
  world.add(1)
  await world.clock.run(hour)
  expect(toldBy(world.posts.slice(-1)).named).toEqual([2])
  expect(world.log).toMatchObject({ cursor: 2, fixedTo: undefined })
})

test('who was released or asked for is told together before the others, and erased ones are in no message', async () => {
  const world = createWorld()
  world.log.add(40)
  world.log.cursor = 30
  const own = (position: number) =>
    ({ position, type: 'signup.accepted', tries: 0, nextAt: 0, reason: '' }) as const
  world.log.own.push(own(4), own(9), { ...own(5), type: 'signup.erased' })
  await using _ = world.start()
  await world.clock.run(7 * second)
  world.losesAnswers = true
  await world.clock.run(6 * second)
  world.log.own.push(own(6))
  await world.clock.run(minute)
  world.losesAnswers = false
  await world.clock.run(hour)
  const bodies = new Map(world.posts.map((it) => [it.body, it]))
  expect([...bodies.values()].map((it) => toldBy([it]).named)).toEqual([
    [4, 9],
    upTo(40).slice(30),
    [6],
  ])
  expect(world.log).toMatchObject({ cursor: 40, own: [], fixedTo: undefined })
})

test('a message that is refused puts each of its signups in the list of failed ones, with one line in the log', async () => {
  const world = createWorld()
  world.answers.push({ status: 404 })
  await using _ = world.start()
  world.add(25)
  await world.clock.run(7 * second)
  expect(world.lines).toEqual(['failed after 1: the receiver answered with status 404'])
  expect(world.log.own.map(({ position }) => position)).toEqual(upTo(25))
  expect(world.log).toMatchObject({ cursor: 25, fare: { failingSince: expect.any(Number) } })
  world.add(1)
  await world.clock.run(minute)
  expect(toldBy(world.posts)).toEqual({ named: [26], count: 1 })
})

test('a channel that asks for it is left alone, and then told the same message', async () => {
  const world = createWorld()
  const retryAfter = { 'retry-after': '600' }
  world.answers.push({ status: 429, headers: retryAfter })
  await using _ = world.start()
  world.add(1)
  await world.clock.run(10 * second)
  world.add(1)
  await world.clock.run(590 * second)
  expect(world.posts).toEqual([])
  await world.clock.run(minute)
  expect(world.posts.map((it) => toldBy([it]).named)).toEqual([[1], [2]])
})

test('a cursor that was moved back ends the message that is fixed', async () => {
  const world = createWorld()
  await using _ = world.start()
  world.add(10)
  await world.clock.run(10 * second)
  world.losesAnswers = true
  world.add(2)
  await world.clock.run(10 * second)
  expect(world.log.fixedTo).toBe(12)
  Object.assign(world.log, { cursor: 7, fixedTo: undefined })
  world.losesAnswers = false
  await world.clock.run(hour)
  expect(toldBy(world.posts.slice(-1)).named).toEqual([8, 9, 10, 11, 12])
})
