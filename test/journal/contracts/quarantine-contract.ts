import { expect } from 'vitest'

import { freezeNext } from '../../../harness/freeze-next.ts'
import {
  addressesOf,
  makeFullSignup,
  makeSignup,
  makeSignups,
} from '../../../harness/make-signup.ts'
import type { Journal, JournalPolicy } from '../../../src/journal/contracts/journal.ts'
import { day, hour as hourMs } from '../../../src/platform/clock.ts'
import type { Signup } from '../../../src/signup/signup.ts'
import type { Signal } from '../../../src/signup/suspicion.ts'
import { type ContractTest, inTwo, none, nothing, resultsOf, underPolicy } from './contract.ts'
import { ada, deliver, forget, noon } from './erasure-contract.ts'

const quarantining = { holdsSuspects: true } satisfies Partial<JournalPolicy>
const ignoring = { ...quarantining, duplicates: 'ignore' } satisfies Partial<JournalPolicy>
const signals: readonly Signal[] = ['hidden-field', 'stamp']
const everything = 1_000

function suspect(given: Partial<Signup> = {}): Signup {
  return makeSignup({ email: ada, sheetTab: 'Letters', suspect: signals, ...given })
}

function append({ intake }: Pick<Journal, 'intake'>, ...signups: Signup[]) {
  return intake.append(signups)
}

async function heldIn({ reader }: Pick<Journal, 'reader'>): Promise<readonly Signup[]> {
  return (await reader.held(0, everything)).map(({ signup }) => signup)
}

async function heldPositions({ reader }: Pick<Journal, 'reader'>) {
  return (await reader.held(0, everything)).map(({ position }) => position)
}

async function release(journal: Journal) {
  return journal.quarantine.release(await heldPositions(journal), noon)
}

async function nextBatch(journal: Journal) {
  return addressesOf(await freezeNext(journal.delivery))
}

/** The signups of a tab that wait, as their rows will say. */
async function waitingIn(journal: Journal, name: string): Promise<readonly Signup[]> {
  const tab = (await journal.delivery.pending()).find((it) => it.name === name)
  const { signups } = tab ? await journal.delivery.waiting(tab) : { signups: [] }
  return signups.filter(({ hasNoRow }) => !hasNoRow).map(({ signup }) => signup)
}

