import { expect, test } from 'vitest'

import { ManualClock } from '../../../harness/manual-clock.ts'
import { MemoryWebhookLog } from '../../../harness/webhook-log.ts'
import { type HttpAnswer, HttpFailure, type OutgoingRequest } from '../../platform/http-client.ts'
import { workingFare } from '../../journal/contracts/webhook-log.ts'
import { EndpointSender } from './endpoint-sender.ts'
import { webhookIdOf } from './endpoint.ts'
import { Fare } from './fare.ts'
import { webhookTeller } from './teller.ts'
import { day, hour, minute, second } from '../../platform/clock.ts'

const url = 'https://hooks.example.com/secret'

interface Tried {
  readonly position: number
  readonly id: string
  readonly at: number
}

/** A journal in memory with so many signups, and a receiver that is this test. */
function createWorld(count = 0) {
  const clock = new ManualClock()
  const log = new MemoryWebhookLog()
  log.add(count)
  let told: () => void = () => {}
  const world = {
    ...{ clock, log, delivers: true, lookMs: undefined as number | undefined },
    tries: [] as Tried[],
    received: [] as number[],
    told: [] as string[],
    states: [] as string[],
    /** How many are on their way, and how many at most. */
    flying: 0,
    most: 0,
    /** What the receiver answers: a status, with headers or not, or an error. */
    answer: async (_position: number, _signal?: AbortSignal): Promise<number | HttpAnswer> => 204,
    tellAppend: () => told(),
    http: async ({ body, headers = {}, signal }: OutgoingRequest): Promise<HttpAnswer> => {
      const { data } = JSON.parse(String(body)) as { readonly data: { readonly id: string } }
      const position = Number(data.id.replace('id-', ''))
      const id = headers['webhook-id'] ?? ''
      world.tries.push({ position, id, at: clock.elapsed() })
      world.most = Math.max(world.most, ++world.flying)
      try {
        await clock.sleep(10, signal)
        if (signal?.aborted) throw new HttpFailure('it was given up')
        const answer = await world.answer(position, signal)
        const whole = typeof answer === 'number' ? answerOf(answer) : answer
        if (whole.status < 300) world.received.push(position)
        return whole
      } finally {
        world.flying -= 1
      }
    },
    start: () => {
      const sender = new EndpointSender({
        ...{ clock, time: clock, random: () => 0, delivers: () => world.delivers },
        webhooks: log,
        lookMs: world.lookMs,
        teller: webhookTeller(
          { url, keys: [new Uint8Array(32)], key: 'key', host: new URL(url).host, site: 'launch' },
          { http: (request) => world.http(request), clock },
        ),
        onAppend: (listener) => {
          told = listener
          return () => (told = () => {})
        },
        events: {
          webhookSent: () => {},
          webhookDelayed: (_host, tries) => void world.told.push(`delayed after ${tries}`),
          webhookFailed: (_host, tries) => void world.told.push(`failed after ${tries}`),
          webhookFares: (_endpoint, host, { failingSince, disabledAt }) => {
            const state = disabledAt ? 'disabled' : failingSince ? 'failing' : 'ok'
            const line = `${host} is ${state}`
            if (world.states.at(-1) !== line) world.states.push(line)
          },
          webhooksCrashed: (error) => void world.told.push(String(error)),
        },
      })
      const stop = async () => {
        const stopped = sender.stop()
        await clock.run(2 * second)
        await stopped
      }
      return { stop, [Symbol.asyncDispose]: stop }
    },
    triesOf: (position: number) => world.tries.filter((it) => it.position === position),
  }
  return world
}

function answerOf(status: number, retryAfter: string | null = null): HttpAnswer {
  return { status, headers: { get: () => retryAfter }, text: '' }
}

const upTo = (count: number) => Array.from({ length: count }, (_, at) => at + 1)
const sorted = (numbers: readonly number[]) => numbers.toSorted((a, b) => a - b)
const pausesOf = (tries: readonly Tried[]) =>
  tries.slice(1).map(({ at }, before) => at - (tries[before]?.at ?? 0))
test('messages go in the order of positions, ten at a time, with one write of the cursor for many', async () => {
  const world = createWorld(1000)
  await using _ = world.start()
  await world.clock.run(10 * second)
  expect(world.tries.map(({ position }) => position)).toEqual(upTo(1000))
  expect(world.most).toBe(10)
  expect(world.log.cursor).toBe(1000)
  expect(world.log.calls.settle).toBeLessThanOrEqual(1000 / 50 + 1)
})

