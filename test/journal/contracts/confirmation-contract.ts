import { expect } from 'vitest'

import { freezeNext } from '../../../harness/freeze-next.ts'
import { addressesOf, makeFullSignup, makeSignup } from '../../../harness/make-signup.ts'
import type { Journal, JournalPolicy } from '../../../src/journal/contracts/journal.ts'
import type { Signal } from '../../../src/signup/suspicion.ts'
import { type ContractTest, inTwo, resultsOf, underPolicy } from './contract.ts'
import { ada, ask, claim, confirming, noon, send } from './outbox-contract.ts'

const dayMs = 24 * 60 * 60_000
const welcoming = { ...confirming, welcomes: true } satisfies Partial<JournalPolicy>
const ignoring = { ...welcoming, duplicates: 'ignore' } satisfies Partial<JournalPolicy>
const addressing = { share: 'share', language: 'en' }

/** Sends the mails that wait. Returns the id of the last one. */
export async function link(journal: Journal, now = noon): Promise<string> {
  const mails = await claim(journal, now)
  for (const { number } of mails) await journal.outbox.settle(number, { kind: 'sent', at: now })
  return mails.at(-1)?.id ?? expect.fail('no mail was sent')
}

async function listed({ reader }: Pick<Journal, 'reader'>) {
  return (await reader.page(0, 1_000)).map(({ signup }) => signup)
}