/** Suspect signups are held, and nobody can tell. */
export const heldSignups: readonly ContractTest[] = [
  {
    title:
      'a suspect signup is held in its own tab with its signs, and its batch has no row for it',
    run: underPolicy(quarantining, async (journal) => {
      const full = makeFullSignup({ sheetTab: 'Letters' })
      const odd = { ...makeFullSignup({ sheetTab: 'Letters', email: ada }), suspect: signals }
      await append(journal, full, odd)
      expect(await waitingIn(journal, 'Letters')).toEqual([full])
      expect(await heldIn(journal)).toEqual([odd])
      const batch = await freezeNext(journal.delivery)
      expect(batch?.tabs).toEqual([{ tab: 'Letters', signups: [full] }])
      expect((await journal.delivery.frozenBatch())?.tabs).toEqual(batch?.tabs)
    }),
  },

  {
    title: 'who is held is greeted once, when released',
    run: underPolicy({ ...quarantining, welcomes: true }, async (journal) => {
      const greeting = { share: 'share', language: 'en' }
      await journal.intake.append([suspect(), suspect()], { greeting })
      await journal.intake.append([makeSignup({ email: 'bob@example.com' })], { greeting })
      const released = noon + hourMs
      const claim = async () => {
        const order = { kinds: ['welcome'], by: 'me', now: released, max: 9 } as const
        return (await journal.outbox.claim(order)).messages
      }
      expect(await claim()).toMatchObject([{ email: 'bob@example.com' }])
      await journal.quarantine.release(await heldPositions(journal), released)
      expect(await claim()).toMatchObject([{ email: ada, madeAt: released }])
    }),
  },

  {
    title: 'its answer and its status are those of any other signup, and follow its batch',
    run: underPolicy(quarantining, async (journal) => {
      const [plain, odd] = [makeSignup({ sheetTab: 'Letters' }), suspect({ sheetTab: 'LETTERS' })]
      const [told, ofOdd] = resultsOf(await append(journal, plain, odd))
      const { id, position, ...public_ } = ofOdd ?? expect.fail()
      expect({ ...public_, id: plain.id, position: told?.position }).toEqual({
        ...told,
        receivedAt: public_.receivedAt,
      })
      expect([id, position]).toEqual([odd.id, (told?.position ?? 0) + 1])
      expect(await journal.intake.find(id)).toEqual(ofOdd)
      const heard: unknown[] = []
      journal.intake.onSettle((settled) => heard.push(...settled))
      await deliver(journal)
      expect(heard).toEqual([{ tab: 'Letters', upto: position }])
      expect(await journal.intake.find(id)).toEqual({ ...ofOdd, writtenAt: noon })
    }),
  },

  {
    title: 'a batch of held ones alone is frozen with a marker, and they are written by it',
    run: underPolicy(quarantining, async (journal) => {
      const [told] = resultsOf(await append(journal, suspect()))
      expect(await journal.reader.backlog()).toBe(1)
      const batch = await freezeNext(journal.delivery)
      expect(batch).toMatchObject({ tabs: [{ tab: 'Letters', signups: [] }] })
      await journal.delivery.settle(batch?.number ?? 0, noon)
      expect(await journal.reader.backlog()).toBe(0)
      expect(await journal.intake.find(told?.id ?? expect.fail())).toEqual({
        ...told,
        writtenAt: noon,
      })
      expect((await journal.delivery.endedMarkers()).map(({ id }) => id)).toEqual([batch?.marker])
    }),
  },

  {
    title: 'pages, comparisons and imports do not see held ones, and retention does not reach them',
    run: underPolicy(quarantining, async (journal) => {
      await append(journal, suspect())
      await deliver(journal)
      while (await journal.retention.expire(Infinity));
      expect(await heldIn(journal)).toMatchObject([{ email: ada }])
      expect(await journal.reader.page(0, everything)).toEqual([])
      expect(await journal.compared.page(0, everything, 9)).toEqual([])
      const positions = await heldPositions(journal)
      expect(await journal.compared.deliverAgain(positions, noon, 9)).toBe(0)
      const same = makeSignup({ email: ada, sheetTab: 'Letters' })
      expect(await journal.imports.add([same])).toEqual(['added'])
      await append(journal, suspect({ email: 'b@example.com' }))
      expect(
        await journal.imports.add([{ ...same, id: makeSignup().id, email: 'b@example.com' }]),
      ).toEqual(['added'])
    }),
  },

  {
    title: 'a page goes on behind thousands of held ones, and is short at the end only',
    run: underPolicy(quarantining, async (journal) => {
      const plain = makeSignups(3)
      const [first = expect.fail(), ...others] = plain
      await append(journal, first, ...Array.from({ length: 4_500 }, () => suspect()), ...others)
      for (const page of [
        async (after: number, max: number) => await journal.reader.page(after, max),
        (after: number, max: number) => journal.compared.page(after, max, 0),
      ]) {
        const two = (await page(0, 2)).map(({ position }) => position)
        expect(two).toHaveLength(2)
        expect(await page(two[1] ?? 0, 2)).toHaveLength(1)
        expect(await page(0, 9)).toHaveLength(3)
      }
    }),
  },

  {
    title:
      'a tab that only suspect signups ask for counts against the limit of tabs, as the answer must',
    run: underPolicy({ ...quarantining, newTabsMax: 1 }, async (journal) => {
      const answer = await append(
        journal,
        suspect({ sheetTab: 'First' }),
        suspect({ sheetTab: 'Second' }),
        suspect({ sheetTab: 'FIRST' }),
        makeSignup({ sheetTab: 'first' }),
      )
      const tabs = resultsOf(answer).map((result) => result?.sheetTab)
      expect(tabs).toEqual(['First', undefined, 'First', 'First'])
      expect(await waitingIn(journal, 'First')).toHaveLength(1)
      expect(await heldIn(journal)).toHaveLength(2)
    }),
  },

  {
    title: 'a suspect signup is no duplicate, and makes no later one a duplicate',
    run: underPolicy(ignoring, async (journal) => {
      const answer = await append(
        journal,
        suspect(),
        suspect(),
        makeSignup({ email: ada, sheetTab: 'Letters' }),
        suspect(),
      )
      expect(answer).not.toHaveProperty('duplicates')
      await append(journal, suspect(), makeSignup({ email: ada, sheetTab: 'Letters' }))
      expect(await nextBatch(journal)).toEqual({ Letters: [ada] })
      expect(await heldIn(journal)).toHaveLength(4)
    }),
  },

  {
    title: 'figures count suspect signups apart by their signs, and none of them as accepted',
    run: underPolicy(quarantining, async (journal) => {
      const later = suspect({ receivedAt: noon + hourMs, suspect: ['links'] })
      await append(journal, makeSignup({ receivedAt: noon }), suspect({ receivedAt: noon }))
      const twice = [suspect({ receivedAt: noon }), suspect({ receivedAt: noon })]
      await append(journal, later, ...twice)
      await deliver(journal)
      expect(await journal.reader.figures()).toEqual({
        all: { ...nothing, accepted: 1, written: 1, suspect: 4, held: 4 },
        waiting: 0,
        oldestWaiting: undefined,
        lastWritten: noon,
      })
      const kinds = ['accepted', 'written', 'suspect'] as const
      expect(await journal.reader.counted(kinds, 0, noon + hourMs)).toEqual([
        { what: 'accepted', at: noon, name: '', count: 1 },
        { what: 'written', at: noon, name: '', count: 1 },
        { what: 'suspect', at: noon, name: signals.join(','), count: 3 },
        { what: 'suspect', at: noon + hourMs, name: 'links', count: 1 },
      ])
      await append(journal, suspect())
      expect(await journal.reader.backlog()).toBe(1)
      expect(await journal.reader.waitingSince(['letters'])).toBeUndefined()
      expect(await journal.reader.waitingSince([])).toBeDefined()
    }),
  },

  {
    title: 'where suspect signups are not held, one is counted and is like any other',
    run: underPolicy({}, async (journal) => {
      const { suspect: _, ...odd } = suspect({ receivedAt: noon })
      await append(journal, suspect({ ...odd, suspect: signals }))
      expect(await waitingIn(journal, 'Letters')).toEqual([odd])
      expect(await heldIn(journal)).toEqual([])
      const { all } = await journal.reader.figures()
      expect(all).toEqual({ ...nothing, accepted: 1, suspect: 1 })
      const suspects = await journal.reader.counted(['suspect'], noon, noon)
      expect(suspects.map(({ name }) => name)).toEqual([signals.join(',')])
    }),
  },
]

