import { expect, test } from 'vitest'

import { ManualClock } from '../../harness/manual-clock.ts'
import { JournalUnavailable } from '../journal/contracts/errors.ts'
import type { ClaimOrder, Message, MessageOutcome } from '../journal/contracts/outbox.ts'
import { type Consumer, Sender, type Sent, type SendTask } from './sender.ts'
import { hour, minute } from '../platform/clock.ts'

interface Waiting extends Omit<Message, 'isUnwanted'> {
  isUnwanted: boolean
  nextAt: number
  claimedBy?: string | undefined
}

/** An outbox in memory, and a consumer that is this test. */
function createWorld(count = 1, given: Partial<Consumer> = {}) {
  const clock = new ManualClock()
  const waiting: Waiting[] = Array.from({ length: count }, (_, at) => ({
    ...{ number: at + 1, id: `m${at + 1}`, kind: 'confirm', email: '', language: '', body: '' },
    ...{ madeAt: 0, tries: 0, isListed: false, isUnwanted: false, nextAt: 0 },
  }))
  const outcomes: [number, MessageOutcome['kind']][] = []
  const world = {
    ...{ clock, waiting, outcomes },
    tries: [] as { readonly number: number; readonly at: number }[],
    log: [] as string[],
    delivers: true,
    isDown: false,
    lookMs: 1_000,
    send: async (_message: Message, _task: SendTask): Promise<Sent> => ({ kind: 'sent' }),
    async claim({ by, now, max }: ClaimOrder) {
      if (world.isDown) throw new JournalUnavailable('down')
      const due = waiting.filter((it) => it.claimedBy !== by && it.nextAt <= now).slice(0, max)
      for (const it of due) it.claimedBy = by
      const messages = due.map((it) => ({ ...it }))
      return { messages, nextAt: undefined, pacedUntil: undefined as number | undefined }
    },
    async settle(number: number, outcome: MessageOutcome) {
      if (world.isDown) throw new JournalUnavailable('down')
      const found = waiting.findIndex((it) => it.number === number)
      const it = waiting[found]
      if (!it) return
      outcomes.push([number, outcome.kind])
      if (!('nextAt' in outcome)) return void waiting.splice(found, 1)
      const tries = it.tries + (outcome.kind === 'later' ? 1 : 0)
      waiting[found] = { ...it, tries, nextAt: outcome.nextAt, claimedBy: undefined }
    },
    start: () =>
      new Sender({
        ...{ clock, time: clock, random: () => 0.5, delivers: () => world.delivers },
        lookMs: world.lookMs,
        outbox: {
          claim: (order) => world.claim(order),
          settle: (number, outcome) => world.settle(number, outcome),
          isClaimed: async (number, by) =>
            waiting.some((it) => it.number === number && it.claimedBy === by),
        },
        consumer: {
          ...{ order: { kinds: ['confirm'] }, atOnce: 5, ...given },
          send: (message, task) => {
            world.tries.push({ number: message.number, at: clock.elapsed() })
            return world.send(message, task)
          },
          [Symbol.asyncDispose]: async () => void world.log.push('closed'),
        },
        events: {
          sent: (message) => world.log.push(`sent ${message.number}`),
          delayed: (message) => world.log.push(`delayed ${message.number}`),
          failed: (message) => world.log.push(`failed ${message.number}`),
          serverFails: (reason) => world.log.push(reason),
          serverWorks: () => {},
          crashed: (error) => world.log.push(String(error)),
        },
      }),
  }
  return world
}

const down: Sent = { kind: 'down', reason: 'no server' }
const later: Sent = { kind: 'later', reason: 'not now' }

test('messages go five at a time, once one has shown that the server takes them', async () => {
  const world = createWorld(20)
  let [now, most] = [0, 0]
  const mostAtFirst: number[] = []
  world.send = async () => {
    most = Math.max(most, ++now)
    mostAtFirst.push(now)
    await world.clock.sleep(100)
    now -= 1
    return { kind: 'sent' }
  }
  await using _ = world.start()
  await world.clock.run(minute)
  expect(world.outcomes).toHaveLength(20)
  expect(mostAtFirst.slice(0, 2)).toEqual([1, 1])
  expect(most).toBe(5)
})