/** A signup that is to be confirmed is durable, and not in the list. */
export const pendingSignups: readonly ContractTest[] = [
  {
    title: 'a pending signup has a status and no position, and changes nothing in the list',
    run: underPolicy(confirming, async (journal) => {
      const signup = makeFullSignup({ email: ada, receivedAt: noon })
      const [told] = resultsOf(await journal.intake.ask([signup], { addressing }))
      expect(told).toMatchObject({
        id: signup.id,
        receivedAt: noon,
        position: 0,
        beside: 'pending',
      })
      expect(await journal.intake.find(signup.id)).toEqual(told)
      expect(await listed(journal)).toEqual([])
      expect(await freezeNext(journal.delivery)).toBeUndefined()
      expect(await journal.reader.pending(0, 10)).toMatchObject([{ signup }])
      const { all, waiting } = await journal.reader.figures(noon, noon)
      expect([all.accepted, waiting]).toEqual([0, 0])
      expect(await journal.reader.beside()).toEqual({ pending: 1, suspect: 0, blocked: 0 })
    }),
  },

  {
    title: 'a repeated request gets the same signups, and those that were confirmed as they are',
    run: underPolicy(confirming, async (journal) => {
      // The journal tells by its own clock whether a pending signup has expired.
      const now = Date.now()
      const idempotency = { space: '', key: 'key', fingerprint: 'content' }
      const signups = ['a', 'b'].map((name) =>
        makeSignup({ email: `${name}@example.com`, receivedAt: now }),
      )
      const terms = { addressing, idempotency }
      const first = await journal.intake.ask(signups, terms)
      const again = await journal.intake.ask([makeSignup()], terms)
      expect(again).toEqual({ kind: 'replayed', results: resultsOf(first) })
      expect(await journal.intake.recall(idempotency)).toEqual(again)
      await journal.confirmation.confirm(await link(journal, now), now)
      const recalled = await journal.intake.recall(idempotency)
      const results = recalled?.kind === 'replayed' ? recalled.results : []
      expect(results.map((one) => one?.beside)).toEqual(['pending', undefined])
      expect(results[1]?.position).toBeGreaterThan(0)
      const other = { ...idempotency, fingerprint: 'other' }
      const mismatch = await journal.intake.ask([makeSignup()], { addressing, idempotency: other })
      expect(mismatch).toEqual({ kind: 'mismatch' })
    }),
  },

  {
    title: 'a challenge token is used once, by a pending signup, too',
    run: underPolicy(confirming, async (journal) => {
      const terms = { addressing, token: 'token' }
      expect(await journal.intake.ask([makeSignup()], terms)).toMatchObject({ kind: 'appended' })
      expect(await journal.intake.ask([makeSignup()], terms)).toEqual({ kind: 'tokenUsed' })
      expect(await journal.intake.append([makeSignup()], { token: 'token' })).toEqual({
        kind: 'tokenUsed',
      })
      expect(await journal.reader.pending(0, 10)).toHaveLength(1)
    }),
  },

  {
    title:
      'a pending signup opens no tab, and one whose tab would be one too many is refused at its place',
    run: underPolicy({ ...confirming, newTabsMax: 1 }, async (journal) => {
      const asked = ['A', 'B'].map((sheetTab) => makeSignup({ sheetTab, receivedAt: noon }))
      expect(resultsOf(await journal.intake.ask(asked, { addressing }))).not.toContain(undefined)
      await journal.intake.append([makeSignup({ sheetTab: 'C' })])
      const idempotency = { space: '', key: 'key', fingerprint: 'content' }
      const mixed = ['D', 'C'].map((sheetTab) => makeSignup({ sheetTab, receivedAt: noon }))
      const results = resultsOf(await journal.intake.ask(mixed, { addressing, idempotency }))
      expect(results.map((one) => one?.sheetTab)).toEqual([undefined, 'C'])
      expect(await journal.intake.recall(idempotency)).toEqual({ kind: 'replayed', results })
    }),
  },

  {
    title: 'it expires some days after its mail was sent, and loses its cells',
    run: underPolicy(confirming, async (journal) => {
      const [told] = resultsOf(await ask(journal))
      expect(await journal.confirmation.sweep(noon + 30 * dayMs)).toBe(false)
      expect(await journal.reader.pending(0, 10)).toHaveLength(1)
      const sentAt = Date.now()
      const id = await link(journal, sentAt)
      await journal.confirmation.sweep(sentAt + 7 * dayMs - 1)
      expect((await journal.confirmation.look(id, sentAt + 7 * dayMs - 1))?.state).toBe('pending')
      expect((await journal.confirmation.look(id, sentAt + 7 * dayMs))?.state).toBe('over')
      await journal.confirmation.sweep(sentAt + 7 * dayMs)
      expect(await journal.reader.pending(0, 10)).toEqual([])
      expect(await journal.confirmation.confirm(id, sentAt)).toMatchObject({ state: 'over' })
      expect((await journal.intake.find(told?.id ?? expect.fail()))?.beside).toBe('pending')
      expect((await journal.reader.beside()).pending).toBe(0)
    }),
  },

  {
    title:
      'an expired one stays so when a later mail is sent, and one of a forgotten person is not counted',
    run: underPolicy(confirming, async (journal) => {
      await ask(journal)
      await send(journal)
      const later = noon + 7 * dayMs
      await ask(journal, { sheetTab: 'Events' }, 'share', later)
      const asked = await link(journal, later)
      const state = await journal.confirmation.look(asked, later)
      expect(state).toMatchObject({ state: 'pending', tabs: ['Events'] })
      await journal.erasure.forget(ada)
      expect(await journal.reader.beside()).toMatchObject({ pending: 0 })
    }),
  },

  {
    title: 'an expired one is told as expired',
    run: underPolicy({ confirmation: { waitMs: 1 } }, async (journal) => {
      const [told] = resultsOf(await ask(journal))
      await link(journal)
      expect((await journal.intake.find(told?.id ?? expect.fail()))?.beside).toBe('expired')
    }),
  },

  {
    title: 'a suspect one gets no mail while there is a quarantine, until it is released, once',
    run: underPolicy({ ...confirming, quarantineTab: 'Quarantine' }, async (journal) => {
      const suspect: readonly Signal[] = ['hidden-field', 'stamp']
      await ask(journal, { suspect })
      await ask(journal, { email: 'bob@example.com', suspect })
      expect(await send(journal)).toEqual([])
      const figures = { pending: 2, suspect: 2, blocked: 0 }
      expect(await journal.reader.beside()).toEqual(figures)
      expect(await journal.reader.beside()).toEqual(figures)
      const held = await journal.reader.held(0, 10)
      expect(held.map(({ signup }) => signup.email)).toEqual([ada, 'bob@example.com'])
      expect(held[0]?.signup).toMatchObject({ suspect, sheetTab: 'Letters' })
      const ids = held.map(({ signup }) => signup.id)
      expect(await journal.quarantine.find(ids)).toEqual(held)
      const [first, second] = held.map(({ position }) => position)
      await journal.quarantine.erase([second ?? 0])
      await journal.quarantine.release([first ?? 0], noon)
      expect(await journal.reader.held(0, 10)).toEqual([])
      await journal.quarantine.release([first ?? 0], noon)
      expect(await send(journal, Date.now())).toEqual([ada])
      expect((await journal.reader.beside()).pending).toBe(1)
      expect(await journal.reader.pending(0, 10)).toMatchObject([{ signup: { email: ada } }])
    }),
  },

  {
    title: 'forget erases what is pending, its mail, and what a link can do',
    run: underPolicy(confirming, async (journal) => {
      const [told] = resultsOf(await ask(journal))
      const id = await link(journal)
      await ask(journal, { email: 'ADA@example.com', sheetTab: 'News' }, 'share', noon + dayMs)
      await journal.erasure.forget(ada)
      expect(await send(journal, noon + dayMs)).toEqual([])
      expect(await journal.reader.pending(0, 10)).toEqual([])
      expect(await journal.confirmation.confirm(id, noon)).toBeUndefined()
      expect((await journal.intake.find(told?.id ?? expect.fail()))?.beside).toBe('expired')
      const nothing = { pending: [], messages: [], block: undefined }
      expect(await journal.confirmation.ofPerson(ada)).toEqual(nothing)
      await ask(journal)
      expect(await send(journal, noon + 2 * dayMs)).toEqual([ada])
    }),
  },
]

