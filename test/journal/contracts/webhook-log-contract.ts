import { expect } from 'vitest'

import { freezeNext } from '../../../harness/freeze-next.ts'
import { makeFullSignup, makeSignup, makeSignups } from '../../../harness/make-signup.ts'
import type { Journal } from '../../../src/journal/contracts/journal.ts'
import type { AsideFailure, WebhookMessage } from '../../../src/journal/contracts/webhook-log.ts'
import type { Signal } from '../../../src/signup/suspicion.ts'
import { type ContractTest, inJournal, inTwo, nth, underPolicy } from './contract.ts'
import { ada, deliver, forget, noon } from './erasure-contract.ts'
import { link } from './confirmation-contract.ts'
import { confirming } from './outbox-contract.ts'

const dayMs = 24 * 60 * 60_000
const crm = 'crm'
const signals: readonly Signal[] = ['hidden-field']

/** Follows an endpoint, and reads all that is behind its cursor, slice by slice. */
async function messagesOf({ webhooks }: Journal, endpoint = crm): Promise<WebhookMessage[]> {
  const all: WebhookMessage[] = []
  const { cursor = 0 } = (await webhooks.endpoint(endpoint)) ?? {}
  for (let at = cursor, isEnd = false; !isEnd;) {
    const { messages, upto } = await webhooks.after(endpoint, at, 3)
    all.push(...messages)
    isEnd = upto === at
    at = upto
  }
  return all
}

async function told(journal: Journal): Promise<string[]> {
  return (await messagesOf(journal)).map(({ type, signup }) => `${type} ${signup.email}`)
}

function accepted(...people: readonly string[]): string[] {
  return people.map((name) => `signup.accepted ${name}@example.com`)
}

async function dueAt({ webhooks }: Journal, now: number) {
  return (await webhooks.due(crm, now)).map(({ type, signup, tries }) => [type, signup.id, tries])
}

function failure(journal: Journal, place: number, nextAt?: number): AsideFailure {
  const reason = 'the receiver answered with status 500'
  return {
    ...{ position: nth(journal, place), type: 'signup.accepted', tries: 1 },
    ...{ at: noon, nextAt, reason },
  }
}

/** Moves the cursor over all, and sets one message aside. */
async function setAside(journal: Journal, place: number, nextAt?: number): Promise<void> {
  const { webhooks } = journal
  const { cursor: from } = (await webhooks.endpoint(crm)) ?? expect.fail()
  const { upto } = await webhooks.after(crm, from, 10)
  const aside = [failure(journal, place, nextAt)]
  expect(await webhooks.advance(crm, { from, to: upto, aside })).toBe(true)
}