/** A released signup gets its row in the place that it has had from the first. */
export const releasedSignups: readonly ContractTest[] = [
  {
    title:
      'one that its tab has passed keeps its place, id, time and status, and is delivered then',
    run: underPolicy(quarantining, async (journal) => {
      const { suspect: _, ...cells } = suspect(makeFullSignup({ sheetTab: 'Letters', email: ada }))
      const odd = { ...cells, suspect: signals }
      await append(journal, odd)
      await deliver(journal)
      const before = await journal.intake.find(odd.id)
      expect(before?.writtenAt).toBe(noon)
      expect(await release(journal)).toEqual({ signups: 1, frozen: [] })
      expect(await heldIn(journal)).toEqual([])
      expect(await waitingIn(journal, 'Letters')).toEqual([cells])
      expect(await journal.intake.find(odd.id)).toEqual(before)
      const { receivedAt } = odd
      const figures = async () => {
        const { all, waiting } = await journal.reader.figures()
        const hours = await journal.reader.counted(['accepted'], receivedAt, receivedAt)
        return { accepted: all.accepted, written: all.written, waiting, hours: hours.length }
      }
      const counted = { accepted: 1, written: 0, waiting: 1, hours: 1 }
      expect(await figures()).toEqual(counted)
      await deliver(journal)
      expect(await figures()).toEqual({ ...counted, written: 1, waiting: 0 })
      expect(await journal.intake.find(odd.id)).toEqual(before)
      const [compared] = await journal.compared.page(0, 1, everything)
      expect(compared?.row).toBe('written')
      expect(await journal.erasure.removals(0)).toEqual([])
    }),
  },

  {
    title: 'one that its tab has not reached is delivered in its place',
    run: underPolicy(quarantining, async (journal) => {
      await append(journal, suspect(), makeSignup({ sheetTab: 'Letters', email: 'b@example.com' }))
      expect(await release(journal)).toEqual({ signups: 1, frozen: [] })
      await append(journal, makeSignup({ sheetTab: 'Letters', email: 'c@example.com' }))
      const emails = [ada, 'b@example.com', 'c@example.com']
      expect(await nextBatch(journal)).toEqual({ Letters: emails })
      await journal.delivery.settle((await journal.delivery.frozen())?.number ?? 0, noon)
      expect(await journal.reader.backlog()).toBe(0)
      expect((await journal.reader.figures()).all).toMatchObject({ accepted: 3, written: 3 })
    }),
  },

  {
    title:
      'one in the frozen batch stays held, and changes nothing of the batch, until that has ended',
    run: underPolicy(quarantining, async (journal) => {
      for (const end of ['settle', 'release'] as const) {
        await append(journal, suspect(), makeSignup({ sheetTab: 'Letters' }))
        const batch = (await freezeNext(journal.delivery)) ?? expect.fail()
        const [position] = await heldPositions(journal)
        expect(await release(journal)).toEqual({ signups: 0, frozen: [position] })
        expect(await heldPositions(journal)).toEqual([position])
        expect((await journal.delivery.frozenBatch())?.tabs).toEqual(batch.tabs)
        if (end === 'settle') await journal.delivery.settle(batch.number, noon)
        else await journal.delivery.release(batch)
        expect(await release(journal)).toEqual({ signups: 1, frozen: [] })
        expect((await nextBatch(journal))['Letters']?.[0]).toBe(ada)
        await journal.delivery.settle((await journal.delivery.frozen())?.number ?? 0, noon)
        expect(await journal.reader.backlog()).toBe(0)
      }
    }),
  },

  {
    title: 'a batch that was read before a release is not frozen after it',
    run: inTwo(async (writer, other) => {
      await append(writer, suspect())
      const [tab = expect.fail()] = await writer.delivery.pending()
      const { signups } = await writer.delivery.waiting(tab)
      await release(other)
      const frozen = writer.delivery.freeze([{ tab, signups }], 9)
      await expect(frozen).rejects.toThrow('released from quarantine meanwhile')
      expect(await nextBatch(writer)).toEqual({ Letters: [ada] })
    }, quarantining),
  },

  {
    title: 'a repeated request for released signups is answered with them, in the first order',
    run: underPolicy(quarantining, async (journal) => {
      const idempotency = { space: '', key: 'one', fingerprint: 'same' }
      const signups = [suspect(), makeSignup({ sheetTab: 'Letters' }), suspect()]
      await journal.intake.append(signups, { idempotency })
      const positions = await heldPositions(journal)
      await journal.quarantine.release(positions.slice(0, 1), noon)
      await deliver(journal)
      const repeated = signups.map((signup) => ({ ...signup, id: makeSignup().id }))
      const again = await journal.intake.append(repeated, { idempotency })
      expect(again.kind).toBe('replayed')
      for (const [index, { id }] of signups.entries()) {
        const status = await journal.intake.find(id)
        expect(status).toMatchObject({ id, sheetTab: 'Letters', writtenAt: noon })
        expect(resultsOf(again)[index]).toEqual(status)
      }
    }),
  },

  {
    title: 'it is released once, however often two instances are asked',
    run: inTwo(async (one, other) => {
      await append(one, suspect(), suspect({ email: 'bob@example.com' }))
      const positions = await heldPositions(other)
      await Promise.all(
        [one, other, one, other].map((it) => it.quarantine.release(positions, noon)),
      )
      expect(await one.quarantine.release(positions, noon)).toEqual({ signups: 0, frozen: [] })
      expect(await nextBatch(one)).toMatchObject({ Letters: [ada, 'bob@example.com'] })
    }, quarantining),
  },

  {
    title: 'duplicates are found when it is released',
    run: underPolicy(ignoring, async (journal) => {
      const letters = { sheetTab: 'Letters' }
      await append(journal, suspect(), makeSignup({ email: 'ADA@example.com', ...letters }))
      await append(journal, suspect({ email: 'b@example.com' }))
      await append(journal, suspect({ email: 'B@example.com' }))
      await release(journal)
      await append(journal, makeSignup({ email: 'b@example.com', ...letters }))
      const batch = await nextBatch(journal)
      expect(batch['Letters']).toEqual(['ADA@example.com', 'b@example.com'])
    }),
  },

  {
    title: 'an import that has read the addresses before a release knows what was released',
    run: inTwo(async (one, other) => {
      await append(one, suspect())
      const imported = (email: string) =>
        other.imports.add([makeSignup({ email, sheetTab: 'Letters' })])
      expect(await imported('bob@example.com')).toEqual(['added'])
      await release(one)
      expect(await imported(ada.toUpperCase())).toEqual(['known'])
      await forget(one)
      expect(await other.imports.preview([suspect()])).toEqual(['forgotten'])
    }, quarantining),
  },

  {
    title:
      'it is a duplicate of an address whose signup has expired, and none for a tombstone of another one',
    run: underPolicy(ignoring, async (journal) => {
      await append(journal, makeSignup({ email: ada, sheetTab: 'Letters' }))
      await deliver(journal)
      while (await journal.retention.expire(Infinity));
      await append(journal, suspect())
      await release(journal)
      expect(await waitingIn(journal, 'Letters')).toEqual([])
      await append(journal, makeSignup({ email: 'c@example.com', sheetTab: 'Letters' }))
      await append(journal, suspect({ email: 'c@example.com' }))
      await journal.erasure.forget('b@example.com')
      await release(journal)
      expect(await waitingIn(journal, 'Letters')).toHaveLength(1)
    }),
  },

  {
    title: 'a repeated request tells of each signup in its place, released or without a tab',
    run: underPolicy({ ...quarantining, newTabsMax: 1 }, async (journal) => {
      const idempotency = { space: '', key: 'one', fingerprint: 'same' }
      const names = ['First', 'Second', 'First']
      const request = () =>
        names.map((sheetTab, at) => (at === 2 ? suspect({ sheetTab }) : makeSignup({ sheetTab })))
      const first = resultsOf(await journal.intake.append(request(), { idempotency }))
      await release(journal)
      const again = resultsOf(await journal.intake.append(request(), { idempotency }))
      expect(again.map((result) => result?.id)).toEqual(first.map((result) => result?.id))
      expect(again[1]).toBeUndefined()
    }),
  },

  {
    title:
      'released signups count as accepted in the hour in which they came, and as written in that of their row',
    run: underPolicy(quarantining, async (journal) => {
      await append(journal, suspect({ receivedAt: noon }), suspect({ receivedAt: noon + 1 }))
      const counted = async (at: number) => {
        const counts = await journal.reader.counted(['accepted', 'suspect', 'written'], at, at)
        return counts.map(({ what, count }) => [what, count])
      }
      await deliver(journal)
      await release(journal)
      const came = await counted(noon)
      expect(came).toEqual([
        ['accepted', 2],
        ['suspect', 2],
      ])
      await nextBatch(journal)
      const { number = 0 } = (await journal.delivery.frozen()) ?? {}
      await journal.delivery.settle(number, noon + hourMs)
      expect(await counted(noon)).toEqual(came)
      expect(await counted(noon + hourMs)).toEqual([['written', 2]])
    }),
  },
]