test('a message that fails is tried for about a day with growing pauses, and then given up', async () => {
  const world = createWorld()
  world.lookMs = minute
  world.send = async () => later
  await using _ = world.start()
  await world.clock.run(30 * hour)
  expect(world.tries).toHaveLength(27)
  expect(Math.round((world.tries.at(-1)?.at ?? 0) / hour)).toBe(25)
  expect(world.outcomes.at(-1)).toEqual([1, 'failed'])
})

test('a message that is refused is not tried again', async () => {
  const world = createWorld()
  world.lookMs = minute
  world.send = async () => ({ kind: 'refused', reason: 'no such mailbox' })
  await using _ = world.start()
  await world.clock.run(hour)
  expect(world.outcomes).toEqual([[1, 'failed']])
})

test('a server that is down for three days costs no message a try, is probed every five minutes by one, and then gets all', async () => {
  const world = createWorld(30)
  world.lookMs = minute
  world.send = async () => down
  await using _ = world.start()
  await world.clock.run(72 * hour)
  const probes = world.tries.length
  expect(probes).toBeGreaterThan(72 * 11)
  expect(probes).toBeLessThan(72 * 16)
  expect(new Set(world.tries.map(({ number }) => number)).size).toBeGreaterThan(4)
  expect(world.waiting.every(({ tries }) => tries === 0)).toBe(true)
  expect(world.log).toEqual(['no server'])
  world.send = async () => ({ kind: 'sent' })
  await world.clock.run(40 * minute)
  expect(world.waiting).toEqual([])
  expect(world.outcomes.filter(([, kind]) => kind === 'sent')).toHaveLength(30)
})

test('messages at which the server always hangs up stop no others, and are given up after a day', async () => {
  const world = createWorld(6)
  world.send = async ({ number }) => (number <= 3 ? down : { kind: 'sent' })
  world.lookMs = minute
  await using _ = world.start()
  await world.clock.run(20 * minute)
  expect(world.outcomes.filter(([, kind]) => kind === 'sent')).toHaveLength(3)
  await world.clock.run(40 * hour)
  expect(world.waiting).toEqual([])
  expect(world.outcomes.filter(([, kind]) => kind === 'failed')).toHaveLength(3)
})

test('five failures in a row that may be those of the server are told as such', async () => {
  const world = createWorld(10)
  world.send = async ({ number }) =>
    number === 5 ? { kind: 'sent' } : { kind: 'later', reason: 'refused', mayBeServer: true }
  await using _ = world.start()
  await world.clock.run(10_000)
  expect(world.log.slice(8, 10)).toEqual(['delayed 9', 'refused'])
})

test('a wall clock that was set back makes no message wait for longer', async () => {
  const world = createWorld()
  world.send = async () => later
  await using _ = world.start()
  await world.clock.run(minute)
  const tries = world.tries.length
  world.clock.jump(-9 * hour)
  await world.clock.run(10 * minute)
  expect(world.tries.length).toBeGreaterThan(tries + 1)
})

test('messages are handed over one at a time, each when the outcome of the one before is noted', async () => {
  const world = createWorld(6)
  const steps: string[] = []
  const settle = world.settle.bind(world)
  world.settle = async (number, outcome) => {
    await world.clock.sleep(500)
    await settle(number, outcome)
    steps.push(`noted ${number}`)
  }
  world.send = async ({ number }, { mayHandOver }) => {
    expect(await mayHandOver()).toBe(true)
    steps.push(`handed ${number}`)
    await world.clock.sleep(500)
    return { kind: 'sent' }
  }
  await using _ = world.start()
  await world.clock.run(minute)
  expect(steps).toEqual([1, 2, 3, 4, 5, 6].flatMap((at) => [`handed ${at}`, `noted ${at}`]))
})