/** Each endpoint reads the list at its own pace. */
export const readMessages: readonly ContractTest[] = [
  {
    title: 'an endpoint is told of what comes after it was followed, in order, with all cells',
    run: inJournal(async (journal) => {
      await journal.intake.append([makeSignup()])
      await journal.webhooks.follow([crm], noon)
      const signups = Array.from({ length: 12 }, () => makeFullSignup())
      await journal.intake.append(signups)
      const messages = await messagesOf(journal)
      expect(messages.map(({ signup }) => signup)).toEqual(signups)
      expect(messages[0]).toMatchObject({ position: nth(journal, 2), type: 'signup.accepted' })
      expect(await journal.webhooks.endpoint('other')).toBeUndefined()
    }),
  },

  {
    title: 'a cursor moves from where it is known to be, and keeps its place over a restart',
    async run(world) {
      {
        await using journal = await world.open()
        await journal.webhooks.follow([crm, 'n8n'], noon)
        await journal.intake.append(makeSignups(2))
        const { cursor: from } = (await journal.webhooks.endpoint(crm)) ?? expect.fail()
        const move = { from, to: nth(journal, 1), aside: [] }
        expect(await journal.webhooks.advance(crm, move)).toBe(true)
        expect(await journal.webhooks.advance(crm, move)).toBe(false)
      }
      await using journal = await world.open()
      await journal.webhooks.follow([crm, 'n8n'], noon)
      expect(await told(journal)).toEqual(accepted('person2'))
      expect(await messagesOf(journal, 'n8n')).toHaveLength(2)
    },
  },

  {
    title: 'held signups, duplicates that get no row, and imported ones are told to nobody',
    run: underPolicy({ quarantineTab: 'Quarantine', duplicates: 'ignore' }, async (journal) => {
      await journal.webhooks.follow([crm], noon)
      await journal.imports.add(makeSignups(2))
      await journal.imports.add([makeSignup({ email: 'later@example.com' })])
      await journal.intake.append([makeSignup({ email: ada }), makeSignup({ email: ada })])
      await journal.intake.append([makeSignup({ email: 'held@example.com', suspect: signals })])
      await journal.imports.add([makeSignup({ email: 'again@example.com' })])
      const asked = [makeSignup({ email: 'asked@example.com' })]
      await journal.imports.add(asked, { webhooks: true })
      expect(await told(journal)).toEqual(accepted('ada', 'asked'))
    }),
  },

  {
    title: 'a released signup is told when it is released, and once',
    run: underPolicy({ quarantineTab: 'Quarantine' }, async (journal) => {
      await journal.webhooks.follow([crm], noon)
      const held = makeSignup({ email: ada, suspect: signals })
      await journal.intake.append([held])
      const positions = (await journal.reader.held(0, 10)).map(({ position }) => position)
      await journal.quarantine.release(positions, noon)
      const messages = await messagesOf(journal)
      expect(messages.map(({ type, signup }) => [type, signup.id])).toEqual([
        ['signup.accepted', held.id],
      ])
      expect(await dueAt(journal, noon)).toEqual([])
    }),
  },

  {
    title:
      'a pending signup is told when it is confirmed, with that time; who leaves is told as erased',
    run: underPolicy({ ...confirming, welcomes: true }, async (journal) => {
      await journal.webhooks.follow([crm], noon)
      const signup = makeSignup({ email: ada, receivedAt: noon })
      const addressing = { share: 'share', language: 'en' }
      await journal.intake.ask([signup], { addressing })
      expect(await told(journal)).toEqual([])
      await journal.confirmation.confirm(await link(journal), noon + 1)
      expect(await messagesOf(journal)).toMatchObject([
        { signup: { id: signup.id, confirmedAt: noon + 1 } },
      ])
      await journal.confirmation.leave(await link(journal, noon + dayMs), noon + dayMs)
      expect(await dueAt(journal, noon)).toEqual([['signup.erased', signup.id, 0]])
    }),
  },

  {
    title: 'a message behind 999 signups that make none is read, and counted as one',
    run: inJournal(async (journal) => {
      await journal.webhooks.follow([crm], noon)
      const backlog = async () => (await journal.webhooks.figures(crm))?.backlog
      await journal.imports.add(makeSignups(999))
      await journal.intake.append([makeSignup({ email: ada })])
      expect(await backlog()).toBe(1)
      expect(await told(journal)).toEqual(accepted('ada'))
      // Further positions are not looked at one by one.
      await journal.imports.add([makeSignup({ email: 'later@example.com' })])
      expect(await backlog()).toBe(1001)
    }),
  },

  {
    title: 'an endpoint that nobody has followed for a day begins anew, another one goes on',
    run: inJournal(async (journal) => {
      const { webhooks, intake } = journal
      await webhooks.follow([crm, 'n8n'], noon)
      await intake.append(makeSignups(2))
      await webhooks.follow(['n8n'], noon + dayMs)
      await webhooks.follow(['n8n', crm], noon + dayMs + 1)
      expect(await messagesOf(journal)).toHaveLength(2)
      await webhooks.follow(['n8n'], noon + 2 * dayMs + 2)
      await webhooks.follow(['n8n', crm], noon + 2 * dayMs + 2)
      expect(await messagesOf(journal)).toEqual([])
      expect(await messagesOf(journal, 'n8n')).toHaveLength(2)
    }),
  },
]

