import { expect } from 'vitest'

import { makeSignup, makeSignups } from '../../../harness/make-signup.ts'
import type { Appended } from '../../../src/journal/contracts/intake-log.ts'
import type { Journal } from '../../../src/journal/contracts/journal.ts'
import { type ContractTest, inTwo, resultsOf } from './contract.ts'

const noon = Date.UTC(2026, 10, 20, 12)
const rounds = 20

/** Runs `append` in both journals at once. Returns the kinds of the two answers, in alphabetical order. */
async function inBoth(
  journals: readonly Journal[],
  append: (journal: Journal) => Promise<Appended>,
): Promise<readonly string[]> {
  const answers = await Promise.all(journals.map(append))
  return answers.map(({ kind }) => kind).sort()
}

/** Two instances append at the same time. */
export const appendsAtOnce: readonly ContractTest[] = [
  {
    title: 'all signups are kept, each at its own position',
    run: inTwo(async (one, other) => {
      const answers = await Promise.all(
        makeSignups(100).map((signup, index) =>
          (index % 2 === 0 ? one : other).intake.append([signup]),
        ),
      )
      const positions = answers.flatMap(resultsOf).map((result) => result?.position)
      expect(new Set(positions).size).toBe(100)
      expect(await one.reader.backlog()).toBe(100)
      expect(await other.reader.backlog()).toBe(100)
    }),
  },

  {
    title: 'when two requests come with one key, one is added',
    run: inTwo(async (...journals) => {
      for (let round = 0; round < rounds; round++) {
        const idempotency = { space: '', key: `order-${round}`, fingerprint: 'A' }
        const append = ({ intake }: Journal) => intake.append([makeSignup()], { idempotency })
        expect(await inBoth(journals, append)).toEqual(['appended', 'replayed'])
      }
      expect(await journals[0].reader.backlog()).toBe(rounds)
    }),
  },

  {
    title: 'when two requests come with one challenge token, one is added',
    run: inTwo(async (...journals) => {
      for (let round = 0; round < rounds; round++) {
        const terms = { token: `token ${round}` }
        const append = ({ intake }: Journal) => intake.append([makeSignup()], terms)
        expect(await inBoth(journals, append)).toEqual(['appended', 'tokenUsed'])
      }
      expect(await journals[0].reader.backlog()).toBe(rounds)
    }),
  },

  {
    title: 'both instances together make as many tabs as the limit allows, and know the same tabs',
    run: inTwo(
      async (one, other) => {
        const answers = await Promise.all(
          Array.from({ length: 20 }, (_, index) => {
            const signup = makeSignup({ sheetTab: `Tab ${index}` })
            return (index % 2 === 0 ? one : other).intake.append([signup])
          }),
        )
        const made = answers.flatMap(resultsOf).flatMap((result) => result?.sheetTab ?? [])
        expect(made).toHaveLength(6)
        for (const { intake } of [one, other]) {
          expect(await intake.takesTab('One more', noon)).toBe(false)
          for (const tab of made) expect(await intake.takesTab(tab, noon)).toBe(true)
        }
      },
      { newTabsMax: 6 },
    ),
  },
]
