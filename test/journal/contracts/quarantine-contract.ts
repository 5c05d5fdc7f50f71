import { expect } from 'vitest'

import { freezeNext } from '../../../harness/freeze-next.ts'
import { addressesOf, makeFullSignup, makeSignup } from '../../../harness/make-signup.ts'
import type { Journal, JournalPolicy } from '../../../src/journal/contracts/journal.ts'
import { hourMs } from '../../../src/journal/contracts/reader.ts'
import { toRow } from '../../../src/signup/row.ts'
import type { Signup } from '../../../src/signup/signup.ts'
import type { Signal } from '../../../src/signup/suspicion.ts'
import { type ContractTest, inTwo, none, resultsOf, underPolicy } from './contract.ts'
import { ada, deliver, forget, noon } from './erasure-contract.ts'

const quarantining = { quarantineTab: 'Quarantine' } satisfies Partial<JournalPolicy>
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
      'a suspect signup goes to the quarantine tab, with the tab that it asked for and its signs',
    run: underPolicy(quarantining, async (journal) => {
      const full = makeFullSignup({ sheetTab: 'Letters' })
      const odd = { ...makeFullSignup({ sheetTab: 'Letters', email: ada }), suspect: signals }
      await append(journal, full, odd)
      expect(await waitingIn(journal, 'Quarantine')).toEqual([odd])
      expect(await waitingIn(journal, 'Letters')).toEqual([full])
      expect(await heldIn(journal)).toEqual([odd])
      const batch = await freezeNext(journal.delivery)
      const tab = batch?.tabs.find((it) => it.tab === 'Quarantine')
      expect(tab?.signups).toEqual([odd])
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
    title: 'its answer and its status are those of any other signup, and follow its row',
    run: underPolicy(quarantining, async (journal) => {
      const [plain, odd] = [makeSignup({ sheetTab: 'Letters' }), suspect({ sheetTab: 'LETTERS' })]
      const [told, ofOdd] = resultsOf(await append(journal, plain, odd))
      const { id, position, heldIn, ...public_ } = ofOdd ?? expect.fail()
      expect({ ...public_, id: plain.id, position: told?.position }).toEqual(told)
      expect([id, position]).toEqual([odd.id, (told?.position ?? 0) + 1])
      expect(await journal.intake.find(id)).toEqual(ofOdd)
      const asked = heldIn ?? expect.fail()
      const cursors = await journal.intake.cursors(['Letters', asked])
      expect(cursors.map(({ upto }) => upto)).toEqual([0, 0])
      const heard: unknown[] = []
      journal.intake.onSettle((settled) => heard.push(...settled))
      await deliver(journal)
      expect(heard).toContainEqual({ tab: asked, upto: position })
      expect(await journal.intake.cursors([asked])).toEqual([{ tab: asked, upto: position }])
      expect(await journal.intake.find(id)).toEqual({ ...ofOdd, writtenAt: noon })
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
      expect(await waitingIn(journal, 'Quarantine')).toHaveLength(2)
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
      expect(await nextBatch(journal)).toEqual({
        Quarantine: [ada, ada, ada, ada],
        Letters: [ada],
      })
    }),
  },

  {
    title: 'figures count suspect signups apart by their signs, and none of them as accepted',
    run: async (world) => {
      {
        await using journal = await world.open(quarantining)
        const later = suspect({ receivedAt: noon + hourMs, suspect: ['links'] })
        await append(journal, makeSignup({ receivedAt: noon }), suspect({ receivedAt: noon }))
        const twice = [suspect({ receivedAt: noon }), suspect({ receivedAt: noon })]
        await append(journal, later, ...twice)
        await deliver(journal)
      }
      await using journal = await world.open({ ...quarantining, quarantineTab: 'Other' })
      const none = { accepted: 0, written: 0, asked: 0, confirmed: 0, erased: 0 }
      expect(await journal.reader.figures(0, noon + hourMs)).toEqual({
        all: { accepted: 1, written: 1 },
        waiting: 0,
        allSuspects: 4,
        suspects: [
          { from: noon, signals, count: 3 },
          { from: noon + hourMs, signals: ['links'], count: 1 },
        ],
        hours: [
          { ...none, from: noon, accepted: 1, written: 1, suspect: 3 },
          { ...none, from: noon + hourMs, suspect: 1 },
        ],
        oldestWaiting: undefined,
        lastWritten: noon,
      })
      await append(journal, suspect())
      expect(await journal.reader.backlog()).toBe(1)
      expect(await journal.reader.waitingSince(['other'])).toBeUndefined()
      expect(await journal.reader.waitingSince([])).toBeDefined()
    },
  },

  {
    title: 'without a quarantine tab, a suspect signup is counted and is like any other',
    run: underPolicy({}, async (journal) => {
      const { suspect: _, ...odd } = suspect({ receivedAt: noon })
      await append(journal, suspect({ ...odd, suspect: signals }))
      expect(await waitingIn(journal, 'Letters')).toEqual([odd])
      expect(await heldIn(journal)).toEqual([])
      const { all, suspects } = await journal.reader.figures(noon, noon)
      expect({ all, suspects }).toEqual({
        all: { accepted: 1, written: 0 },
        suspects: [{ from: noon, signals, count: 1 }],
      })
    }),
  },

  {
    title: 'a repeated request adds no suspect signup and counts none',
    run: underPolicy(quarantining, async (journal) => {
      const idempotency = { space: '', key: 'one', fingerprint: 'same' }
      const first = await journal.intake.append([suspect({ receivedAt: noon })], { idempotency })
      const again = await journal.intake.append([suspect({ receivedAt: noon })], { idempotency })
      expect(again).toEqual({ kind: 'replayed', results: resultsOf(first) })
      expect((await journal.reader.figures(noon, noon)).allSuspects).toBe(1)
      expect(await heldIn(journal)).toHaveLength(1)
    }),
  },
]