test('nothing is handed over for a message that was dropped after it was claimed', async () => {
  const world = createWorld()
  const answers: boolean[] = []
  world.send = async (_, { isWanted, mayHandOver }) => {
    answers.push(await isWanted())
    world.waiting.length = 0
    answers.push(await isWanted(), await mayHandOver())
    return { kind: 'unsent' }
  }
  await using _ = world.start()
  await world.clock.run(minute)
  expect(answers).toEqual([true, false, false])
  expect(world.outcomes).toEqual([])
})

test('an unwanted message is tried like others, and dropped when its turn comes', async () => {
  const world = createWorld(2)
  for (const it of world.waiting) it.isUnwanted = it.number === 1
  const sents = [down, later]
  world.send = async (_, { mayHandOver }) =>
    sents.shift() ?? { kind: (await mayHandOver()) ? 'sent' : 'unsent' }
  await using _ = world.start()
  await world.clock.run(minute)
  expect(world.outcomes).toEqual([
    [1, 'untried'],
    [2, 'later'],
    [1, 'dropped'],
    [2, 'sent'],
  ])
})

test('a message that waits for its turn when the instance stops is not handed over', async () => {
  const world = createWorld(3)
  const answers: boolean[] = []
  world.send = async ({ number }, { signal, mayHandOver }) => {
    const mayGo = await mayHandOver()
    answers.push(mayGo)
    if (number === 2) await world.clock.sleep(hour, signal)
    return { kind: mayGo ? 'sent' : 'unsent' }
  }
  const sender = world.start()
  await world.clock.run(5_000)
  const stopping = sender.stop()
  await world.clock.run(3_000)
  await stopping
  expect(answers).toEqual([true, true, false])
})

test('what was sent is noted by an instance that has lost the lease meanwhile', async () => {
  const world = createWorld()
  world.send = async () => {
    world.delivers = false
    return { kind: 'sent' }
  }
  await using _ = world.start()
  await world.clock.run(minute)
  expect(world.outcomes).toEqual([[1, 'sent']])
})

test('what was sent is noted when the journal can be written again', async () => {
  const world = createWorld()
  world.send = async () => {
    world.isDown = true
    return { kind: 'sent' }
  }
  await using _ = world.start()
  await world.clock.run(minute)
  expect(world.outcomes).toEqual([])
  world.isDown = false
  await world.clock.run(minute)
  expect(world.outcomes).toEqual([[1, 'sent']])
  expect(world.tries).toHaveLength(1)
})

test('an instance without the lease claims nothing, and does not put back what another one may have claimed', async () => {
  const world = createWorld()
  world.lookMs = minute
  world.send = async () => {
    world.delivers = false
    return later
  }
  await using _ = world.start()
  await world.clock.run(hour)
  expect(world.tries).toHaveLength(1)
  expect(world.outcomes).toEqual([])
})

test('a stop waits two seconds for what is being sent, and not for a server that hangs', async () => {
  const world = createWorld()
  world.send = async (_, { signal }) => {
    await world.clock.sleep(hour, signal)
    return { kind: 'unsent' }
  }
  const sender = world.start()
  await world.clock.run(10)
  let isStopped = false
  const stopping = sender.stop().then(() => (isStopped = true))
  await world.clock.run(1_900)
  expect(isStopped).toBe(false)
  await world.clock.run(200)
  await stopping
  expect(world.outcomes).toEqual([[1, 'untried']])
  expect(world.log).toEqual(['closed'])
})

test('a mistake of ours costs a message a try, and stops no other', async () => {
  const world = createWorld(2)
  world.send = async ({ number }) => {
    if (number === 1) throw new Error('a mistake')
    return { kind: 'sent' }
  }
  await using _ = world.start()
  await world.clock.run(4_000)
  expect(world.outcomes.slice(0, 2)).toEqual([
    [1, 'later'],
    [2, 'sent'],
  ])
  expect(world.log).toContain('Error: a mistake')
})

test('each claim says until when the pace held all back at the one before', async () => {
  const world = createWorld(0)
  const told: (number | undefined)[] = []
  world.claim = async ({ pacedUntil }) => {
    told.push(pacedUntil)
    return { messages: [], nextAt: undefined, pacedUntil: minute }
  }
  await using _ = world.start()
  await world.clock.run(2_500)
  expect(new Set(told)).toEqual(new Set([undefined, minute]))
})
