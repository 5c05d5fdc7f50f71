import { expect, test } from 'vitest'

import { ManualClock } from '../../../harness/manual-clock.ts'
import { MemoryWebhookLog } from '../../../harness/webhook-log.ts'
import { type HttpAnswer, HttpFailure, type OutgoingRequest } from '../../platform/http-client.ts'
import { EndpointSender } from './endpoint-sender.ts'
import { webhookIdOf } from './endpoint.ts'

const second = 1_000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour
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
    ...{ clock, log, delivers: true, lookMs: second },
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
        ...{ endpoint: { url, keys: [new Uint8Array(32)] }, site: 'launch', webhooks: log },
        lookMs: world.lookMs,
        http: (request) => world.http(request),
        onAppend: (listener) => {
          told = listener
          return () => (told = () => {})
        },
        events: {
          webhookSent: () => {},
          webhookSetAside: (_host, tries) => void world.told.push(`set aside after ${tries}`),
          webhookFailed: (_host, tries) => void world.told.push(`given up after ${tries}`),
          webhookFares: (_endpoint, host, { haltedAt, disabledAt }) => {
            const state = disabledAt ? 'disabled' : haltedAt ? 'halted' : 'ok'
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

test('messages go in the order of positions, ten at a time, with one write of the cursor for many', async () => {
  const world = createWorld(1000)
  await using _ = world.start()
  await world.clock.run(10 * second)
  expect(world.tries.map(({ position }) => position)).toEqual(upTo(1000))
  expect(world.most).toBe(10)
  expect(world.log.cursor).toBe(1000)
  expect(world.log.writes).toEqual({ advance: expect.any(Number), settle: 0, note: 0 })
  expect(world.log.writes.advance).toBeLessThanOrEqual(1000 / 50 + 1)
})

test('a signup that this process adds is sent at once, and the cursor follows within a second', async () => {
  const world = createWorld()
  await using _ = world.start()
  await world.clock.run(500)
  world.log.add(1)
  world.tellAppend()
  await world.clock.run(20)
  expect(world.received).toEqual([1])
  world.log.add(1)
  await world.clock.run(second + 20)
  expect(world.received).toEqual([1, 2])
  expect(world.log.cursor).toBe(2)
})

test('a message that fails steps aside and is tried again by the ladder, always with the same id', async () => {
  const world = createWorld(30)
  world.lookMs = minute
  world.answer = async (position) => (position === 7 ? 500 : 204)
  await using _ = world.start()
  await world.clock.run(5 * minute)
  expect(sorted(world.received)).toEqual(upTo(30).filter((it) => it !== 7))
  expect(world.log.cursor).toBe(30)
  await world.clock.run(5 * day)
  const tried = world.triesOf(7)
  const pauses = tried.slice(1).map(({ at }, before) => at - (tried[before]?.at ?? 0))
  const ladder = [5 / 60, 1, 5, 30, 120, 300, 600, 840, 1200, 1440].map((it) => it * minute)
  expect(pauses).toHaveLength(ladder.length)
  for (const [at, pause] of pauses.entries()) {
    expect(pause).toBeGreaterThanOrEqual(ladder[at] ?? 0)
    expect(pause).toBeLessThanOrEqual((ladder[at] ?? 0) + minute + 2 * second)
  }
  expect(new Set(tried.map(({ id }) => id))).toEqual(
    new Set([webhookIdOf(url, 'id-7', 'signup.accepted')]),
  )
  expect(world.log.aside).toMatchObject([{ position: 7, tries: 11, nextAt: undefined }])
  expect(world.told.at(-1)).toBe('given up after 11')
})

test('while a message hangs others go on, up to 1,000 further, and the cursor waits for it', async () => {
  const world = createWorld(3000)
  world.answer = async (position, signal) => {
    if (position === 3) await world.clock.sleep(15 * second, signal)
    return 204
  }
  await using _ = world.start()
  await world.clock.run(14 * second)
  expect(world.log.cursor).toBe(2)
  expect(Math.max(...world.received)).toBeGreaterThan(1000)
  expect(Math.max(...world.received)).toBeLessThanOrEqual(1002 + 10)
  await world.clock.run(20 * second)
  expect(world.log.cursor).toBe(3000)
  expect(sorted(world.received)).toEqual(upTo(3000))
})

test('after 20 failures in a row one message probes at a time, its failures do not count, and a success ends it', async () => {
  const world = createWorld(500)
  world.lookMs = minute
  let works = false
  world.answer = async () => (works ? 204 : 500)
  await using _ = world.start()
  await world.clock.run(second)
  expect(world.states).toContain('hooks.example.com is halted')
  const { length: set } = world.tries
  expect(set).toBeGreaterThanOrEqual(20)
  expect(set).toBeLessThan(30)
  await world.clock.run(2 * hour)
  expect(world.log.aside.every(({ tries }) => tries === 1)).toBe(true)
  expect(world.log.fare).toMatchObject({ haltedAt: expect.any(Number), disabledAt: undefined })
  const probes = world.tries.slice(set)
  expect(probes.length).toBeLessThan(60)
  // Every second one is the next of the list, which steps aside after three; the others take turns.
  const next = probes.filter((_, at) => at % 2 === 0).map(({ position }) => position)
  const others = probes.filter((_, at) => at % 2 === 1).map(({ position }) => position)
  expect(next).toEqual(next.map((_, at) => set + 1 + Math.floor(at / 3)))
  expect(new Set(others).size).toBeGreaterThan(10)
  works = true
  await world.clock.run(10 * minute)
  expect(world.states.at(-1)).toBe('hooks.example.com is ok')
  expect(sorted(world.received)).toEqual(upTo(500))
  expect(world.log).toMatchObject({ cursor: 500, aside: [], fare: { haltedAt: undefined } })
})

test('a poisoned message keeps no endpoint halted, not even the only one that can probe', async () => {
  const world = createWorld(40)
  const haltedAt = world.clock.now()
  world.log.fare = { failingSince: haltedAt, haltedAt, disabledAt: undefined, reason: 'down' }
  world.answer = async (position) => (position === 1 ? 500 : 204)
  await using _ = world.start()
  await world.clock.run(minute)
  expect(sorted(world.received)).toEqual(upTo(40).slice(1))
  expect(world.log.aside).toMatchObject([{ position: 1 }])
})

test('25 messages that an endpoint refuses one after the other do not keep the others from it', async () => {
  const world = createWorld(525)
  world.answer = async (position) => (position <= 25 ? 422 : 204)
  await using _ = world.start()
  await world.clock.run(4 * hour)
  expect(sorted(world.received)).toEqual(upTo(525).slice(25))
  world.log.add(1)
  await world.clock.run(10 * minute)
  expect(world.received.at(-1)).toBe(526)
})

test('a jump of the clock after a failure disables no endpoint', async () => {
  const world = createWorld(3)
  world.answer = async () => 500
  await using _ = world.start()
  await world.clock.run(second)
  world.clock.jump(6 * day)
  await world.clock.run(minute)
  expect(world.tries.length).toBeGreaterThan(3)
  expect(world.states).not.toContain('hooks.example.com is disabled')
})

test('Retry-After beside a refusal of one message holds up no other', async () => {
  const world = createWorld(200)
  world.answer = async (position) => (position === 5 ? answerOf(500, '3600') : 204)
  await using _ = world.start()
  await world.clock.run(minute)
  expect(world.received).toHaveLength(199)
  expect(world.triesOf(5)).toHaveLength(1)
})

test('while 1,000 are set aside the cursor stands still, and it goes on when there are fewer', async () => {
  const world = createWorld(4000)
  world.lookMs = 10 * second
  let works = false
  // Never 20 in a row.
  world.answer = async (position) => (works || position % 10 === 0 ? 204 : 500)
  await using _ = world.start()
  await world.clock.run(5 * minute)
  expect(world.states).toContain('hooks.example.com is halted')
  expect(world.log.cursor).toBeLessThan(1300)
  const waiting = () => world.log.aside.filter(({ nextAt }) => nextAt !== undefined).length
  expect(waiting()).toBeGreaterThanOrEqual(1000)
  expect(waiting()).toBeLessThanOrEqual(1010)
  works = true
  await world.clock.run(2 * hour)
  expect(world.log).toMatchObject({ cursor: 4000, aside: [] })
  expect(sorted([...new Set(world.received)])).toEqual(upTo(4000))
})

test('with 1,000 set aside and nothing due, an endpoint that takes the others does not stand still', async () => {
  const world = createWorld(2000)
  world.log.cursor = 1000
  for (const position of upTo(1000)) {
    const waits = { tries: 9, nextAt: world.clock.now() + 20 * hour, reason: 'refused' }
    world.log.aside.push({ position, type: 'signup.accepted', ...waits })
  }
  world.answer = async (position) => (position <= 1000 ? 500 : 204)
  await using _ = world.start()
  await world.clock.run(minute)
  expect(world.log.cursor).toBe(2000)
  expect(world.states.at(-1)).toBe('hooks.example.com is ok')
  world.log.add(10)
  world.answer = async () => 500
  await world.clock.run(minute)
  expect(world.states.at(-1)).toBe('hooks.example.com is halted')
  expect(world.log).toMatchObject({ cursor: 2000, fare: { haltedAt: expect.any(Number) } })
  expect(world.log.aside).toHaveLength(1000)
})

test('the failure that fills the places of those that are set aside halts the endpoint', async () => {
  const world = createWorld(1000)
  world.log.cursor = 999
  for (const position of upTo(999)) {
    const nextAt = world.clock.now() + day
    world.log.aside.push({ position, type: 'signup.accepted', tries: 1, nextAt, reason: '' })
  }
  world.answer = async () => 500
  await using _ = world.start()
  await world.clock.run(second)
  expect(world.states.at(-1)).toBe('hooks.example.com is halted')
})

test('status 410 disables the endpoint at once, what waits is kept, and it goes on when it is enabled', async () => {
  const world = createWorld(50)
  world.lookMs = minute
  let works = false
  world.answer = async (position) => (works || position < 5 ? 204 : 410)
  const sender = world.start()
  await world.clock.run(day)
  expect(world.tries.length).toBeLessThanOrEqual(20)
  expect(world.states.at(-1)).toBe('hooks.example.com is disabled')
  expect(world.log.fare.disabledAt).toEqual(expect.any(Number))
  await sender.stop()
  await using _ = world.start()
  await world.clock.run(day)
  expect(world.tries.length).toBeLessThanOrEqual(20)
  works = true
  const { disabledAt, ...fare } = world.log.fare
  expect(disabledAt).toBeDefined()
  world.log.fare = { ...fare, failingSince: undefined, haltedAt: undefined, disabledAt: undefined }
  await world.clock.run(2 * minute)
  expect(sorted(world.received)).toEqual(upTo(50))
})

test('what was on its way when an endpoint was disabled enables nothing', async () => {
  const world = createWorld(50)
  world.answer = async (position) => {
    if (position > 1) return 410
    await world.clock.sleep(second)
    return 204
  }
  await using _ = world.start()
  await world.clock.run(minute)
  expect(world.received).toEqual([1])
  expect(world.tries).toHaveLength(10)
  expect(world.states.at(-1)).toBe('hooks.example.com is disabled')
  expect(world.log.fare.disabledAt).toEqual(expect.any(Number))
})

test('an endpoint that somebody enables gets messages within seconds, not after the pause of its probes', async () => {
  const world = createWorld(100)
  let works = false
  world.answer = async () => (works ? 204 : 500)
  await using _ = world.start()
  await world.clock.run(hour)
  works = true
  world.log.fare = { ...world.log.fare, failingSince: undefined, haltedAt: undefined }
  await world.clock.run(7 * second)
  expect(world.received.length).toBeGreaterThan(50)
})

test('five days of nothing but failures disable an endpoint, and one success begins them anew', async () => {
  const world = createWorld(500)
  world.lookMs = minute
  let works = false
  world.answer = async () => (works ? 204 : 500)
  await using _ = world.start()
  await world.clock.run(4 * day)
  works = true
  await world.clock.run(hour)
  expect(world.received).toHaveLength(500)
  works = false
  world.log.add(500)
  await world.clock.run(4.9 * day)
  expect(world.states.at(-1)).toBe('hooks.example.com is halted')
  await world.clock.run(0.2 * day)
  expect(world.states.at(-1)).toBe('hooks.example.com is disabled')
  const { length } = world.tries
  await world.clock.run(day)
  expect(world.tries).toHaveLength(length)
})

test('five days count from the first failure, whoever has noted it', async () => {
  const world = createWorld(1)
  world.lookMs = minute
  const failingSince = world.clock.now() - 5 * day
  world.log.fare = { ...world.log.fare, failingSince, reason: 'down' }
  world.answer = async () => 500
  await using _ = world.start()
  await world.clock.run(3 * hour)
  expect(world.states.at(-1)).toBe('hooks.example.com is disabled')
})

test.each([429, 502, 503, 504])(
  'after status %d one message at a time is sent until one gets through',
  async (status) => {
    const world = createWorld(100)
    world.answer = async () => (world.tries.length <= 15 ? status : 204)
    await using _ = world.start()
    await world.clock.run(second)
    const times = world.tries.map(({ at }) => at)
    expect(times.slice(10, 15)).toEqual([11, 22, 33, 44, 55])
    expect(times.filter((at) => at === 77)).toHaveLength(10)
  },
)

test('Retry-After pauses the endpoint, at most for an hour, and is the least pause of the message', async () => {
  const world = createWorld(20)
  world.lookMs = minute
  let failures = 0
  world.answer = async (position) =>
    position === 2 && failures++ === 0 ? answerOf(429, String(4 * 3600)) : 204
  await using _ = world.start()
  await world.clock.run(59 * minute)
  expect(world.tries).toHaveLength(10)
  await world.clock.run(2 * minute)
  expect(world.tries).toHaveLength(20)
  await world.clock.run(2.9 * hour)
  expect(world.triesOf(2)).toHaveLength(1)
  await world.clock.run(0.2 * hour)
  expect(world.triesOf(2)).toHaveLength(2)
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
    if (position === 3) await world.clock.sleep(hour, signal)
    if (signal?.aborted) throw new HttpFailure('it was given up')
    return 204
  }
  const sender = world.start()
  await world.clock.run(5 * second)
  await sender.stop()
  expect(world.log.cursor).toBe(40)
  expect(world.log.aside).toMatchObject([{ position: 3, tries: 0 }])
  world.answer = async () => 204
  await using _ = world.start()
  await world.clock.run(second)
  expect(sorted(world.received)).toEqual(upTo(40))
})

test('what is read while the instance stops is not sent by it', async () => {
  const world = createWorld(3)
  const after = world.log.after.bind(world.log)
  world.log.after = async (...asked) => {
    await world.clock.sleep(100)
    return after(...asked)
  }
  const sender = world.start()
  await world.clock.run(50)
  const stopping = sender.stop()
  await world.clock.run(second)
  await stopping
  expect(world.tries).toEqual([])
  expect(world.log).toMatchObject({ cursor: 0, aside: [] })
})

test('a journal that fails is waited for, and nothing is lost', async () => {
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
  expect(world.log).toMatchObject({ cursor: 200, aside: [] })
  expect(sorted(world.received)).toEqual(upTo(200))
  expect(world.told).toEqual(['set aside after 1'])
})

test('an instance that has lost the lease changes nothing about a message that was set aside', async () => {
  const world = createWorld(1)
  let tries = 0
  world.answer = async () => {
    world.delivers = ++tries < 2
    return 500
  }
  const sender = world.start()
  await world.clock.run(minute)
  await sender.stop()
  expect(tries).toBe(2)
  expect(world.log.aside).toMatchObject([{ position: 1, tries: 1 }])
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
  const erased = { position: 3, type: 'signup.erased', reason: '' } as const
  world.log.aside.push({ ...erased, tries: 0, nextAt: 0 })
  await world.clock.run(10 * second)
  const ids = (['signup.accepted', 'signup.erased'] as const).map((it) =>
    webhookIdOf(url, 'id-3', it),
  )
  expect(world.triesOf(3)).toMatchObject([{ id: ids[0] }, { id: ids[1] }])
  expect((world.triesOf(3)[1]?.at ?? 0) - (world.triesOf(3)[0]?.at ?? 0)).toBeGreaterThan(
    5 * second,
  )
  expect(world.log).toMatchObject({ cursor: 20, aside: [] })
})

test('a long way without messages leaves room for other work', async () => {
  const world = createWorld()
  const end = 100_000
  const times: number[] = []
  world.log.after = async (_, position) => {
    times.push(world.clock.elapsed())
    return { messages: [], upto: Math.max(position, Math.min(position + 1000, end)) }
  }
  await using _ = world.start()
  await world.clock.run(12 * second)
  expect(times.slice(0, 100)).toEqual(upTo(100).map((it) => it - 1))
  expect(world.log.cursor).toBe(end)
})

test('after a kill at any moment every message comes, and those of one group at most come twice', async () => {
  const { count, most } = { count: 400, most: 50 + 10 + 10 }
  for (let seed = 1; seed <= 40; seed++) {
    const world = createWorld(count)
    const killed = world.start()
    await world.clock.run(seed * 11)
    // Its calls reach nothing any more.
    const { cursor, aside } = world.log
    const next = createWorld(count)
    next.log.cursor = cursor
    next.log.aside.push(...aside)
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
