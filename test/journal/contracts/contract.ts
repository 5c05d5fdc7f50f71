import { describe, test } from 'vitest'

import type { Appended, SignupStatus } from '../../../src/journal/contracts/intake-log.ts'
import type { Journal, JournalPolicy } from '../../../src/journal/contracts/journal.ts'

/** A store of its own for one test, empty at first. */
export interface JournalWorld extends AsyncDisposable {
  /** Opens the journal in this store. To dispose it and open it again is a restart. */
  open(policy?: Partial<JournalPolicy>): Promise<Journal>
}

export type CreateWorld = () => Promise<JournalWorld>

/** A test of one promise that every implementation of the journal must keep. */
export interface ContractTest<World = JournalWorld> {
  readonly title: string
  /** @param createWorld makes further worlds, for tests that need several */
  run(world: World, createWorld: () => Promise<World>): Promise<void>
}

/** Declares the tests of a contract; each runs in a world of its own. */
export function holdTo<World extends AsyncDisposable>(
  name: string,
  contract: readonly ContractTest<World>[],
  createWorld: () => Promise<World>,
): void {
  describe(name, () => {
    for (const { title, run } of contract) {
      test(title, async () => {
        await using world = await createWorld()
        await run(world, createWorld)
      })
    }
  })
}

type Run = ContractTest['run']

/** A test that needs one journal. */
export function inJournal(work: (journal: Journal) => Promise<void>): Run {
  return underPolicy({}, work)
}

/** A test that needs one journal with this policy. */
export function underPolicy(
  policy: Partial<JournalPolicy>,
  work: (journal: Journal) => Promise<void>,
): Run {
  return async (world) => {
    await using journal = await world.open(policy)
    await work(journal)
  }
}

/** A test with two instances of the journal on one store. */
export function inTwo(
  work: (one: Journal, other: Journal) => Promise<void>,
  policy?: Partial<JournalPolicy>,
): Run {
  return async (world) => {
    await using one = await world.open(policy)
    await using other = await world.open(policy)
    await work(one, other)
  }
}

const earlier = new WeakMap<Journal, number>()

/** Notes how many signups of other sites came before those of this journal. */
export function noteEarlier(journal: Journal, signups: number): void {
  earlier.set(journal, signups)
}

/** The position of the nth signup of this journal, if no other site gets any meanwhile. */
export function nth(journal: Journal, place: number): number {
  return (earlier.get(journal) ?? 0) + place
}

/** What `Figures.all` has of a journal in which nothing happened. */
export const nothing = {
  ...{ accepted: 0, written: 0, erased: 0, suspect: 0, held: 0 },
  ...{ pending: 0, asked: 0, confirmed: 0 },
}

/** Stands for a batch that does not exist. */
export const none = { number: 0, marker: 0 }

export function resultsOf(answer: Appended): readonly (SignupStatus | undefined)[] {
  if (!('results' in answer)) throw new Error(`nothing was added: ${answer.kind}`)
  return answer.results
}