test('a signup that this process adds is sent at once, others within seconds, and the cursor follows', async () => {
  const world = createWorld()
  await using _ = world.start()
  await world.clock.run(500)
  world.log.add(1)
  world.tellAppend()
  await world.clock.run(20)
  expect(world.received).toEqual([1])
  world.log.add(1)
  await world.clock.run(8 * second)
  expect(world.received).toEqual([1, 2])
  expect(world.log.cursor).toBe(2)
})

test('an endpoint that has nothing to send asks the journal one question in five seconds, and changes nothing', async () => {
  const world = createWorld(20)
  await using _ = world.start()
  await world.clock.run(minute)
  const before = { ...world.log.calls }
  await world.clock.run(10 * minute)
  expect(world.log.calls).toEqual({ ...before, endpoint: before.endpoint + 120 })
})

test('a message that fails keeps its place while others go on, and has failed after five tries in a day', async () => {
  const world = createWorld(30)
  world.lookMs = minute
  world.answer = async (position) => (position === 7 ? 500 : 204)
  await using _ = world.start()
  await world.clock.run(2 * day)
  expect(sorted(world.received)).toEqual(upTo(30).filter((it) => it !== 7))
  expect(world.log.cursor).toBe(30)
  const tried = world.triesOf(7)
  const ladder = [5 * second, minute, 3 * hour, 21 * hour]
  const pauses = pausesOf(tried)
  expect(pauses).toHaveLength(4)
  for (const [at, pause] of pauses.entries()) {
    expect(pause).toBeGreaterThanOrEqual(ladder[at] ?? 0)
    expect(pause).toBeLessThanOrEqual((ladder[at] ?? 0) + 2 * minute)
  }
  expect((tried[4]?.at ?? 0) - (tried[0]?.at ?? 0)).toBeGreaterThanOrEqual(day)
  expect(new Set(tried.map(({ id }) => id))).toEqual(
    new Set([webhookIdOf(url, 'id-7', 'signup.accepted')]),
  )
  expect(world.log.own).toMatchObject([{ position: 7, tries: 5, nextAt: undefined }])
  expect(world.told).toEqual([1, 2, 3, 4].map((n) => `delayed after ${n}`).concat('failed after 5'))
  expect(world.states).toEqual(['hooks.example.com is ok'])
})

test.each([400, 401, 404, 413, 422])(
  'a message that is refused with status %d has failed at once',
  async (status) => {
    const world = createWorld(30)
    world.answer = async (position) => (position % 10 === 3 ? status : 204)
    await using _ = world.start()
    await world.clock.run(minute)
    expect(world.tries).toHaveLength(30)
    expect(world.log.cursor).toBe(30)
    expect(world.log.own).toMatchObject(
      [3, 13, 23].map((position) => ({ position, tries: 1, nextAt: undefined })),
    )
    expect(world.states).toEqual(['hooks.example.com is ok'])
  },
)

test.each([301, 408, 429, 500, 503])('after status %d a message is tried again', async (status) => {
  const world = createWorld(10)
  world.answer = async (position) =>
    position === 3 && world.triesOf(3).length === 1 ? status : 204
  await using _ = world.start()
  await world.clock.run(minute)
  expect(sorted(world.received)).toEqual(upTo(10))
})

test('an endpoint that takes nothing rests, longer each time, without a try of a message, and then gets all', async () => {
  const world = createWorld(500)
  world.lookMs = minute
  let works = false
  world.answer = async () => (works ? 204 : 500)
  await using _ = world.start()
  await world.clock.run(4 * hour)
  const tries = world.triesOf(1)
  const rests = [5 * second, minute, 5 * minute, 30 * minute, hour, hour, hour]
  expect(pausesOf(tries)).toEqual(rests.map((rest) => expect.closeTo(rest, -3) as unknown))
  // The same window each time, and nothing behind it.
  expect(world.tries).toHaveLength(10 * tries.length)
  expect(new Set(world.tries.map(({ position }) => position))).toEqual(new Set(upTo(10)))
  expect(world.log).toMatchObject({
    cursor: 0,
    own: [],
    fare: { failingSince: expect.any(Number) },
  })
  works = true
  await world.clock.run(hour + minute)
  expect(world.states.at(-1)).toBe('hooks.example.com is ok')
  expect(world.received).toEqual(upTo(500))
  expect(world.log).toMatchObject({ cursor: 500, own: [], fare: { failingSince: undefined } })
  expect(world.told).toEqual([])
  works = false
  world.log.add(1)
  await world.clock.run(4 * minute)
  const anew = rests.slice(0, 2).map((rest) => expect.closeTo(rest, -3) as unknown)
  expect(pausesOf(world.triesOf(501))).toEqual(anew)
})