/** What failed waits for its own turn, and what was erased is told as such. */
export const messagesAside: readonly ContractTest[] = [
  {
    title: 'a message that failed is due at its time, until it was sent or given up',
    run: inJournal(async (journal) => {
      const { webhooks } = journal
      await webhooks.follow([crm], noon)
      const [signup] = makeSignups(1)
      await journal.intake.append([signup ?? expect.fail(), ...makeSignups(3)])
      await setAside(journal, 1, noon + 5)
      expect(await dueAt(journal, noon + 4)).toEqual([])
      expect(await dueAt(journal, noon + 5)).toEqual([['signup.accepted', signup?.id, 1]])
      expect(await webhooks.endpoint(crm)).toMatchObject({ aside: 1 })
      await webhooks.settle(crm, [{ ...failure(journal, 1, noon + 9), tries: 2 }])
      expect(await dueAt(journal, noon + 8)).toEqual([])
      expect(await dueAt(journal, noon + 9)).toEqual([['signup.accepted', signup?.id, 2]])
      await webhooks.settle(crm, [{ ...failure(journal, 1), tries: 11 }])
      expect(await dueAt(journal, Infinity)).toEqual([])
      const { position, type, at, reason } = failure(journal, 1)
      expect(await webhooks.failed(crm, 0)).toEqual([
        { position, id: signup?.id, type, tries: 11, at, reason },
      ])
      expect(await webhooks.failed(crm, position)).toEqual([])
      expect(await webhooks.replay(crm, signup?.id ?? '')).toBe(true)
      expect(await webhooks.failed(crm, 0)).toEqual([])
      // It has not failed since.
      expect(await webhooks.endpoint(crm)).toMatchObject({ aside: 0 })
      const again = { position, type, isSent: true } as const
      await webhooks.settle(crm, [again])
      expect(await dueAt(journal, Infinity)).toEqual([])
    }),
  },

  {
    title: 'what was given up is dropped after 30 days',
    run: inJournal(async (journal) => {
      const { webhooks } = journal
      await webhooks.follow([crm], noon)
      await journal.intake.append(makeSignups(1))
      await setAside(journal, 1)
      await webhooks.follow([crm], noon + 30 * dayMs)
      expect(await webhooks.failed(crm, 0)).toHaveLength(1)
      await webhooks.follow([crm], noon + 30 * dayMs + 1)
      expect(await webhooks.failed(crm, 0)).toEqual([])
    }),
  },

  {
    title:
      'what waits for a try is kept for longer than what was given up, also the news of an erased one',
    run: inJournal(async (journal) => {
      const { webhooks, intake } = journal
      await webhooks.follow([crm], noon)
      await intake.append(makeSignups(1))
      await setAside(journal, 1, noon + dayMs)
      await intake.append([makeSignup({ email: ada })])
      await forget(journal)
      await webhooks.follow([crm], noon + 31 * dayMs)
      expect(await dueAt(journal, noon + dayMs)).toMatchObject([
        ['signup.erased', {}, 0],
        ['signup.accepted', {}, 1],
      ])
    }),
  },

  {
    title: 'who is forgotten is told as erased: sent before, set aside, given up, or not read yet',
    run: inJournal(async (journal) => {
      const { webhooks, intake } = journal
      await webhooks.follow([crm], noon)
      const signups = ['sent', 'aside', 'over', 'behind'].map((source) => makeSignup({ source }))
      await intake.append(signups.slice(0, 3))
      await setAside(journal, 2, noon + dayMs)
      const { cursor } = (await webhooks.endpoint(crm)) ?? expect.fail()
      await webhooks.settle(crm, [failure(journal, 2, noon + dayMs)])
      await webhooks.advance(crm, { from: cursor, to: cursor, aside: [failure(journal, 3)] })
      await intake.append([...signups.slice(3), makeSignup({ email: 'bob@example.com' })])
      await forget(journal)
      const due = await webhooks.due(crm, noon)
      expect(due.map(({ type, signup }) => [type, signup.id, signup.email])).toEqual(
        expect.arrayContaining(signups.map(({ id }) => ['signup.erased', id, ''])),
      )
      expect(due).toHaveLength(4)
      expect(await told(journal)).toEqual(accepted('bob'))
    }),
  },

  {
    title: 'a message that was on its way when its signup was erased does not end that news',
    run: inJournal(async (journal) => {
      const { webhooks } = journal
      await webhooks.follow([crm], noon)
      await journal.intake.append([makeSignup()])
      await setAside(journal, 1, noon)
      await forget(journal)
      const position = nth(journal, 1)
      await webhooks.settle(crm, [{ position, type: 'signup.accepted', isSent: true }])
      await webhooks.settle(crm, [failure(journal, 1)])
      expect(await dueAt(journal, noon)).toMatchObject([['signup.erased', {}, 0]])
      await webhooks.settle(crm, [{ position, type: 'signup.erased', isSent: true }])
      expect(await dueAt(journal, noon)).toEqual([])
    }),
  },

  {
    title:
      'a forgotten signup of a frozen batch is told as erased, though its cells are still there',
    run: inJournal(async (journal) => {
      await journal.webhooks.follow([crm], noon)
      await journal.intake.append([makeSignup()])
      await freezeNext(journal.delivery)
      await forget(journal)
      expect(await dueAt(journal, noon)).toMatchObject([['signup.erased', {}, 0]])
      expect(await told(journal)).toEqual([])
    }),
  },

  {
    title:
      'cells that have expired are sent no more: what waits is told as erased, what was sent is not',
    run: inJournal(async (journal) => {
      const { webhooks } = journal
      await webhooks.follow([crm], noon)
      await journal.intake.append(makeSignups(1))
      await setAside(journal, 1, noon + dayMs)
      await journal.intake.append(makeSignups(1))
      await deliver(journal)
      while (await journal.retention.expire(noon + dayMs));
      expect(await dueAt(journal, noon + dayMs)).toMatchObject([['signup.erased', {}, 1]])
      expect(await told(journal)).toEqual(['signup.erased '])
    }),
  },

  {
    title: 'of a duplicate nobody is told that it is erased',
    run: underPolicy({ duplicates: 'ignore' }, async (journal) => {
      await journal.webhooks.follow([crm], noon)
      const [first, duplicate] = [makeSignup(), makeSignup()]
      await journal.intake.append([first, duplicate])
      await forget(journal)
      expect(await dueAt(journal, noon)).toEqual([['signup.erased', first.id, 0]])
    }),
  },

  {
    title: 'an endpoint that begins anew gets nothing of what was set aside before',
    run: inJournal(async (journal) => {
      await journal.webhooks.follow([crm], noon)
      await journal.intake.append(makeSignups(1))
      await setAside(journal, 1, noon)
      await journal.webhooks.follow([], noon + dayMs + 1)
      await journal.webhooks.follow([crm], noon + dayMs + 1)
      expect(await dueAt(journal, Infinity)).toEqual([])
    }),
  },

  {
    title: 'who came before an endpoint was followed, or was imported, is told as erased, too',
    run: inJournal(async (journal) => {
      const [before, imported] = [makeSignup(), makeSignup({ sheetTab: 'News' })]
      await journal.intake.append([before])
      await journal.webhooks.follow([crm], noon)
      await journal.imports.add([imported])
      await forget(journal)
      const due = await journal.webhooks.due(crm, noon)
      expect(new Set(due.map(({ type, signup }) => `${type} ${signup.id}`))).toEqual(
        new Set([before, imported].map(({ id }) => `signup.erased ${id}`)),
      )
    }),
  },
]

