import { expect } from 'vitest'

import { freezeNext } from '../../../harness/freeze-next.ts'
import { makeSignup, makeSignups } from '../../../harness/make-signup.ts'
import type { Appended, AppendTerms } from '../../../src/journal/contracts/intake-log.ts'
import type { Journal } from '../../../src/journal/contracts/journal.ts'
import { type ContractTest, inJournal, underPolicy } from './contract.ts'

const noon = Date.UTC(2026, 10, 20, 12)
const hour = 60 * 60 * 1000
const order = { space: '', key: 'order-1', fingerprint: 'A' }
const ordered = { idempotency: order }

const add = (journal: Journal, terms: AppendTerms, receivedAt = noon) =>
  journal.intake.append([makeSignup({ receivedAt })], terms)

const keyed = (space: string, fingerprint: string) => ({
  idempotency: { space, key: 'order-1', fingerprint },
})

function writtenIn(answer: Appended): (number | undefined)[] {
  return 'results' in answer ? answer.results.map((result) => result?.writtenAt) : []
}

function idsIn(answer: Appended): (string | undefined)[] {
  return 'results' in answer ? answer.results.map((result) => result?.id) : []
}

/** A request that comes again is added once. */
export const repeatedRequests: readonly ContractTest[] = [
  {
    title:
      'a request with a known key gets the first answer again and adds nothing, even after a restart',
    run: async (world) => {
      let first: Appended
      {
        await using journal = await world.open()
        expect(await journal.intake.recall(order)).toBeUndefined()
        first = await journal.intake.append(makeSignups(3), ordered)
        expect(first.kind).toBe('appended')
        expect(await journal.intake.append(makeSignups(3), ordered)).toEqual({
          ...first,
          kind: 'replayed',
        })
      }
      await using journal = await world.open()
      expect(await journal.intake.append(makeSignups(3), ordered)).toEqual({
        ...first,
        kind: 'replayed',
      })
      expect(await journal.intake.recall(order)).toEqual({ ...first, kind: 'replayed' })
      expect(await journal.reader.backlog()).toBe(3)
    },
  },

  {
    title: 'a request with a known key and another fingerprint is a mismatch and adds nothing',
    run: inJournal(async (journal) => {
      const signup = makeSignup()
      await journal.intake.append([makeSignup()], ordered)
      const other = { ...order, fingerprint: 'B' }
      expect(await journal.intake.append([signup], { idempotency: other })).toEqual({
        kind: 'mismatch',
      })
      expect(await journal.intake.recall(other)).toEqual({ kind: 'mismatch' })
      expect(await journal.intake.find(signup.id)).toBeUndefined()
      expect(await journal.reader.backlog()).toBe(1)
    }),
  },

  {
    title: 'when many requests with one key arrive together, one is added and all get its answer',
    run: inJournal(async (journal) => {
      const answers = await Promise.all(
        makeSignups(50).map((signup) => journal.intake.append([signup], ordered)),
      )
      expect(answers.map(({ kind }) => kind).sort()).toEqual([
        'appended',
        ...Array.from({ length: 49 }, () => 'replayed'),
      ])
      const [first = expect.fail()] = answers.map(idsIn)
      expect(first).toHaveLength(1)
      expect(answers.map(idsIn)).toEqual(answers.map(() => first))
      expect(await journal.reader.backlog()).toBe(1)
    }),
  },

  {
    title: 'an answer that is given again shows the present status of each signup',
    run: inJournal(async (journal) => {
      await journal.intake.append(makeSignups(2), ordered)
      const batch = await freezeNext(journal.delivery, { rowsMax: 1 })
      await journal.delivery.settle(batch?.number ?? 0, noon)
      const replay = await journal.intake.append(makeSignups(2), ordered)
      expect(writtenIn(replay)).toEqual([noon, undefined])
    }),
  },

  {
    title: 'an answer that is given again shows which signups were refused',
    run: underPolicy({ newTabsMax: 1 }, async (journal) => {
      const signups = ['Extra', 'A', 'Extra', 'Extra', 'a', 'Extra'].map((sheetTab, index) =>
        makeSignup({ sheetTab: index === 0 ? 'A' : sheetTab }),
      )
      const first = await journal.intake.append(signups, ordered)
      expect(await journal.intake.append(signups, ordered)).toEqual({ ...first, kind: 'replayed' })
      expect(first).toMatchObject({
        results: [
          { id: signups[0]?.id },
          { id: signups[1]?.id },
          undefined,
          undefined,
          { id: signups[4]?.id },
          undefined,
        ],
      })
    }),
  },

  {
    title: 'a request is remembered although its first signup was refused',
    run: underPolicy({ newTabsMax: 1 }, async (journal) => {
      await journal.intake.append([makeSignup({ sheetTab: 'A' })])
      const terms = { ...ordered, token: 'digest' }
      const append = () =>
        journal.intake.append(
          ['Extra', 'A'].map((sheetTab) => makeSignup({ sheetTab })),
          terms,
        )
      const first = await append()
      expect(first).toMatchObject({ kind: 'appended', results: [undefined, { sheetTab: 'A' }] })
      expect(await append()).toEqual({ ...first, kind: 'replayed' })
      expect(await add(journal, { token: 'digest' })).toEqual({ kind: 'tokenUsed' })
      expect(await journal.reader.backlog()).toBe(2)
    }),
  },

  {
    title: 'the key of a request that added nothing is not remembered',
    run: async (world) => {
      {
        await using journal = await world.open({ newTabsMax: 0 })
        await journal.intake.append([makeSignup()], ordered)
        expect(await journal.intake.recall(order)).toBeUndefined()
      }
      await using journal = await world.open()
      const signup = makeSignup()
      await expect(journal.intake.append([signup, signup], ordered)).rejects.toThrow()
      expect(await journal.intake.recall(order)).toBeUndefined()
      expect(await journal.intake.append([signup], ordered)).toMatchObject({ kind: 'appended' })
    },
  },

  {
    title: 'a key is remembered for 24 hours, and forgotten when later ones come',
    run: inJournal(async (journal) => {
      const keyed = (key: string, receivedAt: number) =>
        journal.intake.append([makeSignup({ receivedAt })], {
          idempotency: { space: '', key, fingerprint: 'A' },
        })
      for (let index = 0; index < 10; index++) await keyed(`old-${index}`, noon)
      await keyed('next day', noon + 24 * hour)
      expect(await keyed('old-0', noon + 24 * hour)).toMatchObject({ kind: 'replayed' })
      for (let index = 0; index < 5; index++) await keyed(`new-${index}`, noon + 26 * hour)
      for (let index = 0; index < 10; index++) {
        expect(await journal.intake.knows({ space: '', key: `old-${index}` })).toBe(false)
      }
      expect(await keyed('old-0', noon + 26 * hour)).toMatchObject({ kind: 'appended' })
      expect(await keyed('next day', noon + 26 * hour)).toMatchObject({ kind: 'replayed' })
    }),
  },
]

