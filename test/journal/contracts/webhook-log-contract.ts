import { expect } from 'vitest'

import { freezeNext } from '../../../harness/freeze-next.ts'
import { makeFullSignup, makeSignup, makeSignups } from '../../../harness/make-signup.ts'
import type { Journal } from '../../../src/journal/contracts/journal.ts'
import {
  type Settled,
  type WebhookMessage,
  type WebhookOutcome,
  workingFare,
} from '../../../src/journal/contracts/webhook-log.ts'
import type { Signal } from '../../../src/signup/suspicion.ts'
import { type ContractTest, inJournal, inTwo, nth, underPolicy } from './contract.ts'
import { ada, deliver, forget, noon } from './erasure-contract.ts'
import { link } from './confirmation-contract.ts'
import { confirming } from './outbox-contract.ts'

const dayMs = 24 * 60 * 60_000
const crm = 'crm'
/** Behind all messages, and later than all that wait. */
const [behindAll, ever] = [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER]
const signals: readonly Signal[] = ['hidden-field']

/** Reads all of the list that is behind the cursor of an endpoint, window by window. */
async function messagesOf({ webhooks }: Journal, endpoint = crm): Promise<WebhookMessage[]> {
  const all: WebhookMessage[] = []
  const { cursor = 0 } = (await webhooks.endpoint(endpoint)) ?? {}
  for (let at = cursor, isEnd = false; !isEnd;) {
    const { messages, upto } = await webhooks.next(endpoint, at, -1)
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
  const { messages } = await webhooks.next(crm, behindAll, now)
  return messages.map(({ type, signup, tries }) => [type, signup.id, tries])
}

function failure(journal: Journal, place: number, nextAt?: number, tries = 1) {
  const reason = 'the receiver answered with status 500'
  const position = nth(journal, place)
  const kinds = { kind: 'failed', type: 'signup.accepted' } as const
  return { ...kinds, position, tries, at: noon, nextAt, reason }
}

/** Settles without moving the cursor. */
async function settle({ webhooks }: Journal, ...outcomes: readonly WebhookOutcome[]) {
  const { cursor } = (await webhooks.endpoint(crm)) ?? expect.fail()
  expect(await webhooks.settle(crm, { from: cursor, to: cursor, outcomes })).toBe(true)
}

/** Moves the cursor over a window. */
async function move({ webhooks }: Journal, settled: Partial<Settled> = {}): Promise<void> {
  const { cursor: from } = (await webhooks.endpoint(crm)) ?? expect.fail()
  const { upto: to } = await webhooks.next(crm, from, -1)
  expect(await webhooks.settle(crm, { from, to, outcomes: [], ...settled })).toBe(true)
}

/** The same, while one message fails. */
function fail(journal: Journal, place: number, nextAt?: number): Promise<void> {
  return move(journal, { outcomes: [failure(journal, place, nextAt)] })
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
        const settled = { from, to: nth(journal, 1), outcomes: [], takenAt: noon }
        expect(await journal.webhooks.settle(crm, settled)).toBe(true)
        const fare = { ...workingFare, failingSince: noon }
        const late = { ...settled, outcomes: [failure(journal, 1, 0)], fare }
        expect(await journal.webhooks.settle(crm, late)).toBe(false)
        expect(await dueAt(journal, ever)).toEqual([])
      }
      await using journal = await world.open()
      await journal.webhooks.follow([crm, 'n8n'], noon)
      expect(await journal.webhooks.endpoint(crm)).toMatchObject({
        ...{ cursor: nth(journal, 1), last: nth(journal, 2), takenAt: noon },
        ...workingFare,
      })
      expect(await told(journal)).toEqual(accepted('person2'))
      expect(await messagesOf(journal, 'n8n')).toHaveLength(2)
    },
  },

  {
    title: 'held signups, duplicates that get no row, and imported ones are told to nobody',
    run: underPolicy({ holdsSuspects: true, duplicates: 'ignore' }, async (journal) => {
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
    title: 'a released signup is told when it is released, and once, wherever the endpoint stands',
    run: underPolicy({ holdsSuspects: true }, async (journal) => {
      await journal.webhooks.follow([crm], noon)
      for (const isPassed of [false, true]) {
        const held = makeSignup({ email: ada, suspect: signals })
        await journal.intake.append([held])
        const { cursor: from } = (await journal.webhooks.endpoint(crm)) ?? expect.fail()
        const { messages, upto: to } = await journal.webhooks.next(crm, from, -1)
        expect(messages).toEqual([])
        if (isPassed) await move(journal, { to })
        const positions = (await journal.reader.held(0, 10)).map(({ position }) => position)
        await journal.quarantine.release(positions, noon)
        if (!isPassed) await move(journal, { to })
        expect(await messagesOf(journal)).toEqual([])
        expect(await dueAt(journal, noon)).toEqual([['signup.accepted', held.id, 0]])
        const position = positions[0] ?? 0
        await settle(journal, { position, type: 'signup.accepted', kind: 'sent' })
        expect(await messagesOf(journal)).toEqual([])
      }
    }),
  },

  {
    title: 'a released signup is told that a read far ahead of the cursor has met in quarantine',
    run: underPolicy({ holdsSuspects: true }, async (journal) => {
      await journal.webhooks.follow([crm], noon)
      // Untold ones make a long way without messages. The cursor is written after 500 positions.
      await journal.imports.add(makeSignups(1_450))
      const held = makeSignup({ email: ada, suspect: signals })
      await journal.intake.append([held])
      const { cursor: from } = (await journal.webhooks.endpoint(crm)) ?? expect.fail()
      const { messages, upto: to } = await journal.webhooks.next(crm, from + 499, noon)
      expect([messages, to]).toEqual([[], from + 1_451])
      await journal.quarantine.release([to], noon)
      expect(await journal.webhooks.settle(crm, { from, to, outcomes: [] })).toBe(true)
      expect(await dueAt(journal, noon)).toEqual([['signup.accepted', held.id, 0]])
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
export const messagesAgain: readonly ContractTest[] = [
  {
    title: 'a message that failed is due at its time, until it was sent or has failed for good',
    run: inJournal(async (journal) => {
      const { webhooks } = journal
      await webhooks.follow([crm], noon)
      const [signup] = makeSignups(1)
      await journal.intake.append([signup ?? expect.fail(), ...makeSignups(3)])
      await fail(journal, 1, noon + 5)
      expect(await dueAt(journal, noon + 4)).toEqual([])
      expect(await dueAt(journal, noon + 5)).toEqual([['signup.accepted', signup?.id, 1]])
      expect(await webhooks.endpoint(crm)).toMatchObject({ waiting: 1, dueAt: noon + 5 })
      await settle(journal, failure(journal, 1, noon + 9, 2))
      expect(await dueAt(journal, noon + 8)).toEqual([])
      expect(await dueAt(journal, noon + 9)).toEqual([['signup.accepted', signup?.id, 2]])
      await settle(journal, failure(journal, 1, undefined, 5))
      expect(await dueAt(journal, ever)).toEqual([])
      const { position, type, at, reason } = failure(journal, 1)
      expect(await webhooks.failed(crm, 0)).toEqual([
        { position, id: signup?.id, type, tries: 5, at, reason },
      ])
      expect(await webhooks.failed(crm, position)).toEqual([])
      expect(await webhooks.replay(crm, signup?.id ?? '')).toBe(true)
      expect(await webhooks.failed(crm, 0)).toEqual([])
      // It has not failed since.
      expect(await webhooks.endpoint(crm)).toMatchObject({ waiting: 0, dueAt: 0 })
      await settle(journal, { kind: 'sent', position, type })
      expect(await dueAt(journal, ever)).toEqual([])
    }),
  },

  {
    title:
      'a window has ten places: five for rows of their own, one for each that waits, one for the list at least',
    run: inJournal(async (journal) => {
      const { webhooks } = journal
      await webhooks.follow([crm], noon)
      await journal.intake.append(makeSignups(30))
      const placesOf = async (now: number) => {
        const { cursor = 0 } = (await webhooks.endpoint(crm)) ?? {}
        const { messages, upto } = await webhooks.next(crm, cursor, now)
        const list = messages.filter(({ tries }) => tries === undefined)
        expect(upto).toBe(list.at(-1)?.position)
        return [messages.length - list.length, list.length]
      }
      const failAll = (places: readonly number[], nextAt: number) =>
        settle(journal, ...places.map((place) => failure(journal, place, nextAt, nextAt && 1)))
      await move(journal)
      expect(await placesOf(noon)).toEqual([0, 10])
      await failAll([1, 2, 3], noon + 1)
      expect(await placesOf(noon)).toEqual([0, 7])
      expect(await placesOf(noon + 1)).toEqual([3, 7])
      await failAll([4, 5], 0)
      expect(await placesOf(noon)).toEqual([2, 5])
      await failAll([4, 5, 6, 7, 8, 9, 10], noon + 1)
      expect(await placesOf(noon)).toEqual([0, 1])
      expect(await placesOf(noon + 1)).toEqual([5, 1])
      await webhooks.enable(crm)
      expect(await dueAt(journal, noon)).toHaveLength(5)
      expect(await placesOf(noon)).toEqual([5, 5])
    }),
  },

  {
    title: 'what has failed for good is dropped after 30 days',
    run: inJournal(async (journal) => {
      const { webhooks } = journal
      await webhooks.follow([crm], noon)
      await journal.intake.append(makeSignups(1))
      await fail(journal, 1)
      await webhooks.follow([crm], noon + 30 * dayMs)
      expect(await webhooks.failed(crm, 0)).toHaveLength(1)
      await webhooks.follow([crm], noon + 30 * dayMs + 1)
      expect(await webhooks.failed(crm, 0)).toEqual([])
    }),
  },

  {
    title:
      'what waits for a try is kept for longer than what has failed for good, also the news of an erased one',
    run: inJournal(async (journal) => {
      const { webhooks, intake } = journal
      await webhooks.follow([crm], noon)
      await intake.append(makeSignups(1))
      await fail(journal, 1, noon + dayMs)
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
    title: 'who is forgotten is told as erased: sent before, failed, tried again, or not read yet',
    run: inJournal(async (journal) => {
      const { webhooks, intake } = journal
      await webhooks.follow([crm], noon)
      const signups = ['sent', 'aside', 'over', 'behind'].map((source) => makeSignup({ source }))
      await intake.append(signups.slice(0, 3))
      await fail(journal, 2, noon + dayMs)
      await settle(journal, failure(journal, 3))
      await intake.append([...signups.slice(3), makeSignup({ email: 'bob@example.com' })])
      await forget(journal)
      const { messages } = await webhooks.next(crm, behindAll, noon)
      expect(messages.map(({ type, signup }) => [type, signup.id, signup.email])).toEqual(
        signups.map(({ id }) => ['signup.erased', id, '']),
      )
      expect(await told(journal)).toEqual(accepted('bob'))
    }),
  },

  {
    title: 'a message that was on its way when its signup was erased does not end that news',
    run: inJournal(async (journal) => {
      const { webhooks } = journal
      await webhooks.follow([crm], noon)
      await journal.intake.append([makeSignup()])
      await fail(journal, 1, noon)
      await forget(journal)
      const position = nth(journal, 1)
      await settle(journal, { kind: 'sent', position, type: 'signup.accepted' })
      await settle(journal, failure(journal, 1))
      expect(await dueAt(journal, noon)).toMatchObject([['signup.erased', {}, 0]])
      await settle(journal, { kind: 'sent', position, type: 'signup.erased' })
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
      await fail(journal, 1, noon + dayMs)
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
    title: 'an endpoint that begins anew gets nothing of what waited before',
    run: inJournal(async (journal) => {
      await journal.webhooks.follow([crm], noon)
      await journal.intake.append(makeSignups(1))
      await fail(journal, 1, noon)
      await journal.webhooks.follow([], noon + dayMs + 1)
      await journal.webhooks.follow([crm], noon + dayMs + 1)
      expect(await dueAt(journal, ever)).toEqual([])
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
      expect(await dueAt(journal, noon)).toEqual(
        [before, imported].map(({ id }) => ['signup.erased', id, 0]),
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
    run: underPolicy({ holdsSuspects: true }, async (journal) => {
      await journal.webhooks.follow([crm], noon)
      const held = makeSignup({ email: ada, suspect: signals })
      await journal.intake.append([held])
      expect(await journal.webhooks.replay(crm, held.id)).toBe(false)
      expect(await dueAt(journal, noon)).toEqual([])
    }),
  },

  {
    title:
      'an endpoint has taken what is behind its cursor, but for what came before it, was silent or failed',
    run: underPolicy({ holdsSuspects: true }, async (journal) => {
      const { webhooks, intake } = journal
      const signups = makeSignups(6).map((one, at) =>
        at === 5 ? { ...one, suspect: signals } : one,
      )
      const ids = signups.map(({ id }) => id)
      const append = (from: number, to: number) => intake.append(signups.slice(from, to))
      const passed = async () => new Set(await webhooks.passed(crm, ids))
      await append(0, 1)
      expect(await passed()).toEqual(new Set())
      await webhooks.follow([crm], noon)
      await append(1, 4)
      await append(5, 6)
      const imported = makeSignup({ email: 'imported@example.com' })
      await journal.imports.add([imported])
      ids.push(imported.id)
      expect(await passed()).toEqual(new Set())
      await fail(journal, 3)
      await append(4, 5)
      expect(await passed()).toEqual(new Set([ids[1], ids[3]]))
      expect(await webhooks.replaySince(crm, 0)).toBeGreaterThan(0)
      expect(await passed()).toEqual(new Set())
      await move(journal)
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
      await move(journal)
      expect(await other.webhooks.replaySince(crm, noon + dayMs)).toBe(0)
      expect(await other.webhooks.replaySince(crm, times[2] ?? 0)).toBe(2)
      const late = { from, to: from + 1, outcomes: [failure(journal, 1, noon)] }
      expect(await journal.webhooks.settle(crm, late)).toBe(false)
      expect(await dueAt(journal, noon)).toEqual([])
      expect(await told(journal)).toEqual(accepted('person3', 'person4'))
      // What came before that time still counts as sent.
      const ids = signups.map(({ id }) => id)
      expect(new Set(await journal.webhooks.passed(crm, ids))).toEqual(new Set(ids.slice(0, 2)))
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
    title: 'a replay sends what has failed, too: as erased, or tried again when it fails once more',
    run: inJournal(async (journal) => {
      const { webhooks } = journal
      await webhooks.follow([crm], noon)
      await journal.intake.append([makeSignup(), makeSignup({ email: 'bob@example.com' })])
      await move(journal, { outcomes: [failure(journal, 1), failure(journal, 2)] })
      await forget(journal)
      await settle(journal, { ...failure(journal, 1), type: 'signup.erased' })
      expect(await webhooks.failed(crm, 0)).toHaveLength(2)
      expect(await webhooks.replaySince(crm, 0)).toBe(2)
      expect(await told(journal)).toEqual(['signup.erased ', ...accepted('bob')])
      await fail(journal, 2, noon)
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
      await fail(journal, 1, noon)
      await journal.intake.append(makeSignups(2))
      const fare = { failingSince: noon, disabledAt: undefined, reason: 'gone' }
      const { cursor } = (await webhooks.endpoint(crm)) ?? expect.fail()
      await webhooks.settle(crm, { from: cursor, to: cursor, outcomes: [], fare })
      expect(await other.reader.webhooks(crm)).toEqual({
        ...{ ...fare, takenAt: undefined, enabled: 0 },
        ...{ cursor: nth(journal, 2), waiting: 1, failed: 0, backlog: 3 },
        oldest: Math.min(noon - 9, makeSignup().receivedAt),
      })
      await other.webhooks.enable(crm)
      const enabled = { ...workingFare, enabled: 1, waiting: 0, dueAt: 0 }
      expect(await webhooks.endpoint(crm)).toMatchObject(enabled)
    }),
  },
]