test('messages that keep their places leave at least one for the others, and rests go on while it fails', async () => {
  const world = createWorld(60)
  world.lookMs = minute
  // Nine of the first ten fail, and so does the 30th.
  world.answer = async (position) => (position < 10 || position === 30 ? 500 : 204)
  await using _ = world.start()
  await world.clock.run(3 * day)
  expect(sorted(world.received)).toEqual(upTo(60).filter((it) => it >= 10 && it !== 30))
  expect(world.received).toEqual(sorted(world.received))
  expect(world.log.own).toHaveLength(10)
  expect(world.log.own.every(({ tries, nextAt }) => tries === 5 && nextAt === undefined)).toBe(true)
})

test('a message that has failed beside others needs no other one for its further tries', async () => {
  const world = createWorld(2)
  world.lookMs = minute
  world.answer = async (position) => (position === 1 ? 500 : 204)
  await using _ = world.start()
  await world.clock.run(2 * day)
  expect(world.log.own).toMatchObject([{ position: 1, tries: 5, nextAt: undefined }])
  expect(world.states).toEqual(['hooks.example.com is ok'])
})

test('ten that are refused in a row rest the endpoint, and those behind them follow', async () => {
  const world = createWorld(30)
  world.answer = async (position) => (position <= 20 ? 401 : 204)
  await using _ = world.start()
  await world.clock.run(second)
  expect(world.tries).toHaveLength(10)
  expect(world.states.at(-1)).toBe('hooks.example.com is failing')
  await world.clock.run(2 * minute)
  expect(world.received).toEqual(upTo(30).slice(20))
  expect(world.tries).toHaveLength(30)
  expect(world.states.at(-1)).toBe('hooks.example.com is ok')
})

test('status 410 disables the endpoint at once, what waits is kept, and it goes on when it is enabled', async () => {
  const world = createWorld(50)
  world.lookMs = minute
  let works = false
  world.answer = async (position) => (works || position < 5 ? 204 : 410)
  const sender = world.start()
  await world.clock.run(day)
  expect(world.tries).toHaveLength(10)
  expect(world.states.at(-1)).toBe('hooks.example.com is disabled')
  expect(world.log.fare.disabledAt).toEqual(expect.any(Number))
  await sender.stop()
  await using _ = world.start()
  await world.clock.run(day)
  expect(world.tries).toHaveLength(10)
  works = true
  world.log.enable()
  await world.clock.run(2 * minute)
  expect(sorted(world.received)).toEqual(upTo(50))
  expect(world.log).toMatchObject({ cursor: 50, own: [], fare: workingFare })
})

test('an endpoint that somebody enables gets messages within seconds, not after its rest', async () => {
  const world = createWorld(100)
  let works = false
  world.answer = async () => (works ? 204 : 500)
  await using _ = world.start()
  await world.clock.run(3 * hour)
  works = true
  world.log.enable()
  await world.clock.run(8 * second)
  expect(world.received).toEqual(upTo(100))
})

test('an endpoint that somebody enables waits for no Retry-After', async () => {
  const world = createWorld(20)
  world.answer = async (position) => (position === 2 ? answerOf(429, '3600') : 204)
  await using _ = world.start()
  await world.clock.run(minute)
  expect(world.tries).toHaveLength(10)
  world.log.enable()
  await world.clock.run(8 * second)
  expect(world.tries).toHaveLength(20)
})