/** A released signup takes its place in the tab that it asked for. */
export const releasedSignups: readonly ContractTest[] = [
  {
    title:
      'a released signup keeps its id, time and cells, gets a row in its tab, and loses the other one',
    run: underPolicy(quarantining, async (journal) => {
      const { suspect: _, ...cells } = suspect(makeFullSignup({ sheetTab: 'Letters', email: ada }))
      const odd = { ...cells, suspect: signals }
      const [before] = resultsOf(await append(journal, odd))
      await deliver(journal)
      expect(await release(journal)).toEqual({
        unwritten: 0,
        written: [before?.position],
        frozen: [],
      })
      expect(await heldIn(journal)).toEqual([])
      expect(await waitingIn(journal, 'Letters')).toEqual([cells])
      expect(await waitingIn(journal, 'Quarantine')).toEqual([])
      const { receivedAt } = odd
      const position = before?.position
      expect(await journal.erasure.removals(0)).toEqual([
        {
          position,
          tab: 'Quarantine',
          email: ada,
          receivedAt,
          mark: odd.id,
        },
      ])
      const after = await journal.intake.find(odd.id)
      expect(after).toEqual({
        id: odd.id,
        sheetTab: 'Letters',
        receivedAt,
        position: expect.any(Number),
      })
      expect(after?.position).toBeGreaterThan(position ?? 0)
      await deliver(journal)
      expect((await journal.intake.find(odd.id))?.writtenAt).toBe(noon)
      const { all, waiting, hours } = await journal.reader.figures(receivedAt, receivedAt)
      expect([all, waiting]).toEqual([{ accepted: 1, written: 1 }, 0])
      const { hours: today } = await journal.reader.figures(receivedAt, Date.now())
      expect(today.filter(({ erased }) => erased > 0)).toEqual([])
      expect(hours.map(({ accepted }) => accepted)).toEqual([1])
    }),
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
    title: 'one that no batch holds gets no row in quarantine',
    run: underPolicy(quarantining, async (journal) => {
      await append(journal, suspect())
      expect(await release(journal)).toEqual({ unwritten: 1, written: [], frozen: [] })
      expect(await journal.erasure.removals(0)).toEqual([])
      expect(await nextBatch(journal)).toMatchObject({ Letters: [ada] })
    }),
  },

  {
    title:
      'one in the frozen batch changes nothing of the batch, and its row goes when that has ended',
    run: underPolicy(quarantining, async (journal) => {
      await append(journal, suspect())
      const batch = await freezeNext(journal.delivery)
      expect(await release(journal)).toMatchObject({ unwritten: 0, frozen: [expect.any(Number)] })
      expect(await heldIn(journal)).toEqual([])
      const rows = (it = batch) =>
        it?.tabs.map(({ tab, signups }) => [tab, signups.map((one) => toRow(one, tab))])
      expect(rows(await journal.delivery.frozenBatch())).toEqual(rows())
      expect(await journal.erasure.removals(0)).toEqual([])
      const unfinished = () => journal.erasure.unfinished()
      expect(await unfinished()).toEqual({ removals: 0, marked: 0, frozen: 1 })
      await journal.delivery.settle(batch?.number ?? 0, noon)
      expect(await unfinished()).toEqual({ removals: 1, marked: 1, frozen: 0 })
      expect(await journal.erasure.removals(0)).toMatchObject([{ tab: 'Quarantine', email: ada }])
      expect(await nextBatch(journal)).toEqual({ Letters: [ada] })
    }),
  },

  {
    title: 'one in a frozen batch that is given up gets a row in its tab only',
    run: underPolicy(quarantining, async (journal) => {
      await append(journal, suspect())
      const batch = (await freezeNext(journal.delivery)) ?? none
      await release(journal)
      await journal.delivery.release(batch)
      expect(await journal.erasure.removals(0)).toEqual([])
      expect(await nextBatch(journal)).toMatchObject({ Letters: [ada] })
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
      expect(await one.quarantine.release(positions, noon)).toEqual({
        unwritten: 0,
        written: [],
        frozen: [],
      })
      expect(await nextBatch(one)).toMatchObject({ Letters: [ada, 'bob@example.com'] })
    }, quarantining),
  },

  {
    title: 'signups that came meanwhile keep their places, and later ones get later positions',
    run: underPolicy(quarantining, async (journal) => {
      await append(journal, suspect(), makeSignup({ sheetTab: 'Letters', email: 'b@example.com' }))
      await release(journal)
      await append(journal, makeSignup({ sheetTab: 'Letters', email: 'c@example.com' }))
      const emails = (await waitingIn(journal, 'Letters')).map(({ email }) => email)
      expect(emails).toEqual(['b@example.com', ada, 'c@example.com'])
    }),
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
    title:
      'a spreadsheet whose only tab has the name of the quarantine tab does not name the default tab',
    run: underPolicy(
      { ...quarantining, defaultTab: { name: 'Sheet1', provisionalFor: 'sheet' } },
      async (journal) => {
        const resolved = await journal.delivery.resolveDefaultTab('quarantine')
        expect(resolved).toEqual({ name: 'Sheet1', isResolved: true })
      },
    ),
  },

  {
    title: 'a default tab that only suspect signups asked for is theirs when it gets its name',
    run: underPolicy(
      { ...quarantining, defaultTab: { name: 'Sheet1', provisionalFor: 'sheet' } },
      async (journal) => {
        await append(journal, suspect({ sheetTab: '' }), makeSignup({ sheetTab: 'Tabelle1' }))
        await journal.delivery.resolveDefaultTab('Tabelle1')
        expect(await heldIn(journal)).toMatchObject([{ sheetTab: 'Tabelle1' }])
      },
    ),
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
    title: 'released signups count as accepted in the hour in which they came',
    run: underPolicy(quarantining, async (journal) => {
      await append(journal, suspect({ receivedAt: noon }), suspect({ receivedAt: noon + 1 }))
      await release(journal)
      const { hours } = await journal.reader.figures(noon, noon)
      const none = { written: 0, asked: 0, confirmed: 0, erased: 0 }
      expect(hours).toEqual([{ ...none, from: noon, accepted: 2, suspect: 2 }])
    }),
  },

  {
    title:
      'a quarantine tab that the settings name no more does not count against the limit of tabs',
    run: async (world) => {
      {
        await using journal = await world.open(quarantining)
        await append(journal, suspect())
      }
      await using journal = await world.open({ quarantineTab: 'Other', newTabsMax: 2 })
      const [result] = resultsOf(await append(journal, makeSignup({ sheetTab: 'New' })))
      expect(result?.sheetTab).toBe('New')
    },
  },

  {
    title: 'one without a tab goes to the default tab, whenever that gets its name',
    run: underPolicy(
      { ...quarantining, defaultTab: { name: 'Sheet1', provisionalFor: 'sheet' } },
      async (journal) => {
        await append(journal, suspect({ sheetTab: '' }), makeSignup({ sheetTab: 'Tabelle1' }))
        await append(journal, suspect({ sheetTab: '', email: 'b@example.com' }))
        const [first] = await heldPositions(journal)
        await journal.quarantine.release([first ?? 0], noon)
        await journal.delivery.resolveDefaultTab('Tabelle1')
        await release(journal)
        const emails = (await waitingIn(journal, 'Tabelle1')).map(({ email }) => email)
        expect(emails).toContain(ada)
        expect(emails.at(-1)).toBe('b@example.com')
        expect(await heldIn(journal)).toEqual([])
      },
    ),
  },
]

