import { describe, expect, test } from 'vitest'

import { freezeNext } from '../../../harness/freeze-next.ts'
import { makeSignups } from '../../../harness/make-signup.ts'
import type { Journal } from '../../../src/journal/contracts/journal.ts'
import type { Lease } from '../../../src/journal/contracts/lease.ts'
import { Overtaken } from '../../../src/journal/contracts/errors.ts'

/** A store of its own for one test, which instances on several machines can share. */
export interface LeaseWorld extends AsyncDisposable {
  /** Opens one more instance. */
  open(): Promise<Journal>
  /** Makes so much time pass for the lease, in milliseconds. */
  pass(ms: number): Promise<void>
}

interface LeaseTest<Instance> {
  readonly title: string
  run(one: Instance, other: Instance, pass: LeaseWorld['pass']): Promise<void>
}

/** Declares the tests; each runs in a world of its own. */
export function holdLeaseTo(name: string, createWorld: () => Promise<LeaseWorld>): void {
  describe(name, () => {
    const inWorld = (work: LeaseTest<Journal>['run']) => async () => {
      await using world = await createWorld()
      await using one = await world.open()
      await using other = await world.open()
      await work(one, other, (ms) => world.pass(ms))
    }
    for (const { title, run } of leaseTests) {
      const work = inWorld((one, other, pass) => run(one.lease, other.lease, pass))
      test(title, work)
    }
    for (const { title, run } of batchTests) test(title, inWorld(run))
  })
}

const elsewhere = { kind: 'elsewhere' }

export async function held(
  lease: Lease,
): Promise<{ readonly term: number; readonly forMs: number }> {
  const tenure = await lease.hold()
  if (tenure.kind !== 'held') throw new Error('Another instance holds the lease.')
  return tenure
}

/** One of the instances that share a site delivers. */
const leaseTests: readonly LeaseTest<Lease>[] = [
  {
    title: 'one instance takes the lease, and another one is refused',
    async run(one, other) {
      const { forMs } = await held(one)
      expect(forMs).toBeGreaterThan(0)
      expect(forMs).toBeLessThan(10_000)
      expect(await other.hold()).toEqual(elsewhere)
    },
  },

  {
    title: 'the lease is renewed in the same term, and lives from then on',
    async run(one, other, pass) {
      const { term, forMs } = await held(one)
      await pass(forMs)
      expect(await held(one)).toEqual({ kind: 'held', term, forMs })
      await pass(forMs)
      expect(await other.hold()).toEqual(elsewhere)
    },
  },

  {
    title:
      'another instance takes over when the life is over, in a higher term, and the first one is refused',
    async run(one, other, pass) {
      const { term } = await held(one)
      await pass(10_000)
      expect((await held(other)).term).toBeGreaterThan(term)
      expect(await one.hold()).toEqual(elsewhere)
    },
  },

  {
    title:
      'a clock that is set back lets the holder go on, and keeps no other instance out for long',
    async run(one, other, pass) {
      const { term } = await held(one)
      await pass(-3_600_000)
      expect(await other.hold()).toEqual(elsewhere)
      expect(await held(one)).toMatchObject({ term })
      await pass(-3_600_000)
      expect(await other.hold()).toEqual(elsewhere)
      await pass(10_000)
      expect((await held(other)).term).toBeGreaterThan(term)
    },
  },

  {
    title: 'a term that comes again is a higher one',
    async run(one, other, pass) {
      const first = await held(one)
      await pass(10_000)
      const second = await held(other)
      await other.release()
      const third = await held(one)
      expect(third.term).toBeGreaterThan(second.term)
      expect(second.term).toBeGreaterThan(first.term)
    },
  },

  {
    title: 'a release by an instance that does not hold the lease changes nothing',
    async run(one, other, pass) {
      await other.release()
      await held(other)
      await pass(10_000)
      const { term } = await held(one)
      await other.release()
      expect(await other.hold()).toEqual(elsewhere)
      expect(await held(one)).toMatchObject({ term })
    },
  },

  {
    title: 'of two instances that ask at once, one gets the lease, over and over',
    async run(one, other, pass) {
      for (let round = 0; round < 20; round++) {
        const answers = await Promise.all([one.hold(), other.hold(), one.hold(), other.hold()])
        const holders = [answers[0], answers[1]].filter(({ kind }) => kind === 'held')
        expect(holders).toHaveLength(1)
        expect(answers.slice(2)).toEqual(answers.slice(0, 2))
        await pass(10_000)
      }
    },
  },
]

/** Which instance may end a batch. */
const batchTests: readonly LeaseTest<Journal>[] = [
  ...[true, false].map((settles) => ({
    title: `an instance that has lost the lease ${settles ? 'settles' : 'releases'} no batch, and changes nothing`,
    async run(one: Journal, other: Journal, pass: LeaseWorld['pass']) {
      await held(one.lease)
      const batch = await frozen(one)
      await pass(10_000)
      await held(other.lease)
      const end = () =>
        settles ? one.delivery.settle(batch.number, noon) : one.delivery.release(batch)
      await expect(end()).rejects.toThrow(Overtaken)
      expect(await other.delivery.frozenBatch()).toEqual(batch)
      await other.delivery.settle(batch.number, noon)
      expect(await one.delivery.pending()).toEqual([])
    },
  })),

  {
    title: 'an instance that has given the lease up ends no batch',
    async run(one) {
      await held(one.lease)
      const batch = await frozen(one)
      await one.lease.release()
      await expect(one.delivery.settle(batch.number, noon)).rejects.toThrow(Overtaken)
      await held(one.lease)
      await one.delivery.settle(batch.number, noon)
    },
  },

  {
    title: 'an instance whose time is over ends its batch as long as nobody has taken over',
    async run(one, _other, pass) {
      await held(one.lease)
      const batch = await frozen(one)
      await pass(10_000)
      await one.delivery.settle(batch.number, noon)
      expect(await one.delivery.frozen()).toBeUndefined()
    },
  },

  {
    title: 'an instance that never held the lease is not checked',
    async run(one, other) {
      await held(one.lease)
      const batch = await frozen(one)
      await other.delivery.settle(batch.number, noon)
      expect(await one.delivery.frozen()).toBeUndefined()
    },
  },
]

const noon = Date.UTC(2026, 10, 20, 12)

async function frozen({ intake, delivery }: Journal) {
  await intake.append(makeSignups(2))
  const batch = await freezeNext(delivery)
  if (!batch) throw new Error('Nothing was frozen.')
  return batch
}