test('five days of nothing but failures disable an endpoint, and one success begins them anew', async () => {
  const world = createWorld(500)
  world.lookMs = 10 * minute
  let works = false
  world.answer = async () => (works ? 204 : 500)
  await using _ = world.start()
  await world.clock.run(4 * day)
  works = true
  await world.clock.run(2 * hour)
  expect(world.received).toHaveLength(500)
  works = false
  world.log.add(500)
  await world.clock.run(4.9 * day)
  expect(world.states.at(-1)).toBe('hooks.example.com is failing')
  await world.clock.run(0.2 * day)
  expect(world.states.at(-1)).toBe('hooks.example.com is disabled')
  const { length } = world.tries
  await world.clock.run(day)
  expect(world.tries).toHaveLength(length)
  expect(world.log).toMatchObject({ cursor: 500, own: [] })
})

test.each([
  [hour, 5 * day, true],
  [hour - 1, 5 * day, false],
  [hour, 5 * day - 1, false],
])(
  'what failed for %d ms here, and for %d ms by whoever noted it first, is disabled: %s',
  (here, inAll, isDisabled) => {
    let elapsed = 0
    const clock = { elapsed: () => elapsed }
    const fare = new Fare(
      clock,
      () => inAll,
      () => 0,
    )
    const none = { dueAt: undefined, fixedTo: undefined, takenAt: undefined }
    const record = { ...none, cursor: 0, last: 0, enabled: 0, waiting: 0 }
    fare.follow({ ...record, failingSince: 0, disabledAt: undefined, reason: 'down' })
    fare.rest('down')
    elapsed = here
    fare.rest('down')
    expect(fare.current.disabledAt !== undefined).toBe(isDisabled)
  },
)

test('a jump of the clock after a failure disables no endpoint', async () => {
  const world = createWorld(3)
  world.answer = async () => 500
  await using _ = world.start()
  await world.clock.run(second)
  world.clock.jump(6 * day)
  await world.clock.run(2 * minute)
  expect(world.tries.length).toBeGreaterThan(3)
  expect(world.states).not.toContain('hooks.example.com is disabled')
})

test('Retry-After beside too much to do pauses the endpoint, at most for an hour', async () => {
  const world = createWorld(20)
  world.lookMs = minute
  world.answer = async (position) =>
    position === 2 && world.triesOf(2).length === 1 ? answerOf(429, String(4 * 3600)) : 204
  await using _ = world.start()
  await world.clock.run(59 * minute)
  expect(world.tries).toHaveLength(10)
  await world.clock.run(2 * minute)
  expect(world.tries).toHaveLength(20)
  // And it is the least pause of the message.
  await world.clock.run(2.9 * hour)
  expect(world.triesOf(2)).toHaveLength(1)
  await world.clock.run(0.2 * hour)
  expect(world.triesOf(2)).toHaveLength(2)
})

test('Retry-After beside another failure holds up no other message', async () => {
  const world = createWorld(200)
  world.answer = async (position) => (position === 5 ? answerOf(500, '3600') : 204)
  await using _ = world.start()
  await world.clock.run(minute)
  expect(world.received).toHaveLength(199)
  expect(world.triesOf(5)).toHaveLength(1)
})

test('a cursor that was moved back is taken over, while messages are sent and while none are', async () => {
  const world = createWorld(100)
  await using _ = world.start()
  await world.clock.run(20 * second)
  world.log.cursor = 90
  await world.clock.run(10 * second)
  expect(world.received.slice(100)).toEqual(upTo(100).slice(90))
  world.log.add(1000)
  world.tellAppend()
  await world.clock.run(100)
  world.log.cursor = 50
  await world.clock.run(10 * second)
  expect(new Set(world.received).size).toBe(1100)
  expect(world.tries.filter(({ position }) => position === 51)).toHaveLength(2)
  expect(world.log.cursor).toBe(1100)
})

test('a stop ends what hangs within two seconds, and nobody sends what got through again', async () => {
  const world = createWorld(40)
  world.answer = async (position, signal) => {
    if (position === 33) await world.clock.sleep(hour, signal)
    if (signal?.aborted) throw new HttpFailure('it was given up')
    return 204
  }
  const sender = world.start()
  await world.clock.run(5 * second)
  await sender.stop()
  expect(world.log.cursor).toBe(40)
  expect(world.log.own).toMatchObject([{ position: 33, tries: 0, nextAt: 0 }])
  world.answer = async () => 204
  await using _ = world.start()
  await world.clock.run(second)
  expect(sorted(world.received)).toEqual(upTo(40))
})

