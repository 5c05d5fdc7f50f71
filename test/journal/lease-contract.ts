import { describe, expect, test } from 'vitest'

import type { Journal } from '../../src/journal/journal.ts'
import type { Lease } from '../../src/journal/lease.ts'

/** A store of its own for one test, which instances on several machines can share. */
export interface LeaseWorld extends AsyncDisposable {
  /** Opens one more instance. */
  open(): Promise<Pick<Journal, 'lease'> & AsyncDisposable>
  /** Makes so much time pass for the lease, in milliseconds. */
  pass(ms: number): Promise<void>
}

interface LeaseTest {
  readonly title: string
  run(one: Lease, other: Lease, pass: LeaseWorld['pass']): Promise<void>
}

/** Declares the tests; each runs in a world of its own. */
export function holdLeaseTo(name: string, createWorld: () => Promise<LeaseWorld>): void {
  describe(name, () => {
    for (const { title, run } of leaseTests) {
      test(title, async () => {
        await using world = await createWorld()
        await using one = await world.open()
        await using other = await world.open()
        await run(one.lease, other.lease, (ms) => world.pass(ms))
      })
    }
  })
}

const elsewhere = { kind: 'elsewhere' }

async function held(lease: Lease): Promise<{ readonly term: number; readonly forMs: number }> {
  const tenure = await lease.hold()
  if (tenure.kind !== 'held') throw new Error('Another instance holds the lease.')
  return tenure
}

/** One of the instances that share a site delivers. */
const leaseTests: readonly LeaseTest[] = [
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
    title: 'the holder may not deliver to the end of the life',
    async run(one, other, pass) {
      const { forMs } = await held(one)
      await pass(forMs)
      expect(await other.hold()).toEqual(elsewhere)
    },
  },

  {
    title: 'another instance takes over at once after a release, in a higher term',
    async run(one, other) {
      const { term } = await held(one)
      await one.release()
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
