import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import type { Appended, TabCursor } from '../../src/journal/intake-log.ts'
import type { Journal } from '../../src/journal/journal.ts'
import type { JournalWorld } from './journal-contract.ts'
import { freezeNext } from '../../harness/freeze-next.ts'
import { addressesOf, makeSignup, makeSignups } from '../../harness/make-signup.ts'

const noon = Date.UTC(2026, 10, 20, 12)
const hour = 60 * 60 * 1000
const order = { space: '', key: 'order-1', fingerprint: 'A' }
const ordered = { idempotency: order }

/** What every engine must do about requests that are repeated, and tell of settled batches. */
export function journalReplayContract(
  name: string,
  createWorld: () => Promise<JournalWorld>,
): void {
  const withJournal = async (work: (journal: Journal) => Promise<void>) => {
    await using world = await createWorld()
    await using journal = await world.open()
    await work(journal)
  }

  describe(`${name}: repeated requests`, () => {
    test('a known key gives the first answer again and adds nothing, also after a restart', async () => {
      await using world = await createWorld()
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
    })

    test('a known key with another fingerprint is a mismatch and adds nothing', () =>
      withJournal(async (journal) => {
        const signup = makeSignup()
        await journal.intake.append([makeSignup()], ordered)
        const other = { ...order, fingerprint: 'B' }
        expect(await journal.intake.append([signup], { idempotency: other })).toEqual({
          kind: 'mismatch',
        })
        expect(await journal.intake.recall(other)).toEqual({ kind: 'mismatch' })
        expect(await journal.intake.find(signup.id)).toBeUndefined()
        expect(await journal.reader.backlog()).toBe(1)
      }))

    test('of requests with one key that arrive together one is added and all get its answer', () =>
      withJournal(async (journal) => {
        const answers = await Promise.all(
          makeSignups(50).map((signup) => journal.intake.append([signup], ordered)),
        )
        expect(answers.map(({ kind }) => kind)).toEqual([
          'appended',
          ...Array.from({ length: 49 }, () => 'replayed'),
        ])
        expect(new Set(answers.flatMap(idsIn)).size).toBe(1)
        expect(await journal.reader.backlog()).toBe(1)
      }))

    test('a replay tells the status of now', () =>
      withJournal(async (journal) => {
        await journal.intake.append(makeSignups(2), ordered)
        const batch = await freezeNext(journal.delivery, { rowsMax: 1 })
        await journal.delivery.settle(batch?.number ?? 0, noon)
        const replay = await journal.intake.append(makeSignups(2), ordered)
        expect(writtenIn(replay)).toEqual([noon, undefined])
      }))

    test('a replay keeps the places of those that were refused', async () => {
      await using world = await createWorld()
      await using journal = await world.open({ newTabsMax: 1 })
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
    })

    test('a request of which nothing was added is not remembered', async () => {
      await using world = await createWorld()
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
    })

    test('a key is known for 24 hours, and forgotten some time later as others come', () =>
      withJournal(async (journal) => {
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
      }))

    test('any order of new and repeated requests, deliveries and restarts keeps to the model', async () => {
      const request = fc.record({
        kind: fc.constant('request' as const),
        key: fc.option(fc.constantFrom('k1', 'k2', 'k3'), { nil: undefined }),
        emails: fc.array(fc.constantFrom('a@b.co', 'A@b.co', 'c@b.co'), {
          minLength: 1,
          maxLength: 3,
        }),
      })
      const step = fc.oneof(
        { weight: 6, arbitrary: request },
        { weight: 1, arbitrary: fc.constant({ kind: 'delivery' as const }) },
        { weight: 1, arbitrary: fc.constant({ kind: 'restart' as const }) },
      )
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
          await using world = await createWorld()
          let journal = await world.open({ duplicates: 'ignore' })
          const known = new Map<string, { fingerprint: string; ids: readonly string[] }>()
          const expected: string[] = []
          const rows: string[] = []
          const deliver = async () => {
            const batch = await freezeNext(journal.delivery)
            rows.push(...Object.values(addressesOf(batch)).flat())
            if (batch) await journal.delivery.settle(batch.number, noon)
          }
          for (const { kind, ...given } of steps) {
            if (kind === 'delivery') await deliver()
            if (kind === 'restart') {
              await journal[Symbol.asyncDispose]()
              journal = await world.open({ duplicates: 'ignore' })
            }
            if (kind !== 'request' || !('emails' in given)) continue
            const { key, emails } = given
            const fingerprint = emails.join()
            const signups = emails.map((email) => makeSignup({ email }))
            const answer = await journal.intake.append(
              signups,
              key === undefined ? {} : { idempotency: { space: '', key, fingerprint } },
            )
            const earlier = key === undefined ? undefined : known.get(key)
            if (earlier && earlier.fingerprint !== fingerprint) {
              expect(answer).toEqual({ kind: 'mismatch' })
              continue
            }
            const ids = earlier?.ids ?? signups.map(({ id }) => id)
            expect(answer.kind).toBe(earlier ? 'replayed' : 'appended')
            expect(idsIn(answer)).toEqual(ids)
            if (earlier) continue
            if (key !== undefined) known.set(key, { fingerprint, ids })
            for (const email of emails) {
              const isKnown = expected.some((row) => row.toLowerCase() === email.toLowerCase())
              if (!isKnown) expected.push(email)
            }
          }
          await deliver()
          expect(rows).toEqual(expected)
          expect(await journal.reader.backlog()).toBe(0)
          await journal[Symbol.asyncDispose]()
        }),
        { numRuns: 60 },
      )
    })
  })

  describe(`${name}: settled batches`, () => {
    test('listeners hear how far each settled batch brought its tabs, until they unsubscribe', () =>
      withJournal(async (journal) => {
        const heard: (readonly TabCursor[])[] = []
        const unsubscribe = journal.intake.onSettle((cursors) => heard.push(cursors))
        const answer = await journal.intake.append([
          makeSignup({ sheetTab: 'A' }),
          makeSignup({ sheetTab: 'A' }),
          makeSignup({ sheetTab: 'B' }),
        ])
        if (answer.kind !== 'appended') throw new Error('no key was given')
        const [, second, third] = answer.results.map((result) => result?.position)
        const batch = await freezeNext(journal.delivery)
        expect(heard).toEqual([])
        await journal.delivery.settle(batch?.number ?? 0, noon)
        expect(heard).toEqual([
          [
            { tab: 'A', upto: second },
            { tab: 'B', upto: third },
          ],
        ])
        unsubscribe()
        await journal.intake.append([makeSignup()])
        await journal.delivery.settle((await freezeNext(journal.delivery))?.number ?? 0, noon)
        expect(heard).toHaveLength(1)
      }))
  })
}

function writtenIn(answer: Appended): (number | undefined)[] {
  return 'results' in answer ? answer.results.map((result) => result?.writtenAt) : []
}

function idsIn(answer: Appended): (string | undefined)[] {
  return 'results' in answer ? answer.results.map((result) => result?.id) : []
}
