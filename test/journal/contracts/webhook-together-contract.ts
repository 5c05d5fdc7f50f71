import { expect } from 'vitest'

import { makeSignup, makeSignups } from '../../../harness/make-signup.ts'
import type { Journal } from '../../../src/journal/contracts/journal.ts'
import type { Settled } from '../../../src/journal/contracts/webhook-log.ts'
import { type ContractTest, inJournal, inTwo, nth } from './contract.ts'
import { ada, forget, noon } from './erasure-contract.ts'

const chat = 'chat'

/** The addresses of the window behind the cursor, and up to where it goes. */
async function windowOf({ webhooks }: Journal, most = 8) {
  const { cursor = 0, fixedTo } = (await webhooks.endpoint(chat)) ?? {}
  const { messages, upto } = await webhooks.next(chat, cursor, noon, { most, fixedTo })
  const people = messages.map(({ type, signup }) =>
    type === 'signup.erased' ? 'erased' : signup.email,
  )
  return { people, upto }
}

/** Notes this of the endpoint, whose cursor stays unless that says otherwise. */
async function settle({ webhooks }: Journal, settled: Partial<Settled>): Promise<boolean> {
  const { cursor, fixedTo } = (await webhooks.endpoint(chat)) ?? expect.fail()
  const stays = { from: cursor, to: cursor, fixedFrom: fixedTo, outcomes: [] }
  return webhooks.settle(chat, { ...stays, ...settled })
}

function fix(journal: Journal, place: number): Promise<boolean> {
  return settle(journal, { fixedTo: nth(journal, place) })
}

function emails(from: number, to: number): string[] {
  return Array.from({ length: to - from + 1 }, (_, at) => `person${from + at}@example.com`)
}

/** One message tells of many, and says the same in each try. */
export const messagesTogether: readonly ContractTest[] = [
  {
    title:
      'a window for one message has as many as it is asked for, or half as many that have a row of their own',
    run: inJournal(async (journal) => {
      await journal.webhooks.follow([chat], noon)
      const signups = makeSignups(20)
      await journal.intake.append(signups)
      expect(await windowOf(journal)).toEqual({ people: emails(1, 8), upto: nth(journal, 8) })
      await settle(journal, { to: nth(journal, 10) })
      for (const { id } of signups.slice(0, 5)) await journal.webhooks.replay(chat, id)
      expect(await windowOf(journal)).toEqual({ people: emails(1, 4), upto: nth(journal, 10) })
    }),
  },

  {
    title:
      'a message that is fixed stays so over a restart until it has ended, and then who was asked for has one',
    async run(world) {
      {
        await using journal = await world.open()
        await journal.webhooks.follow([chat], noon)
        const signups = makeSignups(6)
        await journal.intake.append(signups)
        await settle(journal, { to: nth(journal, 2) })
        await journal.webhooks.replay(chat, signups[0]?.id ?? '')
        expect(await fix(journal, 4)).toBe(true)
      }
      await using journal = await world.open()
      const to = nth(journal, 4)
      expect(await windowOf(journal)).toEqual({ people: emails(3, 4), upto: to })
      await settle(journal, { to })
      expect(await journal.webhooks.endpoint(chat)).toMatchObject({ fixedTo: undefined })
      expect(await windowOf(journal)).toEqual({ people: emails(1, 1), upto: to })
      const position = nth(journal, 1)
      const outcomes = [{ kind: 'sent', type: 'signup.accepted', position }] as const
      await settle(journal, { outcomes })
      expect((await windowOf(journal)).people).toEqual(emails(5, 6))
    },
  },

  {
    title:
      'of two instances that fix a message at once, the second one is told so, and may look again',
    run: inTwo(async (journal, other) => {
      await journal.webhooks.follow([chat], noon)
      await journal.intake.append(makeSignups(4))
      const fixedFrom = undefined
      expect(await settle(journal, { fixedFrom, fixedTo: nth(journal, 2) })).toBe(true)
      expect(await settle(other, { fixedFrom, fixedTo: nth(journal, 3) })).toBe(false)
      expect(await windowOf(other)).toEqual({ people: emails(1, 2), upto: nth(journal, 2) })
    }),
  },

  {
    title: 'who is forgotten is not in the next try of a message, be it of the list or asked for',
    run: inJournal(async (journal) => {
      await journal.webhooks.follow([chat], noon)
      const asked = makeSignup({ email: ada })
      await journal.intake.append([asked, makeSignup({ email: ada }), ...makeSignups(1)])
      await settle(journal, { to: nth(journal, 1) })
      await journal.webhooks.replay(chat, asked.id)
      await fix(journal, 3)
      expect((await windowOf(journal)).people).toEqual([ada, 'person1@example.com'])
      await forget(journal)
      const to = nth(journal, 3)
      expect(await windowOf(journal)).toEqual({ people: emails(1, 1), upto: to })
      await settle(journal, { to })
      expect(new Set((await windowOf(journal)).people)).toEqual(new Set(['erased']))
    }),
  },

  {
    title:
      'who is asked for again leaves the message that is fixed, and a replay of all since a time ends it',
    run: inTwo(async (journal, other) => {
      await journal.webhooks.follow([chat], noon)
      const signups = makeSignups(4)
      await journal.intake.append(signups)
      await settle(journal, { to: nth(journal, 1) })
      await fix(journal, 3)
      await other.webhooks.replay(chat, signups[1]?.id ?? '')
      expect((await windowOf(journal)).people).toEqual(['person3@example.com'])
      expect(await other.webhooks.replaySince(chat, 0)).toBeGreaterThan(0)
      expect(await journal.webhooks.endpoint(chat)).toMatchObject({ fixedTo: undefined })
      expect((await windowOf(journal)).people).toEqual(['person2@example.com'])
    }),
  },
]