/** A key belongs to its name space. */
export const keyNameSpaces: readonly ContractTest[] = [
  {
    title: 'the same key in two name spaces is two keys',
    run: inJournal(async (journal) => {
      const ours = await add(journal, keyed('', 'A'))
      const theirs = await add(journal, keyed('theirs', 'B'))
      expect([ours.kind, theirs.kind]).toEqual(['appended', 'appended'])
      expect(await add(journal, keyed('', 'A'))).toEqual({ ...ours, kind: 'replayed' })
      expect(await add(journal, keyed('theirs', 'B'))).toEqual({ ...theirs, kind: 'replayed' })
      expect(await add(journal, keyed('theirs', 'A'))).toEqual({ kind: 'mismatch' })
      expect(await journal.reader.backlog()).toBe(2)
    }),
  },

  {
    title: 'two different pairs of name space and key are never the same key',
    run: inJournal(async (journal) => {
      for (const [space, key] of [
        ['a', 'b c'],
        ['a b', 'c'],
        ['', 'a b c'],
        ['a', 'b'],
      ] as const) {
        const idempotency = { space, key, fingerprint: 'A' }
        expect(await journal.intake.knows(idempotency)).toBe(false)
        expect(await add(journal, { idempotency })).toMatchObject({ kind: 'appended' })
        expect(await journal.intake.knows({ space, key })).toBe(true)
      }
    }),
  },
]