/** Who is forgotten or erased is in no place. */
export const erasedSuspects: readonly ContractTest[] = [
  {
    title: 'an erased one gets no row, whether a batch has passed it, holds it, or neither',
    run: underPolicy(quarantining, async (journal) => {
      const [written] = resultsOf(await append(journal, suspect()))
      await deliver(journal)
      await append(journal, suspect({ email: 'b@example.com' }))
      const batch = await freezeNext(journal.delivery)
      await append(journal, suspect({ email: 'c@example.com' }))
      expect((await journal.reader.beside()).held).toBe(3)
      expect(await journal.quarantine.erase(await heldPositions(journal))).toBe(3)
      expect((await journal.reader.beside()).held).toBe(0)
      expect((await journal.reader.figures()).all.erased).toBe(0)
      expect(await heldIn(journal)).toEqual([])
      expect(await journal.erasure.unfinished()).toEqual({ removals: 0, frozen: 0 })
      expect((await journal.delivery.frozenBatch())?.tabs).toEqual(batch?.tabs)
      await journal.delivery.settle(batch?.number ?? 0, noon)
      expect(await nextBatch(journal)).toEqual({ Letters: [] })
      await journal.delivery.settle((await journal.delivery.frozen())?.number ?? 0, noon)
      const { all, waiting } = await journal.reader.figures()
      expect([all, waiting]).toMatchObject([{ accepted: 0, written: 0 }, 0])
      const status = await journal.intake.find(written?.id ?? expect.fail())
      expect(status).toEqual({ ...written, writtenAt: noon })
    }),
  },

  {
    title: 'the status of a pending signup does not tell that it was erased',
    run: underPolicy({ ...quarantining, confirmation: { waitMs: 7 * day } }, async (journal) => {
      const now = Date.now()
      const [odd, plain] = [suspect({ receivedAt: now }), makeSignup({ receivedAt: now })]
      await journal.intake.ask([odd, plain], { addressing: { share: '', language: 'en' } })
      expect(await journal.quarantine.erase(await heldPositions(journal))).toBe(1)
      const [one, other] = await Promise.all([odd, plain].map(({ id }) => journal.intake.find(id)))
      expect([one?.beside, other?.beside]).toEqual(['pending', 'pending'])
    }),
  },

  {
    title: 'after ninety days held ones are erased, and stay counted',
    run: underPolicy({ ...quarantining, confirmation: { waitMs: 7 * day } }, async (journal) => {
      const beside = suspect({ receivedAt: noon })
      await append(journal, suspect({ receivedAt: noon }), suspect({ receivedAt: noon + 1 }))
      await journal.intake.ask([beside], { addressing: { share: '', language: 'en' } })
      const [one, later] = await heldPositions(journal)
      const statuses = () => Promise.all([journal.intake.find(beside.id)])
      const before = await statuses()
      while (await journal.confirmation.sweep(noon + 90 * day - 1));
      expect(await heldIn(journal)).toHaveLength(3)
      while (await journal.confirmation.sweep(noon + 90 * day));
      expect(await heldPositions(journal)).toEqual([later])
      expect(one).toBeLessThan(later ?? 0)
      expect(await statuses()).toEqual(before)
      const { erased, suspect: suspects, held } = (await journal.reader.figures()).all
      expect([erased, suspects, held]).toEqual([0, 3, 3])
    }),
  },

  {
    title: 'how many are erased until the end of next week is known, in the list and beside it',
    run: underPolicy({ ...quarantining, confirmation: { waitMs: 7 * day } }, async (journal) => {
      // A week begins at a multiple of seven days.
      const now = 3_000 * 7 * day + hourMs
      const until = 3_002 * 7 * day
      const last = until - 90 * day - 1
      expect(await journal.reader.heldEnding(now)).toEqual({ waiting: 0, oldest: undefined, until })
      await append(journal, suspect({ receivedAt: last }), suspect({ receivedAt: last + 1 }))
      await append(journal, makeSignup({ receivedAt: last }))
      const beside = suspect({ receivedAt: last - 5 })
      await journal.intake.ask([beside], { addressing: { share: '', language: 'en' } })
      const ending = { waiting: 2, oldest: last - 5, until }
      expect(await journal.reader.heldEnding(now)).toEqual(ending)
      const [first = 0] = await heldPositions(journal)
      await journal.quarantine.release([first], noon)
      expect(await journal.reader.heldEnding(now)).toEqual({ ...ending, waiting: 1 })
      expect((await journal.reader.heldEnding(now + 7 * day)).waiting).toBe(2)
    }),
  },

  {
    title: 'who leaves or is forgotten is erased where they are held, too',
    run: underPolicy({ ...quarantining, hasAdminPage: true }, async (journal) => {
      await append(journal, suspect(), makeSignup({ email: ada }), suspect())
      const { positions } = await journal.reader.positionsOf(ada, 0)
      expect(positions).toHaveLength(3)
      await forget(journal, ada)
      expect(await heldIn(journal)).toEqual([])
      expect((await journal.reader.positionsOf(ada, 0)).positions).toEqual([])
    }),
  },

  {
    title: 'only signups in quarantine can be released or erased',
    run: underPolicy(quarantining, async (journal) => {
      const [plain] = resultsOf(await append(journal, makeSignup({ email: ada })))
      const positions = [plain?.position ?? 0, 99]
      const nothing = { signups: 0, frozen: [] }
      expect(await journal.quarantine.release(positions, noon)).toEqual(nothing)
      expect(await journal.quarantine.erase(positions)).toBe(0)
      expect(await journal.quarantine.find([plain?.id ?? expect.fail()])).toEqual([])
      expect(await nextBatch(journal)).toEqual({ Sheet1: [ada] })
    }),
  },

  {
    title: 'of one that was released, and has had no row yet, none is to go',
    run: underPolicy(quarantining, async (journal) => {
      await append(journal, suspect(), suspect({ email: 'b@example.com' }))
      await deliver(journal)
      await release(journal)
      expect(await forget(journal)).toMatchObject({ unwritten: 1, written: [], frozen: [] })
      expect(await nextBatch(journal)).toEqual({ Letters: ['b@example.com'] })
      expect((await forget(journal, 'b@example.com')).frozen).toHaveLength(1)
      await journal.delivery.settle((await journal.delivery.frozen())?.number ?? 0, noon)
      const removals = await journal.erasure.removals(0)
      expect(removals.map(({ email }) => email)).toEqual(['b@example.com'])
      expect(await journal.reader.backlog()).toBe(0)
    }),
  },

  {
    title: 'release and forget of one person at once end with the person gone',
    run: inTwo(async (one, other) => {
      for (let round = 0; round < 10; round++) {
        await append(one, suspect())
        if (round % 3 === 1) await deliver(one)
        if (round % 3 === 2) await freezeNext(one.delivery)
        const positions = await heldPositions(other)
        await Promise.all([
          one.quarantine.release(positions, noon),
          forget(other),
          other.quarantine.release(positions, noon),
        ])
        for (const find of ['frozen', 'next'] as const) {
          const batch = find === 'next' ? freezeNext(one.delivery) : one.delivery.frozen()
          const { number } = (await batch) ?? none
          if (number > 0) await one.delivery.settle(number, noon)
        }
        expect(await one.reader.page(0, everything)).toEqual([])
        const removals = await one.erasure.removals(0)
        await one.erasure.removed(removals.map(({ position }) => position))
      }
    }, quarantining),
  },

  {
    title: 'pages and ids find what is in quarantine, of this site only',
    run: underPolicy(quarantining, async (journal) => {
      const all = ['a', 'b', 'c', 'd'].map((name) => suspect({ email: `${name}@example.com` }))
      await append(journal, ...all)
      const page = await journal.reader.held(0, 2)
      const rest = await journal.reader.held(page.at(-1)?.position ?? 0, 9)
      expect([...page, ...rest].map(({ signup }) => signup)).toEqual(all)
      const [, second, , last] = all.map(({ id }) => id)
      const found = await journal.quarantine.find([last ?? expect.fail(), second ?? expect.fail()])
      expect(found.map(({ signup }) => signup.id)).toEqual([second, last])
    }),
  },
]