/** An operator sees how an endpoint does, and has messages sent again. */
export const replayedMessages: readonly ContractTest[] = [
  {
    title:
      'an endpoint that nobody follows has no message to send again, and no time to go back to',
    run: inJournal(async ({ webhooks, intake }) => {
      const signup = makeSignup()
      await intake.append([signup])
      expect(await webhooks.replay(crm, signup.id)).toBe(false)
      expect(await webhooks.replaySince(crm, 0)).toBe(0)
      expect(await webhooks.figures(crm)).toBeUndefined()
    }),
  },

  {
    title: 'a signup that is held is sent to nobody, not even when somebody asks for it by its id',
    run: underPolicy({ quarantineTab: 'Quarantine' }, async (journal) => {
      await journal.webhooks.follow([crm], noon)
      const held = makeSignup({ email: ada, suspect: signals })
      await journal.intake.append([held])
      expect(await journal.webhooks.replay(crm, held.id)).toBe(false)
      expect(await dueAt(journal, noon)).toEqual([])
    }),
  },

  {
    title: 'who is forgotten is told as erased to an endpoint that went back to before it was set',
    run: inJournal(async (journal) => {
      const { webhooks, intake } = journal
      const signup = makeSignup()
      await intake.append([signup])
      await webhooks.follow([crm], noon)
      expect(await webhooks.replaySince(crm, signup.receivedAt)).toBe(1)
      await forget(journal)
      expect(await dueAt(journal, noon)).toEqual([['signup.erased', signup.id, 0]])
    }),
  },

  {
    title:
      'an endpoint has taken what is behind its cursor, but for what came before it, was silent or failed',
    run: underPolicy({ quarantineTab: 'Quarantine' }, async (journal) => {
      const { webhooks, intake } = journal
      const signups = makeSignups(6).map((one, at) =>
        at === 5 ? { ...one, suspect: signals } : one,
      )
      const ids = signups.map(({ id }) => id)
      const append = (from: number, to: number) => intake.append(signups.slice(from, to))
      const passed = async () => new Set(await webhooks.passed(crm, ids))
      const move = async (aside: readonly AsideFailure[] = []) => {
        const { cursor: from } = (await webhooks.endpoint(crm)) ?? expect.fail()
        const { upto } = await webhooks.after(crm, from, 10)
        expect(await webhooks.advance(crm, { from, to: upto, aside })).toBe(true)
      }
      await append(0, 1)
      expect(await passed()).toEqual(new Set())
      await webhooks.follow([crm], noon)
      await append(1, 4)
      await append(5, 6)
      const imported = makeSignup({ email: 'imported@example.com' })
      await journal.imports.add([imported])
      ids.push(imported.id)
      expect(await passed()).toEqual(new Set())
      await move([failure(journal, 3)])
      await append(4, 5)
      expect(await passed()).toEqual(new Set([ids[1], ids[3]]))
      expect(await webhooks.replaySince(crm, 0)).toBeGreaterThan(0)
      expect(await passed()).toEqual(new Set())
      await move()
      expect(await passed()).toEqual(new Set(ids.slice(0, 5)))
      expect(await webhooks.replay(crm, ids[0] ?? '')).toBe(true)
      expect(await passed()).toEqual(new Set(ids.slice(1, 5)))
    }),
  },

  {
    title: 'a replay takes a confirmed signup for one of the time of its confirmation',
    run: underPolicy(confirming, async (journal) => {
      const { webhooks, intake, confirmation } = journal
      const signup = makeSignup({ email: ada, receivedAt: noon })
      await intake.ask([signup], { addressing: { share: 'share', language: 'en' } })
      await confirmation.confirm(await link(journal), noon + 5)
      await webhooks.follow([crm], noon + 9)
      expect(await webhooks.replaySince(crm, noon + 6)).toBe(0)
      expect(await webhooks.replaySince(crm, noon + 5)).toBe(1)
    }),
  },

  {
    title:
      'a replay goes back to the first signup of that time, also for an instance that is sending',
    run: inTwo(async (journal, other) => {
      await journal.webhooks.follow([crm], noon)
      const times = [1, 2, 3, 4].map((hours) => noon + hours * 3_600_000)
      const signups = times.map((receivedAt, index) =>
        makeSignup({ receivedAt, email: `person${index + 1}@example.com` }),
      )
      await journal.intake.append(signups)
      const from = nth(journal, 4)
      const { cursor = 0 } = (await journal.webhooks.endpoint(crm)) ?? {}
      await journal.webhooks.advance(crm, { from: cursor, to: from, aside: [] })
      expect(await other.webhooks.replaySince(crm, noon + dayMs)).toBe(0)
      expect(await other.webhooks.replaySince(crm, times[2] ?? 0)).toBe(2)
      const move = { from, to: from + 1, aside: [failure(journal, 1, noon)] }
      expect(await journal.webhooks.advance(crm, move)).toBe(false)
      expect(await dueAt(journal, noon)).toEqual([])
      expect(await told(journal)).toEqual(accepted('person3', 'person4'))
    }),
  },

  {
    title:
      'one that was imported, or came before an endpoint was followed, is sent when it is asked for',
    run: inJournal(async (journal) => {
      const signups = [makeSignup(), makeSignup({ email: 'bob@example.com' })]
      await journal.intake.append(signups.slice(0, 1))
      await journal.imports.add(signups.slice(1))
      await journal.webhooks.follow([crm], noon)
      for (const { id } of signups) expect(await journal.webhooks.replay(crm, id)).toBe(true)
      expect(await dueAt(journal, noon)).toEqual(
        expect.arrayContaining(signups.map(({ id }) => ['signup.accepted', id, 0])),
      )
    }),
  },

  {
    title: 'a replay sends what was given up, too: as erased, or set aside when it fails once more',
    run: inJournal(async (journal) => {
      const { webhooks } = journal
      await webhooks.follow([crm], noon)
      await journal.intake.append([makeSignup(), makeSignup({ email: 'bob@example.com' })])
      const { cursor: from = 0 } = (await webhooks.endpoint(crm)) ?? {}
      const to = nth(journal, 2)
      const givenUp = [failure(journal, 1), failure(journal, 2)]
      await webhooks.advance(crm, { from, to, aside: givenUp })
      await forget(journal)
      await webhooks.settle(crm, [{ ...failure(journal, 1), type: 'signup.erased' }])
      expect(await webhooks.failed(crm, 0)).toHaveLength(2)
      expect(await webhooks.replaySince(crm, 0)).toBe(2)
      expect(await told(journal)).toEqual(['signup.erased ', ...accepted('bob')])
      await webhooks.advance(crm, { from, to, aside: [failure(journal, 2, noon)] })
      expect(await dueAt(journal, noon)).toMatchObject([['signup.accepted', {}, 1]])
      expect(await webhooks.failed(crm, 0)).toEqual([])
    }),
  },

  {
    title: 'how an endpoint does is known to every instance, with what waits',
    run: inTwo(async (journal, other) => {
      const { webhooks } = journal
      expect(await journal.reader.webhooks(crm)).toBeUndefined()
      await webhooks.follow([crm], noon)
      await journal.intake.append([makeSignup({ receivedAt: noon - 9 }), ...makeSignups(1)])
      await setAside(journal, 1, noon)
      await journal.intake.append(makeSignups(2))
      const fare = { failingSince: noon, haltedAt: noon + 1, disabledAt: undefined, reason: 'gone' }
      await webhooks.note(crm, fare)
      expect(await other.reader.webhooks(crm)).toEqual({
        ...fare,
        ...{ cursor: nth(journal, 2), aside: 1, failed: 0, backlog: 3 },
        oldest: Math.min(noon - 9, makeSignup().receivedAt),
      })
    }),
  },
]
