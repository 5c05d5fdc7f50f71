import { expect } from 'vitest'

import { freezeNext } from '../../harness/freeze-next.ts'
import { makeSignups } from '../../harness/make-signup.ts'
import type { Journal, OpenJournal, SitePolicies } from '../../src/journal/contracts/journal.ts'
import { type JournalWorld, noteEarlier } from './contracts/contract.ts'

/** A store that can open its journal with several sites. */
export interface SitesWorld extends AsyncDisposable {
  openSites(policies: SitePolicies): Promise<OpenJournal>
}

/**
 * A world whose journals are of a second site. The first site is open beside it, and has signups that are
 * written, in a frozen batch, waiting and forgotten, in tabs of the same names.
 */
export function besideFirstSite(
  createWorld: () => Promise<SitesWorld>,
): () => Promise<JournalWorld> {
  return async () => {
    const world = await createWorld()
    let isFilled = false
    return {
      async open(policy = {}): Promise<Journal> {
        const opened = await world.openSites(
          new Map([
            ['first', {}],
            ['second', policy],
          ]),
        )
        const [first, second] = [opened.sites.get('first'), opened.sites.get('second')]
        if (!first || !second) throw new Error('the journal has not both sites')
        if (!isFilled) {
          let committed = 0
          opened.onCommit(({ signups }) => (committed += signups))
          await fill(first)
          expect(committed).toBe(signupsOfFirst)
        }
        isFilled = true
        const journal = { ...second, [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() }
        noteEarlier(journal, signupsOfFirst)
        return journal
      },
      [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
    }
  }
}

/** How many `fill` adds. */
const signupsOfFirst = 8

async function fill({ intake, delivery, erasure }: Journal): Promise<void> {
  const terms = { idempotency: { space: '', key: 'key', fingerprint: 'of the first site' } }
  await intake.append(makeSignups(6), terms)
  await intake.append(makeSignups(2, { sheetTab: 'A' }))
  const settled = await freezeNext(delivery, { rowsMax: 3 })
  await delivery.settle(settled?.number ?? 0, 1)
  await freezeNext(delivery, { rowsMax: 2 })
  await erasure.forget('ada@example.com')
}