/** Who is forgotten or erased is in no place. */
export const erasedSuspects: readonly ContractTest[] = [
  {
    title: 'an erased one gets no row, and its row in quarantine is removed',
    run: underPolicy(quarantining, async (journal) => {
      const [written] = resultsOf(await append(journal, suspect()))
      await deliver(journal)
      await append(journal, suspect({ email: 'b@example.com' }))
      expect((await journal.reader.beside()).held).toBe(2)
      const left = await journal.quarantine.erase(await heldPositions(journal))
      expect(left).toEqual({ unwritten: 1, written: [written?.position], frozen: [] })
      expect((await journal.reader.beside()).held).toBe(0)
      const today = await journal.reader.figures(Date.now() - hourMs, Date.now())
      expect(today.hours.reduce((sum, { erased }) => sum + erased, 0)).toBe(2)
      expect(await heldIn(journal)).toEqual([])
      // Other rows may have the address and the time.
      const mark = written?.id
      expect(await journal.erasure.removals(0)).toMatchObject([{ email: ada, mark }])
      expect(await nextBatch(journal)).not.toHaveProperty('Letters')
      const status = await journal.intake.find(written?.id ?? expect.fail())
      expect(status).toMatchObject({ sheetTab: 'Letters', position: written?.position })
    }),
  },

  {
    title: 'only signups in quarantine can be released or erased',
    run: underPolicy(quarantining, async (journal) => {
      const [plain] = resultsOf(await append(journal, makeSignup({ email: ada })))
      const positions = [plain?.position ?? 0, 99]
      const nothing = { unwritten: 0, written: [], frozen: [] }
      expect(await journal.quarantine.release(positions, noon)).toEqual(nothing)
      expect(await journal.quarantine.erase(positions)).toEqual(nothing)
      expect(await journal.quarantine.find([plain?.id ?? expect.fail()])).toEqual([])
      expect(await nextBatch(journal)).toEqual({ Sheet1: [ada] })
    }),
  },

  {
    title: 'a person who was forgotten is not released, and one who was released is forgotten',
    run: underPolicy(quarantining, async (journal) => {
      await append(journal, suspect(), suspect({ email: 'b@example.com' }))
      const positions = await heldPositions(journal)
      await journal.erasure.forget(ada)
      await journal.quarantine.release(positions, noon)
      const waiting = await waitingIn(journal, 'Letters')
      expect(waiting.map(({ email }) => email)).toEqual(['b@example.com'])
      await forget(journal, ada)
      await forget(journal, 'b@example.com')
      expect(await journal.reader.page(0, everything)).toEqual([])
      expect(Object.values(await nextBatch(journal)).flat()).toEqual([])
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
        for (const { position } of await one.erasure.removals(0)) {
          await one.erasure.removed(position, { wasFound: true, others: 0 })
        }
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
