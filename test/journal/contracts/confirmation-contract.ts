import { expect } from 'vitest'

import { freezeNext } from '../../../harness/freeze-next.ts'
import {
  addressesOf,
  makeFullSignup,
  makeSignup,
  makeSignups,
} from '../../../harness/make-signup.ts'
import { ManualClock } from '../../../harness/manual-clock.ts'
import type { Journal, JournalPolicy } from '../../../src/journal/contracts/journal.ts'
import type { MessageOutcome } from '../../../src/journal/contracts/outbox.ts'
import type { Signup } from '../../../src/signup/signup.ts'
import type { Signal } from '../../../src/signup/suspicion.ts'
import { type ContractTest, inTwo, nothing, resultsOf, underPolicy } from './contract.ts'
import { deliver } from './erasure-contract.ts'
import { ada, ask, claim, confirming, noon, send } from './outbox-contract.ts'

const hourMs = 60 * 60_000
const dayMs = 24 * hourMs
const welcoming = { ...confirming, welcomes: true } satisfies Partial<JournalPolicy>
const ignoring = { ...welcoming, duplicates: 'ignore' } satisfies Partial<JournalPolicy>
const addressing = { share: 'share', language: 'en' }
const nothingMore = { consent: undefined, address: undefined, rowStays: false }

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
      const { all, waiting } = await journal.reader.figures()
      expect([all, waiting]).toEqual([{ ...nothing, pending: 1 }, 0])
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
    title:
      'a tab that is asked for counts among the new ones of its client for an hour, once, and confirming counts for nobody',
    run: inTwo(
      async (one, other) => {
        const client = '192.0.2.1'
        const askFor = async (journal: Journal, tabs: readonly string[], by: string, at = noon) => {
          const signups = tabs.map((sheetTab) =>
            makeSignup({ email: `${sheetTab}@example.com`, sheetTab, receivedAt: at }),
          )
          const results = resultsOf(await journal.intake.ask(signups, { addressing, client: by }))
          return results.map((it) => it?.sheetTab)
        }
        const asked = await askFor(one, ['A', 'Sheet1', 'a', 'B', 'C', 'b'], client)
        expect(asked).toEqual(['A', 'Sheet1', 'a', 'B', undefined, 'b'])
        expect(await askFor(other, ['D', 'B', 'A'], client)).toEqual([undefined, 'B', 'A'])
        const takes = (tab: string) => one.intake.takesTab(tab, noon, client)
        expect([await takes('A'), await takes('New')]).toEqual([true, false])
        const atOnce = ['W', 'X', 'Y', 'Z'].map((tab, at) =>
          askFor(at % 2 ? one : other, [tab], '192.0.2.2'),
        )
        expect((await Promise.all(atOnce)).flat().filter(Boolean)).toHaveLength(2)
        await one.confirmation.confirm(await link(one), noon)
        expect(await takes('New')).toBe(false)
        const appended = makeSignup({ sheetTab: 'New', receivedAt: noon })
        expect(resultsOf(await one.intake.append([appended], { client }))).toEqual([undefined])
        const later = await askFor(one, ['P', 'Q', 'R'], client, noon + hourMs)
        expect(later).toEqual(['P', 'Q', undefined])
      },
      { ...confirming, newTabsMax: 100, newTabsPerHourMax: 2, namedTabs: ['Sheet1'] },
    ),
  },

  {
    title: 'when it ends is known as soon as its mail was sent, and of a held one from the first',
    run: underPolicy({ ...confirming, holdsSuspects: true }, async (journal) => {
      const endsOf = async (email: string) => {
        const { pending } = await journal.confirmation.ofPerson(email)
        const { signups } = await journal.reader.recent({ isBeside: true })
        const recent = signups.filter(({ signup }) => signup.email === email)
        return [...pending, ...recent].map(({ until }) => until)
      }
      await ask(journal)
      expect(await endsOf(ada)).toEqual([undefined, undefined])
      const mails = await claim(journal)
      expect(mails).toMatchObject([{ linkUntil: noon + 7 * dayMs }])
      expect(await endsOf(ada)).toEqual([undefined, undefined])
      for (const { number } of mails)
        await journal.outbox.settle(number, { kind: 'sent', at: noon + hourMs })
      const end = noon + hourMs + 7 * dayMs
      expect(await endsOf(ada)).toEqual([end, end])
      await ask(journal, { email: 'bob@example.com', suspect: ['hidden-field'] })
      await send(journal)
      const gone = noon + 90 * dayMs
      expect(await endsOf('bob@example.com')).toEqual([gone, gone])
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
      // At the full hour.
      const end = Math.ceil(sentAt / hourMs) * hourMs + 7 * dayMs
      await journal.confirmation.sweep(end - 1)
      expect((await journal.confirmation.look(id, end - 1))?.state).toBe('pending')
      expect((await journal.confirmation.look(id, end))?.state).toBe('over')
      await journal.confirmation.sweep(end)
      expect(await journal.reader.pending(0, 10)).toEqual([])
      expect(await journal.confirmation.confirm(id, sentAt)).toMatchObject({ state: 'over' })
      expect((await journal.intake.find(told?.id ?? expect.fail()))?.beside).toBe('pending')
      expect((await journal.reader.figures()).all.pending).toBe(0)
    }),
  },

  {
    title: 'one sweep ends at most fifty, as others wait for it, and says that there may be more',
    run: underPolicy(confirming, async (journal) => {
      await journal.intake.ask(makeSignups(80, { receivedAt: noon }), { addressing })
      expect(await journal.confirmation.sweep(noon + 400 * dayMs)).toBe(true)
      expect(await journal.reader.pending(0, 1_000)).toHaveLength(30)
    }),
  },

  {
    title:
      'an expired one stays so when a later mail is sent, and one of a forgotten person is not counted',
    run: underPolicy({ ...confirming, namedTabs: ['Events'] }, async (journal) => {
      await ask(journal)
      await send(journal)
      const later = noon + 7 * dayMs
      await ask(journal, { sheetTab: 'Events' }, 'share', later)
      const asked = await link(journal, later)
      const state = await journal.confirmation.look(asked, later)
      expect(state).toMatchObject({ state: 'pending', tabs: ['Events'] })
      await journal.erasure.forget(ada)
      expect((await journal.reader.figures()).all.pending).toBe(0)
    }),
  },

  {
    title: 'a suspect one gets no mail where suspect ones are held, until it is released, once',
    run: underPolicy({ ...confirming, holdsSuspects: true }, async (journal) => {
      const suspect: readonly Signal[] = ['hidden-field', 'stamp']
      await ask(journal, { suspect })
      await ask(journal, { email: 'bob@example.com', suspect })
      expect(await send(journal)).toEqual([])
      expect((await journal.reader.figures()).all).toMatchObject({ pending: 2, held: 2, asked: 0 })
      expect(await journal.reader.beside()).toEqual({ suspect: 2, held: 0, blocked: 0 })
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
      expect((await journal.reader.figures()).all.pending).toBe(1)
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

/** What can become of a pending signup; the mailbox of 'ada@gmail.com' is that of 'a.da@gmail.com'. */
const paths: Readonly<Record<string, (journal: Journal) => Promise<unknown>>> = {
  'is asked for': (journal) => ask(journal),
  'has a mail that is being sent': async (journal) => {
    await ask(journal)
    await claim(journal)
  },
  'has a mail that was sent': async (journal) => {
    await ask(journal)
    await link(journal)
    for (const sheetTab of ['', 'News', 'Letters']) await ask(journal, { sheetTab })
    await claim(journal, noon, { max: 0 })
  },
  'has a mail that failed': async (journal) => {
    await ask(journal)
    const [mail] = await claim(journal)
    const failed = { kind: 'failed', at: noon, reason: 'refused' } as const
    await journal.outbox.settle(mail?.number ?? 0, failed)
  },
  'was declined': async (journal) => {
    for (const sheetTab of ['', 'News']) await ask(journal, { sheetTab })
    await journal.confirmation.decline(await link(journal), noon)
    await ask(journal)
    await claim(journal, noon, { max: 0 })
  },
  'has a mail that is dropped, as another spelling was declined': async (journal) => {
    await ask(journal, { email: 'ada@gmail.com' })
    await ask(journal, { email: 'a.da@gmail.com' })
    await journal.confirmation.decline(await link(journal), noon)
    await ask(journal, { email: 'ada+1@gmail.com' })
    for (let hours = 0; hours < 48; hours++) await send(journal, noon + hours * hourMs)
  },
  'is of somebody who has left meanwhile': async (journal) => {
    await journal.intake.append([makeSignup({ email: ada })], { greeting: addressing })
    const welcome = await link(journal)
    for (const sheetTab of ['', 'News']) await ask(journal, { sheetTab })
    await claim(journal, noon, { max: 0 })
    await journal.confirmation.leave(welcome, noon)
    await ask(journal)
  },
  'is held, or was released': async (journal) => {
    for (const name of ['a', 'b'])
      await ask(journal, { email: `${name}@example.com`, suspect: ['hidden-field'] })
    const [first] = await journal.reader.held(0, 1)
    await journal.quarantine.release([first?.position ?? 0], noon)
  },
}

/** Every pending signup has an end from its first commit. */
export const endsOfPending: readonly ContractTest[] = [
  ...Object.entries(paths).map(([path, walk]): ContractTest => ({
    title: `a pending signup that ${path} ends, also when confirmation is switched off`,
    run: async (world) => {
      {
        await using journal = await world.open({ ...welcoming, holdsSuspects: true })
        await walk(journal)
      }
      await using journal = await world.open()
      while (await journal.confirmation.sweep(noon + 400 * dayMs));
      expect(await journal.reader.pending(0, 10)).toEqual([])
      expect(await journal.reader.held(0, 10)).toEqual([])
      expect((await journal.reader.figures()).all.pending).toBe(0)
    },
  })),

  {
    title: 'one whose mail nobody gets, as its mailbox was declined, ends when others do',
    run: underPolicy(confirming, async (journal) => {
      await ask(journal, { email: 'ada@gmail.com' })
      await journal.confirmation.decline(await link(journal), noon)
      const later = noon + dayMs
      const endOf = async (email: string) => {
        const { pending } = await journal.confirmation.ofPerson(email)
        return pending.map(({ until }) => until)
      }
      const emails = ['a.da@gmail.com', 'b.ob@gmail.com']
      for (const email of emails)
        for (const sheetTab of ['', 'News']) await ask(journal, { email, sheetTab }, email, later)
      for (let hours = 0; hours < 3; hours++)
        expect(await send(journal, later + hours * hourMs)).not.toContain(emails[0])
      const [blocked, other] = await Promise.all(emails.map(endOf))
      expect(blocked).toEqual([later + 7 * dayMs, later + 7 * dayMs + hourMs])
      expect(other).toEqual(blocked)
    }),
  },

  {
    title: 'what is asked for after "that was not me" ends when it would without it',
    run: underPolicy(confirming, async (journal) => {
      const at = (minutes: number) => noon + minutes * (hourMs / 60)
      const emails = ['bob@example.com', ada]
      for (const email of emails) await ask(journal, { email }, email, at(50))
      await journal.confirmation.decline(await link(journal, at(50)), at(50))
      for (const email of emails)
        for (const sheetTab of ['Letters', 'News'])
          await ask(journal, { email, sheetTab }, email, at(55))
      for (let minutes = 55; minutes < 120; minutes += 5)
        expect(await send(journal, at(minutes))).not.toContain(ada)
      const ends = emails.map(async (email) => {
        const { pending } = await journal.confirmation.ofPerson(email)
        return pending.slice(-2).map(({ until = 0 }) => until - noon - 7 * dayMs)
      })
      const [bobs, adas] = await Promise.all(ends)
      expect(bobs).toEqual([hourMs, 2 * hourMs])
      expect(adas).toEqual(bobs)
    }),
  },

  {
    title:
      'what is asked for after "that was not me" is tried for as long as others, and ends with them',
    run: underPolicy(confirming, async (journal) => {
      await ask(journal)
      await journal.confirmation.decline(await link(journal), noon)
      const emails = [ada, 'bob@example.com']
      for (const email of emails) await ask(journal, { email }, email, noon + hourMs)
      const tries = (at: number): readonly MessageOutcome[] => [
        { kind: 'untried', nextAt: at + hourMs },
        { kind: 'later', at, nextAt: at + hourMs, reason: 'busy' },
      ]
      for (const hours of [1, 2]) {
        const at = noon + hours * hourMs
        const mails = await claim(journal, at)
        expect(mails.map(({ isUnwanted }) => isUnwanted)).toEqual([true, false])
        const outcome = tries(at)[hours - 1] ?? expect.fail()
        for (const { number } of mails) await journal.outbox.settle(number, outcome)
      }
      const failed = (await journal.outbox.figures(['confirm'])).failed
      expect(await send(journal, noon + 5 * hourMs)).toEqual(['bob@example.com'])
      const ends = emails.map(async (email) => {
        const { pending } = await journal.confirmation.ofPerson(email)
        return pending.map(({ until = 0 }) => until - noon)
      })
      expect(await Promise.all(ends)).toEqual([[7 * dayMs + 5 * hourMs], [7 * dayMs + 5 * hourMs]])
      expect(failed?.tries).toBe(1)
    }),
  },

  {
    title: 'one that is released when it has expired for its sender stays so until it is confirmed',
    run: underPolicy({ confirmation: { waitMs: 1 }, holdsSuspects: true }, async (journal) => {
      const [told] = resultsOf(await ask(journal, { suspect: ['hidden-field'] }))
      const status = async () => await journal.intake.find(told?.id ?? expect.fail())
      expect(await claim(journal)).toEqual([])
      expect((await status())?.beside).toBe('expired')
      const [held] = await journal.reader.held(0, 1)
      const now = Date.now()
      await journal.quarantine.release([held?.position ?? 0], now)
      const id = await link(journal, now)
      expect((await status())?.beside).toBe('expired')
      await journal.confirmation.confirm(id, now)
      expect(await status()).not.toHaveProperty('beside')
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
        ...{ kind: 'confirm', state: 'pending', address: 'a…@example.com' },
      })
      expect(await listed(journal)).toEqual([])
      const confirmedAt = noon + 5
      const state = await journal.confirmation.confirm(id, confirmedAt)
      expect(state).toMatchObject({ state: 'confirmed', address: 'a…@example.com' })
      expect(await journal.reader.waitingSince([]), 'not since it was asked for').toBe(confirmedAt)
      expect(await listed(journal)).toEqual([{ ...signup, confirmedAt }])
      const batch = await freezeNext(journal.delivery)
      expect(batch?.tabs.flatMap((tab) => tab.signups)).toEqual([{ ...signup, confirmedAt }])
      expect(await journal.intake.find(signup.id)).not.toHaveProperty('beside')
      expect((await journal.reader.figures()).all).toMatchObject({ accepted: 1, pending: 0 })
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
    title:
      'a link confirms what its mail was for: what was asked for later ends, and one of another tab gets a mail of its own',
    run: underPolicy(
      { ...confirming, namedTabs: ['News'], wordings: ['I agree.'] },
      async (journal) => {
        await ask(journal, { name: 'first', metadata: '{"consent":"I agree."}' })
        const id = await link(journal)
        const later = { email: 'ADA@example.com', metadata: '{"consent":"Evil."}' }
        await ask(journal, { name: 'second', ...later, sheetTab: 'letters' })
        await ask(journal, { name: 'third', ...later })
        await ask(journal, { name: 'other', ...later, sheetTab: 'news' })
        await ask(journal, { name: 'strange', ...later, sheetTab: 'Evil' })
        await ask(journal, { name: 'Bob', email: 'bob@example.com' })
        expect(await send(journal)).toEqual(['bob@example.com'])
        // 'Letters' is there in no settings, and nobody was confirmed there.
        expect(await journal.confirmation.look(id, noon)).toMatchObject({
          ...{ state: 'pending', tabs: [], otherTabs: ['news'], consent: 'I agree.' },
        })
        await journal.confirmation.confirm(id, noon)
        expect((await listed(journal)).map(({ name }) => name)).toEqual(['first'])
        const names = (await journal.reader.pending(0, 10)).map(({ signup }) => signup.name)
        expect(names).toEqual(['other', 'strange', 'Bob'])
        expect(await send(journal, noon + hourMs / 4)).toEqual(['ADA@example.com'])
      },
    ),
  },

  {
    title:
      'confirming ends what was asked for later in that tab, held ones too, and nothing that was asked for before',
    run: underPolicy({ ...confirming, holdsSuspects: true }, async (journal) => {
      await ask(journal, { name: 'first' })
      await ask(journal, { name: 'held first', suspect: ['links'] })
      const first = await link(journal)
      const later = noon + hourMs
      await ask(journal, { name: 'second' }, 'share', later)
      const second = await link(journal, later)
      await ask(journal, { name: 'third' }, 'share', later)
      await ask(journal, { name: 'held last', suspect: ['links'] }, 'share', later)
      await ask(journal, { name: 'held elsewhere', suspect: ['links'], sheetTab: 'News' })
      await journal.confirmation.confirm(second, later)
      const names = async () =>
        (await journal.reader.pending(0, 10)).map(({ signup }) => signup.name)
      expect(await names()).toEqual(['first', 'held first', 'held elsewhere'])
      expect((await journal.reader.held(0, 10)).length).toBe(2)
      await journal.confirmation.confirm(first, later)
      expect((await listed(journal)).map(({ name }) => name)).toEqual(['second', 'first'])
      expect(await names()).toEqual(['held elsewhere'])
    }),
  },

  {
    title:
      'of one person 20 signups are pending: a new one ends the newest whose mail was not sent',
    run: underPolicy(confirming, async (journal) => {
      const names = Array.from({ length: 25 }, (_, index) => `${index + 1}`)
      for (const name of names) await ask(journal, { name, sheetTab: name })
      const sent = await link(journal)
      const pending = async () =>
        (await journal.reader.pending(0, 100)).map(({ signup }) => signup.name)
      expect(await pending()).toEqual([...names.slice(0, 19), '25'])
      for (const name of ['26', '27']) await ask(journal, { name, sheetTab: name })
      await claim(journal)
      expect(await pending()).toEqual([...names.slice(0, 19), '27'])
      expect((await journal.reader.figures()).all.pending).toBe(20)
      await journal.confirmation.confirm(sent, noon)
      expect((await listed(journal)).map(({ name }) => name)).toEqual(['1'])
    }),
  },

  {
    title: 'held ones count among the 20 of a person, and end as those do whose mail was not sent',
    run: underPolicy({ ...confirming, holdsSuspects: true }, async (journal) => {
      const names = Array.from({ length: 25 }, (_, index) => `${index + 1}`)
      for (const name of names) await ask(journal, { name, suspect: ['hidden-field'] })
      expect(await claim(journal)).toEqual([])
      const held = async () => (await journal.reader.held(0, 100)).map(({ signup }) => signup.name)
      expect(await held()).toEqual([...names.slice(0, 19), '25'])
      await ask(journal)
      expect(await send(journal)).toEqual([ada])
      expect(await held()).toEqual(names.slice(0, 19))
      expect((await journal.reader.figures()).all.pending).toBe(20)
    }),
  },

  {
    title:
      'one whose mail was sent is ended by nobody who asks beyond the 20, though it is the newest',
    run: underPolicy({ ...confirming, holdsSuspects: true }, async (journal) => {
      for (let at = 0; at < 19; at++) await ask(journal, { suspect: ['hidden-field'] })
      await ask(journal, { name: 'asked' })
      const sent = await link(journal)
      await ask(journal, { suspect: ['hidden-field'] })
      expect(await claim(journal)).toEqual([])
      expect(await journal.reader.held(0, 100)).toHaveLength(19)
      await journal.confirmation.confirm(sent, noon)
      expect((await listed(journal)).map(({ name }) => name)).toEqual(['asked'])
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
      // Who was never asked by a mail is not among those asked.
      expect((await journal.reader.figures()).all).toMatchObject({ asked: 1, confirmed: 1 })
      expect(addressesOf(await freezeNext(journal.delivery))).toEqual({ Letters: [ada] })
      expect(await send(journal, noon + dayMs)).toEqual([])
    }),
  },

  {
    title: 'a confirmed signup counts in the hour of its request',
    run: underPolicy(confirming, async (journal) => {
      await ask(journal)
      await journal.confirmation.confirm(await link(journal), noon + dayMs)
      const hours = await journal.reader.counted(['accepted', 'confirmed'], noon, noon + dayMs)
      expect(hours).toEqual([
        { what: 'accepted', at: noon, name: '', count: 1 },
        { what: 'confirmed', at: noon + dayMs, name: '', count: 1 },
      ])
    }),
  },

  {
    title: 'a further mail that asks is not handed over any more once its tab is confirmed',
    run: underPolicy(confirming, async (journal) => {
      await ask(journal)
      const id = await link(journal)
      const later = noon + dayMs
      await ask(journal, {}, 'share', later)
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
      { ...confirming, newTabsMax: 1, defaultTab: 'Home', namedTabs: ['Home'] },
      async (journal) => {
        for (const sheetTab of ['A', 'B']) await ask(journal, { sheetTab })
        for (const now of [noon, noon + dayMs])
          await journal.confirmation.confirm(await link(journal, now), now)
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
    title:
      'who says "that was not me" gets nothing more, and what was pending has no cells; its status says nothing of that',
    run: underPolicy(confirming, async (journal) => {
      const now = Date.now()
      const [told] = resultsOf(await ask(journal, {}, 'share', now))
      const id = await link(journal, now)
      const [other] = resultsOf(await ask(journal, { sheetTab: 'News' }, 'share', now))
      const declined = { kind: 'confirm', state: 'declined', tabs: [], otherTabs: [] }
      expect(await journal.confirmation.decline(id, now)).toEqual({ ...declined, ...nothingMore })
      expect((await journal.reader.figures()).all.pending).toBe(0)
      expect(await journal.confirmation.ofPerson(ada)).toMatchObject({
        ...{ pending: [], block: { why: 'declined' } },
      })
      for (const one of [told, other]) {
        expect(one?.beside).toBe('pending')
        expect(await journal.intake.find(one?.id ?? expect.fail())).toEqual(one)
      }
      const [again] = resultsOf(await ask(journal, {}, 'share', now + dayMs))
      expect(again?.beside).toBe('pending')
      expect(await send(journal, now + 3 * dayMs)).toEqual([])
    }),
  },

  {
    title:
      'who declined gets nothing at another spelling of the mailbox, until the owner allows it',
    run: underPolicy(confirming, async (journal) => {
      const spellings = ['ada@gmail.com', 'a.da@gmail.com', 'ada+1@gmail.com']
      for (const email of spellings) await ask(journal, { email })
      await journal.confirmation.decline(await link(journal), noon)
      await ask(journal, { email: 'ada+2@gmail.com' }, 'share', noon + dayMs)
      expect(await send(journal, noon + 2 * dayMs)).toEqual([])
      expect(await journal.confirmation.allow('ADA+7@gmail.com')).toBe(true)
      await ask(journal, { email: 'ada+3@gmail.com' }, 'share', noon + 3 * dayMs)
      expect(await send(journal, noon + 3 * dayMs)).toHaveLength(1)
    }),
  },

  {
    title:
      'who declined confirms nothing by the same link, and is no longer told so after thirty days',
    run: underPolicy(confirming, async (journal) => {
      const { confirmation } = journal
      await ask(journal)
      const id = await link(journal)
      await confirmation.decline(id, noon)
      expect((await confirmation.confirm(id, noon))?.state).toBe('declined')
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
    title: 'the row of who has left goes behind others, until its person is forgotten',
    run: underPolicy(welcoming, async (journal) => {
      await ask(journal)
      await journal.confirmation.confirm(await link(journal), noon)
      await deliver(journal)
      await journal.confirmation.leave(await link(journal), noon)
      expect(await journal.erasure.removals(0)).toMatchObject([{ isLeaving: true }])
      const ledger = journal.callLedger('robot@example.com', new ManualClock())
      const quota = { perMinute: 20, perDay: 20 }
      const callsLeft = async () => {
        let calls = 0
        while ((await ledger.reserve(quota, 'removal')) === 0) calls += 1
        return calls
      }
      expect(await callsLeft(), 'a tenth of the day').toBe(2)
      await journal.erasure.forget(ada.toUpperCase())
      expect(await journal.erasure.removals(0)).toMatchObject([{ isLeaving: false }])
      expect(await callsLeft(), 'half of a minute').toBe(8)
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
    title: 'the link to leave confirms nothing',
    run: underPolicy(welcoming, async (journal) => {
      await journal.intake.append([makeSignup({ email: ada })], { greeting: addressing })
      const id = await link(journal)
      await ask(journal, { sheetTab: 'Evil' })
      await journal.confirmation.confirm(id, noon)
      expect(await journal.reader.pending(0, 10)).toMatchObject([{ signup: { sheetTab: 'Evil' } }])
    }),
  },

  {
    title: 'who leaves is erased in the quarantine, too',
    run: underPolicy({ ...welcoming, holdsSuspects: true }, async (journal) => {
      await ask(journal)
      await journal.confirmation.confirm(await link(journal), noon)
      const welcome = await link(journal)
      await journal.intake.append([makeSignup({ email: ada, suspect: ['hidden-field'] })])
      await journal.confirmation.leave(welcome, noon)
      expect(await journal.reader.held(0, 10)).toEqual([])
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
    title:
      'who leaves has no cells and no row; who signs up again is a new signup, is not greeted, and can leave again by the same link',
    run: underPolicy(welcoming, async (journal) => {
      const greeting = addressing
      await journal.intake.append([makeFullSignup({ email: ada, receivedAt: noon })], { greeting })
      const id = await link(journal)
      const batch = await freezeNext(journal.delivery)
      await journal.delivery.settle(batch?.number ?? 0, noon)
      await ask(journal, { sheetTab: 'News' })
      const left = { kind: 'welcome', state: 'left', tabs: [], otherTabs: [] }
      expect(await journal.confirmation.leave(id, noon)).toEqual({ ...left, ...nothingMore })
      expect(await listed(journal)).toEqual([])
      expect((await journal.confirmation.ofPerson(ada)).pending).toEqual([])
      const [row, ...others] = await journal.erasure.removals(0)
      expect([row?.email, row?.receivedAt, others]).toEqual([ada, noon, []])
      expect((await journal.confirmation.leave(id, noon))?.state).toBe('left')
      expect((await journal.confirmation.confirm(id, noon))?.state).toBe('left')
      await journal.intake.append([makeSignup({ email: 'ADA@example.com' })], { greeting })
      expect(await send(journal, noon + dayMs)).toEqual([])
      expect(await listed(journal)).toMatchObject([{ email: 'ADA@example.com' }])
      expect((await journal.confirmation.look(id, noon + dayMs))?.state).toBe('confirmed')
      await journal.intake.append([makeSignup({ email: ada, sheetTab: 'Bulk' })])
      expect((await journal.confirmation.leave(id, noon + dayMs))?.state).toBe('left')
      expect(await listed(journal)).toEqual([])
    }),
  },

  {
    title:
      'who leaves after retention leaves with the row while the mail knows the address, and else is told that it stays',
    run: underPolicy(ignoring, async (journal) => {
      const { confirmation, erasure } = journal
      const welcomeOf = async (email: string) => {
        const signup = makeSignup({ email, receivedAt: noon })
        await journal.intake.append([signup], { greeting: addressing })
        return link(journal, noon + dayMs)
      }
      const first = await welcomeOf(ada)
      await deliver(journal)
      while (await journal.retention.expire(noon + dayMs));
      expect(await confirmation.leave(first, noon)).toMatchObject({
        state: 'left',
        rowStays: false,
      })
      expect(await erasure.removals(0)).toMatchObject([{ email: ada, receivedAt: noon }])

      const bob = 'bob@example.com'
      const second = await welcomeOf(bob)
      await deliver(journal)
      while (await journal.retention.expire(Infinity));
      for (const _ of [1, 2]) {
        const state = await confirmation.leave(second, noon)
        expect(state).toMatchObject({ state: 'left', rowStays: true })
      }
      expect(await erasure.removals(0)).toHaveLength(1)
      await journal.intake.append([makeSignup({ email: bob })])
      expect(addressesOf(await freezeNext(journal.delivery))).toEqual({ Sheet1: [bob] })
      const again = await confirmation.leave(second, noon)
      expect(again).toMatchObject({ state: 'left', rowStays: false })
      const rows = await erasure.removals(0)
      expect(rows.map(({ email }) => email)).toEqual([ada, bob])
    }),
  },

  {
    title:
      'who had more rows than the welcome knows is told that one stays when they leave after retention',
    run: underPolicy(welcoming, async (journal) => {
      const add = async (given: Partial<Signup>) => {
        const signup = makeSignup({ email: ada, receivedAt: noon, ...given })
        await journal.intake.append([signup], { greeting: addressing })
      }
      for (const sheetTab of ['Letters', 'News']) await add({ sheetTab })
      await add({ email: 'bob@example.com' })
      const mails = await claim(journal)
      for (const { number } of mails)
        await journal.outbox.settle(number, { kind: 'sent', at: noon })
      await deliver(journal)
      while (await journal.retention.expire(Infinity));
      const states: [boolean | undefined, number][] = []
      for (const { id, email } of mails) {
        await add({ email })
        const state = await journal.confirmation.leave(id, noon)
        states.push([state?.rowStays, (await journal.erasure.removals(0)).length])
      }
      expect(states).toEqual([
        [true, 1],
        [false, 2],
      ])
    }),
  },

  {
    title: 'who left and asks again is asked by one mail, may confirm, and may leave again',
    run: underPolicy(welcoming, async (journal) => {
      await journal.intake.append([makeSignup({ email: ada })], { greeting: addressing })
      const welcome = await link(journal)
      await journal.confirmation.leave(welcome, noon)
      const later = noon + dayMs
      await ask(journal, {}, 'share', later)
      const [mail, ...others] = await claim(journal, later)
      expect([mail?.kind, mail?.email, others]).toEqual(['confirm', ada, []])
      await journal.confirmation.confirm(mail?.id ?? '', later)
      expect(await listed(journal)).toMatchObject([{ email: ada }])
      expect(await send(journal, later + dayMs)).toEqual([])
      expect((await journal.confirmation.look(welcome, later))?.state).toBe('confirmed')
      await journal.confirmation.leave(welcome, later)
      expect(await listed(journal)).toEqual([])
    }),
  },

  {
    title: 'who left and declines what is asked for later gets nothing for thirty days',
    run: underPolicy(welcoming, async (journal) => {
      await journal.intake.append([makeSignup({ email: ada })], { greeting: addressing })
      await journal.confirmation.leave(await link(journal), noon)
      const asked = noon + dayMs
      await ask(journal, {}, 'share', asked)
      const state = await journal.confirmation.decline(await link(journal, asked), asked)
      expect(state).toMatchObject({ state: 'declined' })
      await ask(journal, {}, 'share', asked + 29 * dayMs)
      expect(await send(journal, asked + 29 * dayMs)).toEqual([])
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
      expect(await journal.erasure.unfinished()).toMatchObject({ frozen: 121 })
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
