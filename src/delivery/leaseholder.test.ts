import { expect, test } from 'vitest'

import { ManualClock } from '../../harness/manual-clock.ts'
import { SharedLease } from '../../harness/shared-lease.ts'
import type { Lease, Tenure } from '../journal/contracts/lease.ts'
import { JournalUnavailable } from '../journal/contracts/errors.ts'
import { Leaseholder } from './leaseholder.ts'

const forMs = 5000

/** The lease of the instance under test, and what becomes of its questions. */
class FaultyLease implements Lease {
  readonly #clock: ManualClock
  readonly #lease: Lease
  /** When this instance asked, and when it gave the lease up. */
  readonly asked: number[] = []
  readonly released: number[] = []
  fault: 'fails' | 'hangs' | 'is slow' | 'breaks' | undefined

  constructor(lease: Lease, clock: ManualClock) {
    this.#lease = lease
    this.#clock = clock
  }

  async hold(): Promise<Tenure> {
    this.asked.push(this.#clock.elapsed())
    if (this.fault === 'fails') throw new JournalUnavailable('The database is gone')
    if (this.fault === 'breaks') throw new TypeError('a bug')
    if (this.fault === 'is slow') await this.#clock.sleep(forMs)
    if (this.fault === 'hangs') {
      await this.#clock.sleep(8000)
      throw new JournalUnavailable('The database does not answer')
    }
    return this.#lease.hold()
  }

  release(): Promise<void> {
    this.released.push(this.#clock.elapsed())
    if (this.fault === 'fails')
      return Promise.reject(new JournalUnavailable('The database is gone'))
    if (this.fault === 'breaks') return Promise.reject(new TypeError('a bug'))
    return this.#lease.release()
  }
}

/** A writer whose batch in flight takes this long to settle. */
interface FakeWriter {
  readonly startedAt: number
  stops: number[]
  endedAt: number | undefined
}

interface Given {
  readonly settleMs?: number
  readonly lookMs?: number
  readonly lease?: Lease
}

function createWorld({ settleMs = 0, lookMs = 0, lease: given }: Given = {}) {
  const clock = new ManualClock()
  const shared = new SharedLease(clock)
  const lease = new FaultyLease(shared.of('us'), clock)
  const writers: FakeWriter[] = []
  const told: string[] = []
  const looks: number[] = []
  // What a process that was suspended finds: time has passed, and no timer has run yet.
  const time = { suspendedMs: 0 }
  const holder = new Leaseholder({
    lease: given ?? lease,
    clock: {
      elapsed: () => clock.elapsed() + time.suspendedMs,
      sleep: (ms, signal) => clock.sleep(ms, signal),
    },
    events: {
      deliveryElsewhere: () => told.push('elsewhere'),
      leaseLost: () => told.push('lost'),
      deliveryFailed: (error) => told.push(String(error)),
    },
    newWriter: () => {
      const writer: FakeWriter = { startedAt: clock.elapsed(), stops: [], endedAt: undefined }
      const givenUp = new AbortController()
      writers.push(writer)
      return {
        start: () => undefined,
        async stop(graceMs) {
          writer.stops.push(graceMs)
          if (graceMs === 0) givenUp.abort()
          await clock.sleep(Math.min(graceMs, settleMs), givenUp.signal)
          writer.endedAt ??= clock.elapsed()
        },
      }
    },
    async lookOn() {
      looks.push(clock.elapsed())
      await clock.sleep(lookMs)
    },
  })
  return { clock, shared, lease, holder, writers, told, looks, time }
}

test('an instance that is alone delivers with one writer, and renews the lease well before its end', async () => {
  const { clock, shared, lease, holder, writers, told } = createWorld()
  holder.start()
  await clock.run(600_000)
  expect(writers).toMatchObject([{ startedAt: 0, stops: [] }])
  expect(told).toEqual([])
  const pauses = lease.asked.slice(1).map((at, index) => at - (lease.asked[index] ?? 0))
  expect(Math.max(...pauses)).toBeLessThan(forMs / 2)
  expect(shared.hold('them')).toEqual({ kind: 'elsewhere' })
})

test('an instance looks on while another one delivers, and takes over within a second after its release', async () => {
  const { clock, shared, holder, writers, told, looks } = createWorld()
  shared.hold('them')
  holder.start()
  await clock.run(5500)
  expect([writers, told, holder.holds]).toEqual([[], ['elsewhere'], false])
  expect(looks).toEqual([0, 1000, 2000, 3000, 4000, 5000])
  shared.release('them')
  await clock.run(1000)
  expect(writers).toMatchObject([{ startedAt: 6000 }])
  expect(holder.holds).toBe(true)
})

test('a look that takes long delays no takeover, and no second one begins meanwhile', async () => {
  const { clock, shared, holder, writers, looks } = createWorld({ lookMs: 60_000 })
  shared.hold('them')
  holder.start()
  await clock.run(3500)
  shared.release('them')
  await clock.run(1000)
  expect(looks).toEqual([0])
  expect(writers).toMatchObject([{ startedAt: 4000 }])
})

test.each(['fails', 'hangs'] as const)(
  'while the journal %s, the writer goes on until the time is over, is stopped at once then, and a new one follows',
  async (fault) => {
    const { clock, lease, holder, writers, told } = createWorld({ settleMs: 60_000 })
    holder.start()
    await clock.run(3000)
    const lastAsked = lease.asked.at(-1) ?? 0
    lease.fault = fault
    await clock.run(lastAsked + forMs - clock.elapsed() - 1)
    expect(writers).toMatchObject([{ stops: [] }])
    expect(holder.holds).toBe(true)
    await clock.run(1)
    expect(holder.holds).toBe(false)
    expect(writers).toMatchObject([{ stops: [0], endedAt: lastAsked + forMs }])
    expect(told).toEqual(['lost'])
    lease.fault = undefined
    await clock.run(9000)
    expect(writers).toHaveLength(2)
  },
)

test('an instance that another one has followed stops its writer at once, and looks on', async () => {
  const { clock, shared, holder, writers, told } = createWorld({ settleMs: 60_000 })
  holder.start()
  await clock.run(100)
  shared.release('us')
  shared.hold('them')
  await clock.run(2000)
  expect(writers).toMatchObject([{ stops: [0] }])
  expect(told).toEqual(['lost', 'elsewhere'])
})

test('when another term was in between, a new writer takes the place of the old one', async () => {
  const { clock, shared, holder, writers } = createWorld({ settleMs: 60_000 })
  holder.start()
  await clock.run(100)
  shared.release('us')
  shared.hold('them')
  shared.release('them')
  await clock.run(2000)
  expect(writers).toMatchObject([{ stops: [0] }, { stops: [] }])
  expect(writers[1]?.startedAt).toBeGreaterThanOrEqual(writers[0]?.endedAt ?? Infinity)
})

test('on stop the writer has its grace, and the lease is kept until it has ended, and then given up', async () => {
  const { clock, shared, lease, holder, writers } = createWorld({ settleMs: 9000 })
  holder.start()
  await clock.run(1000)
  const stopped = holder.stop(10_000)
  await clock.run(8999)
  expect(shared.hold('them')).toEqual({ kind: 'elsewhere' })
  await clock.run(1)
  await stopped
  expect(writers).toMatchObject([{ stops: [10_000], endedAt: 10_000 }])
  expect(lease.released).toEqual([10_000])
  expect(shared.hold('them')).toMatchObject({ kind: 'held', term: 2 })
})

test('a lease that is lost during the grace ends the grace', async () => {
  const { clock, lease, holder, writers } = createWorld({ settleMs: 9000 })
  holder.start()
  await clock.run(1000)
  lease.fault = 'fails'
  const stopped = holder.stop(10_000)
  await clock.run(4000)
  await stopped
  expect(writers).toMatchObject([{ stops: [10_000, 0], endedAt: 5000 }])
  expect(lease.released).toEqual([])
})

test('a second stop shortens the grace of the first', async () => {
  const { clock, holder, writers } = createWorld({ settleMs: 9000 })
  holder.start()
  await clock.run(1000)
  const stopped = holder.stop(10_000)
  await clock.run(1000)
  await Promise.all([holder.stop(0), stopped])
  expect(writers).toMatchObject([{ stops: [10_000, 0], endedAt: 2000 }])
})

test('a stop before the lease is granted starts no writer, and gives up what is granted after it', async () => {
  const { lease, holder, writers } = createWorld()
  holder.start()
  await holder.stop(10_000)
  expect(writers).toEqual([])
  expect(lease.released).toEqual([0])
})

test.each([
  ['fails', []],
  ['breaks', ['TypeError: a bug']],
] as const)(
  'a lease that cannot be given up, as the journal %s, ends by itself',
  async (fault, told) => {
    const world = createWorld()
    world.holder.start()
    await world.clock.run(1000)
    world.lease.fault = fault
    await world.holder.stop(0)
    expect(world.lease.released).toEqual([1000])
    expect(world.told).toEqual(told)
  },
)

test.each([
  ['fails', []],
  ['breaks', ['TypeError: a bug']],
] as const)(
  'when the journal %s, an instance without the lease goes on asking',
  async (fault, told) => {
    const world = createWorld()
    world.lease.fault = fault
    world.holder.start()
    await world.clock.run(0)
    expect(world.told).toEqual(told)
    world.lease.fault = undefined
    await world.clock.run(1000)
    expect(world.writers).toMatchObject([{ startedAt: 1000 }])
  },
)

test('a renewal that failed is made again after a second', async () => {
  const { clock, lease, holder } = createWorld()
  holder.start()
  await clock.run(1)
  lease.fault = 'fails'
  await clock.run(4000)
  const [, first = 0, ...others] = lease.asked
  expect(others.slice(0, 2).map((at) => Math.round(at - first))).toEqual([1000, 2000])
})

test('a process that was suspended knows at once that its time is over', async () => {
  const { clock, holder, time } = createWorld()
  holder.start()
  await clock.run(1000)
  expect(holder.holds).toBe(true)
  time.suspendedMs = 180_000
  expect(holder.holds).toBe(false)
})

test('a lease that is granted so late that its time is over starts no writer', async () => {
  const { clock, lease, holder, writers } = createWorld()
  lease.fault = 'is slow'
  holder.start()
  await clock.run(5 * forMs)
  expect(writers).toEqual([])
})

test('a lease without an end is asked for now and then, and keeps its writer', async () => {
  let asked = 0
  const hold = async () => {
    asked += 1
    return { kind: 'held', term: 1, forMs: Infinity } as const
  }
  const { clock, holder, writers } = createWorld({
    lease: { hold, release: async () => undefined },
  })
  holder.start()
  await clock.run(3_600_000)
  expect(writers).toMatchObject([{ stops: [] }])
  expect(asked).toBe(61)
})

test('a stop waits for the look that still runs', async () => {
  const { clock, shared, holder, looks } = createWorld({ lookMs: 60_000 })
  shared.hold('them')
  holder.start()
  await clock.run(1000)
  expect(looks).toHaveLength(1)
  let hasStopped = false
  const stopped = holder.stop(0).then(() => (hasStopped = true))
  await clock.run(58_000)
  expect(hasStopped).toBe(false)
  await clock.run(1000)
  await stopped
})
