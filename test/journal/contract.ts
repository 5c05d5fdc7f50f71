import { describe, test } from 'vitest'

import type { Appended, SignupStatus } from '../../src/journal/intake-log.ts'
import type { Journal } from '../../src/journal/journal.ts'
import type { JournalPolicy } from '../../src/journal/policy.ts'

/** One store, and nothing else that a test could see. */
export interface JournalWorld extends AsyncDisposable {
  /** Opens the journal of this world, again after it was disposed: a restart. */
  open(policy?: Partial<JournalPolicy>): Promise<Journal>
}

export type CreateWorld = () => Promise<JournalWorld>

/** One thing that every engine of the journal must do. */
export interface ContractTest {
  readonly title: string
  /** Gets a fresh world, and the way to make more of them. */
  run(world: JournalWorld, createWorld: CreateWorld): Promise<void>
}

/** Runs each test in a world of its own. */
export function holdTo(
  name: string,
  contract: readonly ContractTest[],
  createWorld: CreateWorld,
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

export function underPolicy(
  policy: Partial<JournalPolicy>,
  work: (journal: Journal) => Promise<void>,
): Run {
  return async (world) => {
    await using journal = await world.open(policy)
    await work(journal)
  }
}

/** A test with two instances that have one store open. */
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

/** No batch has this number. */
export const none = { number: 0, marker: 0 }

export function resultsOf(answer: Appended): readonly (SignupStatus | undefined)[] {
  if (!('results' in answer)) throw new Error(`nothing was added: ${answer.kind}`)
  return answer.results
}