test('what is read while the instance stops is not sent by it', async () => {
  const world = createWorld(3)
  const next = world.log.next.bind(world.log)
  world.log.next = async (...asked) => {
    await world.clock.sleep(100)
    return next(...asked)
  }
  const sender = world.start()
  await world.clock.run(50)
  const stopping = sender.stop()
  await world.clock.run(second)
  await stopping
  expect(world.tries).toEqual([])
  expect(world.log).toMatchObject({ cursor: 0, own: [] })
})

test('a journal that fails is waited for, nothing is lost, and nothing is sent twice', async () => {
  const world = createWorld(200)
  world.answer = async (position) => {
    if (position === 20) world.log.isDown = true
    return position === 15 ? 500 : 204
  }
  await using _ = world.start()
  await world.clock.run(minute)
  expect(world.log.cursor).toBeLessThan(40)
  world.answer = async () => 204
  world.log.isDown = false
  await world.clock.run(minute)
  expect(world.log).toMatchObject({ cursor: 200, own: [] })
  expect(sorted(world.received)).toEqual(upTo(200))
  expect(world.told).toEqual(['delayed after 1'])
})

test('an instance that has lost the lease changes nothing', async () => {
  const world = createWorld(2)
  world.answer = async (position) => {
    world.delivers = world.tries.length < 3
    return position === 1 ? 500 : 204
  }
  const sender = world.start()
  await world.clock.run(minute)
  await sender.stop()
  expect(world.triesOf(1)).toHaveLength(2)
  expect(world.log.own).toMatchObject([{ position: 1, tries: 1 }])
})

test('nothing is sent without the lease, nor to an endpoint that is not followed yet', async () => {
  const world = createWorld(3)
  world.delivers = false
  world.log.isFollowed = false
  await using _ = world.start()
  await world.clock.run(minute)
  world.delivers = true
  await world.clock.run(minute)
  expect(world.tries).toEqual([])
  world.log.isFollowed = true
  await world.clock.run(2 * second)
  expect(world.received).toEqual([1, 2, 3])
})

test('a signup that is erased while its message is on its way is told as erased after it', async () => {
  const world = createWorld(20)
  world.answer = async (position, signal) => {
    if (position === 3 && world.triesOf(3).length === 1) await world.clock.sleep(5 * second, signal)
    return 204
  }
  await using _ = world.start()
  await world.clock.run(second)
  world.log.own.push({ position: 3, type: 'signup.erased', reason: '', tries: 0, nextAt: 0 })
  await world.clock.run(15 * second)
  const ids = (['signup.accepted', 'signup.erased'] as const).map((it) =>
    webhookIdOf(url, 'id-3', it),
  )
  expect(world.triesOf(3)).toMatchObject([{ id: ids[0] }, { id: ids[1] }])
  expect(pausesOf(world.triesOf(3))[0]).toBeGreaterThan(5 * second)
  expect(world.log).toMatchObject({ cursor: 20, own: [] })
})

test('a long way without messages leaves room for other work', async () => {
  const world = createWorld()
  const end = 100_000
  const times: number[] = []
  world.log.next = async (_, position) => {
    times.push(world.clock.elapsed())
    return { messages: [], upto: Math.max(position, Math.min(position + 1000, end)) }
  }
  await using _ = world.start()
  world.tellAppend()
  await world.clock.run(2 * minute)
  expect(times.slice(0, 100)).toEqual(upTo(100).map((it) => it - 1))
  expect(world.log.cursor).toBe(end)
})

test('after a kill at any moment every message comes, and those of one group at most come twice', async () => {
  const { count, most } = { count: 400, most: 50 + 10 }
  for (let seed = 1; seed <= 40; seed++) {
    const world = createWorld(count)
    const killed = world.start()
    await world.clock.run(seed * 11)
    // Its calls reach nothing any more.
    const { cursor, own } = world.log
    const next = createWorld(count)
    next.log.cursor = cursor
    next.log.own.push(...own)
    world.delivers = false
    const got = [...world.received]
    await killed.stop()
    await using _ = next.start()
    await next.clock.run(10 * second)
    const all = [...got, ...next.received]
    expect(sorted([...new Set(all)]), `seed ${seed}`).toEqual(upTo(count))
    expect(all.length - count, `seed ${seed}`).toBeLessThanOrEqual(most)
  }
})