/** Confirming puts a signup into the list, once. */
export const confirmedSignups: readonly ContractTest[] = [
  {
    title:
      'the confirmed signup is in the list with its id, its time, its cells and the time of the confirmation',
    run: underPolicy(confirming, async (journal) => {
      const signup = makeFullSignup({ email: ada, receivedAt: noon })
      await journal.intake.ask([signup], { addressing })
      const id = await link(journal)
      expect(await journal.confirmation.look(id, noon)).toMatchObject({
        ...{ kind: 'confirm', state: 'pending', tabs: [signup.sheetTab] },
      })
      expect(await listed(journal)).toEqual([])
      const confirmedAt = noon + 5
      const state = await journal.confirmation.confirm(id, confirmedAt)
      expect(state).toMatchObject({ state: 'confirmed', tabs: [signup.sheetTab] })
      expect(await listed(journal)).toEqual([{ ...signup, confirmedAt }])
      const batch = await freezeNext(journal.delivery)
      expect(batch?.tabs.flatMap((tab) => tab.signups)).toEqual([{ ...signup, confirmedAt }])
      expect(await journal.intake.find(signup.id)).not.toHaveProperty('beside')
      expect((await journal.reader.figures(noon, noon)).all.accepted).toBe(1)
      expect((await journal.reader.beside()).pending).toBe(0)
    }),
  },

  {
    title: 'it is added once, whoever confirms it how often, by several instances',
    run: inTwo(async (one, other) => {
      await ask(one)
      const id = await link(one)
      const confirm = (journal: Journal) => journal.confirmation.confirm(id, noon)
      const states = await Promise.all([one, other, one, other].map(confirm))
      expect(states.map((it) => it?.state)).toEqual(Array(4).fill('confirmed'))
      expect(await listed(one)).toHaveLength(1)
    }, confirming),
  },

  {
    title: 'of each tab the newest one of the address counts, whatever the case of letters',
    run: underPolicy(confirming, async (journal) => {
      await ask(journal, { name: 'first' })
      await ask(journal, { name: 'second', email: 'ADA@example.com', sheetTab: 'letters' })
      await ask(journal, { name: 'other', sheetTab: 'News' })
      await ask(journal, { name: 'Bob', email: 'bob@example.com' })
      const [mail] = await claim(journal)
      await journal.outbox.settle(mail?.number ?? 0, { kind: 'sent', at: noon })
      await journal.confirmation.confirm(mail?.id ?? '', noon)
      expect((await listed(journal)).map(({ name }) => name)).toEqual(['second', 'other'])
      expect(await journal.reader.pending(0, 10)).toMatchObject([{ signup: { name: 'Bob' } }])
    }),
  },

  {
    title: 'duplicates are found when it is confirmed, and such a one is not greeted',
    run: underPolicy(ignoring, async (journal) => {
      await journal.intake.append([makeSignup({ email: ada, sheetTab: 'Letters' })])
      await ask(journal)
      const [mail] = await claim(journal)
      expect(mail?.isListed).toBe(true)
      await journal.outbox.settle(mail?.number ?? 0, { kind: 'sent', at: noon })
      await journal.confirmation.confirm(mail?.id ?? '', noon)
      expect(addressesOf(await freezeNext(journal.delivery))).toEqual({ Letters: [ada] })
      expect(await send(journal, noon + dayMs)).toEqual([])
    }),
  },

  {
    title: 'a confirmed signup counts in the hour of its request',
    run: underPolicy(confirming, async (journal) => {
      await ask(journal)
      await journal.confirmation.confirm(await link(journal), noon + dayMs)
      const { hours } = await journal.reader.figures(noon, noon + dayMs)
      const none = { accepted: 0, written: 0, suspect: 0, erased: 0, asked: 0, confirmed: 0 }
      expect(hours).toEqual([
        { ...none, from: noon, accepted: 1, asked: 1 },
        { ...none, from: noon + dayMs, confirmed: 1 },
      ])
    }),
  },

  {
    title: 'a further mail that asks is not handed over any more once all is confirmed',
    run: underPolicy(confirming, async (journal) => {
      await ask(journal)
      const id = await link(journal)
      const later = noon + dayMs
      await ask(journal, { sheetTab: 'News' }, 'share', later)
      const [mail] = await claim(journal, later)
      expect(await journal.outbox.isClaimed(mail?.number ?? 0, 'me')).toBe(true)
      await journal.confirmation.confirm(id, later)
      expect(await journal.outbox.isClaimed(mail?.number ?? 0, 'me')).toBe(false)
    }),
  },

  {
    title: 'who confirms is greeted at once, and once for all tabs',
    run: underPolicy(welcoming, async (journal) => {
      await ask(journal)
      await ask(journal, { sheetTab: 'News' })
      await journal.confirmation.confirm(await link(journal), noon)
      const mails = await claim(journal)
      expect(mails).toMatchObject([{ kind: 'welcome', email: ada, language: 'de' }])
    }),
  },

  {
    title: 'a welcome that waits is not lost when more is confirmed',
    run: underPolicy(welcoming, async (journal) => {
      await ask(journal)
      const asked = await link(journal)
      await journal.confirmation.confirm(asked, noon)
      await ask(journal, { sheetTab: 'Events' }, 'share', noon + 1)
      await journal.confirmation.confirm(asked, noon + 1)
      expect(await claim(journal, noon + 2)).toMatchObject([{ kind: 'welcome', email: ada }])
    }),
  },

  {
    title: 'a confirmed signup whose new tab would be one too many goes to the default tab',
    run: underPolicy(
      { ...confirming, newTabsMax: 1, defaultTab: { name: 'Home' }, namedTabs: ['Home'] },
      async (journal) => {
        await ask(journal, { sheetTab: 'A' })
        await ask(journal, { sheetTab: 'B' })
        await journal.confirmation.confirm(await link(journal), noon)
        const tabs = (await listed(journal)).map(({ sheetTab }) => sheetTab)
        expect(tabs.toSorted()).toEqual(['A', 'Home'])
      },
    ),
  },

  {
    title: 'what is pending is confirmed after confirmation was switched off',
    run: async (world) => {
      let id: string
      {
        await using journal = await world.open(confirming)
        await ask(journal)
        id = await link(journal)
      }
      await using journal = await world.open()
      expect((await journal.confirmation.confirm(id, noon))?.state).toBe('confirmed')
      expect(await listed(journal)).toHaveLength(1)
    },
  },
]

/** What people say who did not ask for it, or have enough. */
export const decisions: readonly ContractTest[] = [
  {
    title: 'who says "that was not me" gets nothing more, until they change their mind',
    run: underPolicy(confirming, async (journal) => {
      const [told] = resultsOf(await ask(journal))
      const id = await link(journal)
      const declined = await journal.confirmation.decline(id, noon)
      expect(declined).toMatchObject({ state: 'declined', returnableUntil: noon + 7 * dayMs })
      expect((await journal.reader.beside()).pending).toBe(0)
      const [again] = resultsOf(await ask(journal, {}, 'share', noon + dayMs))
      expect(again?.beside).toBe('pending')
      expect(await send(journal, noon + 3 * dayMs)).toEqual([])
      expect(await journal.confirmation.ofPerson(ada)).toMatchObject({ block: { why: 'declined' } })
      expect(await journal.confirmation.confirm(id, noon + 2 * dayMs)).toMatchObject({
        state: 'confirmed',
      })
      expect((await listed(journal)).map((it) => it.id)).toEqual([again?.id])
      expect(told?.id).not.toBe(again?.id)
      expect((await journal.confirmation.ofPerson(ada)).block).toBeUndefined()
    }),
  },

  {
    title: 'who declined gets nothing at another spelling of the mailbox, nor what waits for it',
    run: underPolicy(confirming, async (journal) => {
      const spellings = ['ada@gmail.com', 'a.da@gmail.com', 'ada+1@gmail.com']
      for (const email of spellings) await ask(journal, { email })
      await journal.confirmation.decline(await link(journal), noon)
      await ask(journal, { email: 'ada+2@gmail.com' }, 'share', noon + dayMs)
      expect(await send(journal, noon + 2 * dayMs)).toEqual([])
      expect(await journal.confirmation.allow('ADA+7@gmail.com')).toBe(true)
    }),
  },

  {
    title:
      'who declined at one spelling of the mailbox gets nothing at another, until they confirm there',
    run: underPolicy(confirming, async (journal) => {
      await ask(journal, { email: 'ada+1@gmail.com' })
      const id = await link(journal)
      await journal.confirmation.decline(id, noon)
      await ask(journal, { email: 'ada+2@gmail.com' }, 'share', noon + dayMs)
      expect(await send(journal, noon + dayMs)).toEqual([])
      await journal.confirmation.confirm(id, noon + dayMs)
      await ask(journal, { email: 'ada+3@gmail.com' }, 'share', noon + 2 * dayMs)
      expect(await send(journal, noon + 2 * dayMs)).toEqual(['ada+3@gmail.com'])
    }),
  },

  {
    title: 'who declined can come back for seven days, and is no longer told so after thirty',
    run: underPolicy(confirming, async (journal) => {
      const { confirmation } = journal
      await ask(journal)
      const id = await link(journal)
      await confirmation.decline(id, noon)
      expect(await confirmation.confirm(id, noon + 7 * dayMs)).toMatchObject({
        ...{ state: 'declined', returnableUntil: undefined },
      })
      expect(await listed(journal)).toEqual([])
      expect((await confirmation.look(id, noon + 30 * dayMs - 1))?.state).toBe('declined')
      expect((await confirmation.look(id, noon + 30 * dayMs))?.state).toBe('over')
    }),
  },

  {
    title: 'who is forgotten and signs up anew is not told that they are on the list',
    run: underPolicy(confirming, async (journal) => {
      await journal.intake.append([makeSignup({ email: ada })])
      await journal.erasure.forget(ada)
      await ask(journal)
      expect(await claim(journal)).toMatchObject([{ isListed: false }])
    }),
  },

  {
    title: 'who left at one spelling of the mailbox is asked at another one',
    run: underPolicy(welcoming, async (journal) => {
      await ask(journal, { email: 'ada@gmail.com' })
      await journal.confirmation.confirm(await link(journal), noon)
      await journal.confirmation.leave(await link(journal), noon)
      await ask(journal, { email: 'ada+1@gmail.com' }, 'share', noon + dayMs)
      expect(await send(journal, noon + dayMs)).toEqual(['ada+1@gmail.com'])
    }),
  },

  {
    title: 'who has confirmed stays on the list, whatever the same link says later',
    run: underPolicy(confirming, async (journal) => {
      await ask(journal)
      const id = await link(journal)
      await journal.confirmation.confirm(id, noon)
      expect(await journal.confirmation.decline(id, noon)).toMatchObject({ state: 'confirmed' })
      expect((await journal.confirmation.ofPerson(ada)).block).toBeUndefined()
    }),
  },

  {
    title:
      'who comes back by the link to leave confirms nothing that others have asked for meanwhile',
    run: underPolicy(welcoming, async (journal) => {
      await journal.intake.append([makeSignup({ email: ada, sheetTab: 'Letters' })], {
        greeting: addressing,
      })
      const id = await link(journal)
      await journal.confirmation.leave(id, noon)
      await ask(journal, { sheetTab: 'Evil' })
      await journal.confirmation.confirm(id, noon)
      expect((await listed(journal)).map(({ sheetTab }) => sheetTab)).toEqual(['Letters'])
      expect(await journal.reader.pending(0, 10)).toMatchObject([{ signup: { sheetTab: 'Evil' } }])
    }),
  },

  {
    title: 'who leaves takes nothing out of the quarantine, nor to the list when they come back',
    run: underPolicy({ ...welcoming, quarantineTab: 'Quarantine' }, async (journal) => {
      await ask(journal)
      await journal.confirmation.confirm(await link(journal), noon)
      const welcome = await link(journal)
      await journal.intake.append([makeSignup({ email: ada, suspect: ['hidden-field'] })])
      await journal.confirmation.leave(welcome, noon)
      expect(await journal.reader.held(0, 10)).toMatchObject([{ signup: { email: ada } }])
      await journal.confirmation.confirm(welcome, noon)
      expect((await listed(journal)).filter(({ email }) => email !== '')).toHaveLength(2)
    }),
  },

  {
    title: 'the block of who declined ends after thirty days, and outlives forget',
    run: underPolicy(confirming, async (journal) => {
      await ask(journal)
      await journal.confirmation.decline(await link(journal), noon)
      await journal.erasure.forget(ada)
      await ask(journal, {}, 'share', noon + 29 * dayMs)
      expect(await send(journal, noon + 29 * dayMs)).toEqual([])
      await ask(journal, {}, 'share', noon + 30 * dayMs)
      expect(await send(journal, noon + 30 * dayMs)).toEqual([ada])
    }),
  },

  {
    title: 'who leaves has no row and gets no mail, and may come back for a day',
    run: underPolicy(welcoming, async (journal) => {
      const greeting = addressing
      const signup = makeFullSignup({ email: ada, receivedAt: noon })
      await journal.intake.append([signup], { greeting })
      const id = await link(journal)
      const batch = await freezeNext(journal.delivery)
      await journal.delivery.settle(batch?.number ?? 0, noon)
      const left = await journal.confirmation.leave(id, noon)
      expect(left).toMatchObject({ kind: 'welcome', state: 'left', returnableUntil: noon + dayMs })
      expect(await listed(journal)).toEqual([])
      const [row, ...others] = await journal.erasure.removals(0)
      expect([row?.email, row?.receivedAt, others]).toEqual([ada, noon, []])
      await journal.intake.append([makeSignup({ email: 'ADA@example.com' })], { greeting })
      expect(await send(journal, noon + dayMs)).toEqual([])
      expect((await journal.confirmation.leave(id, noon))?.state).toBe('left')
      const back = await journal.confirmation.confirm(id, noon + 5)
      expect(back?.state).toBe('confirmed')
      const returned = (await listed(journal)).filter(({ name }) => name === signup.name)
      const { id: newId = '', ...cells } = returned[0] ?? {}
      const { id: oldId, ...before } = signup
      // One millisecond later, so that the removal of the old row does not find the new one.
      expect(cells).toEqual({ ...before, receivedAt: noon + 1, confirmedAt: noon + 5 })
      expect(newId).not.toBe(oldId)
    }),
  },

  {
    title:
      'after a day nothing of who left is in the journal but a hash, until the owner allows mails again',
    run: underPolicy(welcoming, async (journal) => {
      await journal.intake.append([makeSignup({ email: ada })], { greeting: addressing })
      const id = await link(journal)
      await journal.confirmation.leave(id, noon)
      await journal.confirmation.sweep(noon + dayMs)
      const state = await journal.confirmation.confirm(id, noon + dayMs)
      expect(state).toMatchObject({ state: 'left', returnableUntil: undefined })
      expect(await journal.confirmation.ofPerson(ada)).toMatchObject({
        ...{ pending: [], block: { why: 'left', until: undefined } },
      })
      await ask(journal, {}, 'share', noon + 2 * dayMs)
      expect(await send(journal, noon + 2 * dayMs)).toEqual([])
      expect(await journal.confirmation.allow(ada)).toBe(true)
      expect(await journal.confirmation.allow(ada)).toBe(false)
      expect(await send(journal, noon + 3 * dayMs)).toEqual([ada])
    }),
  },

  {
    title: 'who left, and declines what was asked before, gets nothing for longer than thirty days',
    run: underPolicy(welcoming, async (journal) => {
      await ask(journal)
      await journal.confirmation.confirm(await link(journal), noon)
      const welcome = await link(journal)
      const later = noon + dayMs
      await ask(journal, { sheetTab: 'News' }, 'share', later)
      const asked = await link(journal, later)
      await journal.confirmation.leave(welcome, later)
      await journal.confirmation.decline(asked, later)
      const { block } = await journal.confirmation.ofPerson(ada)
      expect(block).toMatchObject({ why: 'left', until: undefined })
    }),
  },

  {
    title: 'who left for good and confirms anew can leave again by the same link',
    run: underPolicy(welcoming, async (journal) => {
      await ask(journal)
      const asked = await link(journal)
      await journal.confirmation.confirm(asked, noon)
      const welcome = await link(journal)
      await journal.confirmation.leave(welcome, noon)
      const later = noon + 2 * dayMs
      await journal.confirmation.sweep(later)
      await ask(journal, { sheetTab: 'News' }, 'share', later)
      await journal.confirmation.confirm(asked, later)
      const all = async () => (await listed(journal)).filter(({ email }) => email !== '')
      expect(await all()).toHaveLength(1)
      await journal.confirmation.leave(welcome, later)
      expect(await all()).toEqual([])
    }),
  },

  {
    title: 'who leaves takes ignored duplicates along, and brings them back as such',
    run: underPolicy(ignoring, async (journal) => {
      await ask(journal)
      await journal.confirmation.confirm(await link(journal), noon)
      const welcome = await link(journal)
      const later = noon + dayMs
      await ask(journal, { name: 'Again' }, 'share', later)
      await journal.confirmation.confirm(await link(journal, later), later)
      await journal.confirmation.leave(welcome, later)
      const all = async () => (await listed(journal)).filter(({ email }) => email !== '')
      expect(await all()).toEqual([])
      await journal.confirmation.confirm(welcome, later)
      expect((await all()).map(({ name }) => name)).toEqual(['', 'Again'])
    }),
  },

  {
    title: 'who has more rows in a batch on its way than leave at once leaves with all of them',
    run: underPolicy(welcoming, async (journal) => {
      await ask(journal)
      await journal.confirmation.confirm(await link(journal), noon)
      const welcome = await link(journal)
      const many = Array.from({ length: 120 }, () => makeSignup({ email: ada, receivedAt: noon }))
      await journal.intake.append(many)
      await freezeNext(journal.delivery, { rowsMax: 200 })
      expect(await journal.confirmation.leave(welcome, noon)).toMatchObject({ state: 'left' })
      const { pending } = await journal.confirmation.ofPerson(ada)
      expect(pending).toHaveLength(121)
    }),
  },

  {
    title: 'a link that the journal does not know, or of another purpose, changes nothing',
    run: underPolicy(welcoming, async (journal) => {
      await ask(journal)
      const id = await link(journal)
      for (const unknown of ['', 'x', id.slice(1)]) {
        expect(await journal.confirmation.look(unknown, noon)).toBeUndefined()
        expect(await journal.confirmation.confirm(unknown, noon)).toBeUndefined()
        expect(await journal.confirmation.decline(unknown, noon)).toBeUndefined()
        expect(await journal.confirmation.leave(unknown, noon)).toBeUndefined()
      }
      expect((await journal.confirmation.leave(id, noon))?.state).toBe('pending')
      expect((await journal.confirmation.look(id, noon))?.state).toBe('pending')
    }),
  },
]
