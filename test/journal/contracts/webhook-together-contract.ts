import { expect } from 'vitest'

import { makeSignup, makeSignups } from '../../../harness/make-signup.ts'
import type { Journal } from '../../../src/journal/contracts/journal.ts'
import type { Fixed, Settled } from '../../../src/journal/contracts/webhook-log.ts'
import { type ContractTest, inJournal, inTwo, nth } from './contract.ts'
import { ada, forget, noon } from './erasure-contract.ts'

const chat = 'chat'

/** The addresses of the window behind the cursor, and up to where it goes. */
async function windowOf({ webhooks }: Journal, most = 8) {
  const { cursor = 0, fixedTo } = (await webhooks.endpoint(chat)) ?? {}
  const fixed = fixedTo === undefined ? undefined : { to: fixedTo, own: [] }
  const { messages, upto } = await webhooks.next(chat, cursor, noon, { most, fixed })
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

function fix(journal: Journal, place: number, own: Fixed['own'] = []): Promise<boolean> {
  return settle(journal, { fixed: { to: nth(journal, place), own } })
}

function emails(from: number, to: number): string[] {
  return Array.from({ length: to - from + 1 }, (_, at) => `person${from + at}@example.com`)
}

/** One message tells of many, and says the same in each try. */
export const messagesTogether: readonly ContractTest[] = [
  {
    title:
      'a window for one message has as many as it is asked for, half of them with a row of their own',
    run: inJournal(async (journal) => {
      await journal.webhooks.follow([chat], noon)
      const signups = makeSignups(20)
      await journal.intake.append(signups)
      expect(await windowOf(journal)).toEqual({ people: emails(1, 8), upto: nth(journal, 8) })
      await settle(journal, { to: nth(journal, 10) })
      for (const { id } of signups.slice(0, 5)) await journal.webhooks.replay(chat, id)
      expect((await windowOf(journal)).people).toEqual([...emails(1, 4), ...emails(11, 14)])
    }),
  },

  {
    title: 'a message that is fixed has its own signups over a restart, until it has ended',
    async run(world) {
      {
        await using journal = await world.open()
        await journal.webhooks.follow([chat], noon)
        const signups = makeSignups(6)
        await journal.intake.append(signups)
        await settle(journal, { to: nth(journal, 2) })
        await journal.webhooks.replay(chat, signups[0]?.id ?? '')
        expect(await fix(journal, 4, [nth(journal, 1)])).toBe(true)
        await journal.webhooks.replay(chat, signups[1]?.id ?? '')
      }
      await using journal = await world.open()
      const { people, upto } = await windowOf(journal)
      expect(people).toEqual(['person1@example.com', ...emails(3, 4)])
      expect(upto).toBe(nth(journal, 4))
      const position = nth(journal, 1)
      const outcomes = [{ kind: 'sent', type: 'signup.accepted', position }] as const
      await settle(journal, { to: upto, outcomes })
      expect(await journal.webhooks.endpoint(chat)).toMatchObject({ fixedTo: undefined })
      expect((await windowOf(journal)).people).toEqual(['person2@example.com', ...emails(5, 6)])
    },
  },

  {
    title:
      'of two instances that fix a message at once, the second one is told so, and may look again',
    run: inTwo(async (journal, other) => {
      await journal.webhooks.follow([chat], noon)
      await journal.intake.append(makeSignups(4))
      const fixedFrom = undefined
      const fixed = { to: nth(journal, 2), own: [] }
      expect(await settle(journal, { fixedFrom, fixed })).toBe(true)
      const late = { to: nth(journal, 3), own: [] }
      expect(await settle(other, { fixedFrom, fixed: late })).toBe(false)
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
      await fix(journal, 3, [nth(journal, 1)])
      expect((await windowOf(journal)).people).toEqual([ada, ada, 'person1@example.com'])
      await forget(journal)
      const { people, upto } = await windowOf(journal)
      expect(people.filter((it) => it !== 'erased')).toEqual(['person1@example.com'])
      expect(upto).toBe(nth(journal, 3))
    }),
  },

  {
    title:
      'a replay ends the message that is fixed, so that one who is asked for again is told again',
    run: inTwo(async (journal, other) => {
      await journal.webhooks.follow([chat], noon)
      const signups = makeSignups(4)
      await journal.intake.append(signups)
      await settle(journal, { to: nth(journal, 2) })
      await journal.webhooks.replay(chat, signups[0]?.id ?? '')
      await fix(journal, 3, [nth(journal, 1)])
      await other.webhooks.replay(chat, signups[0]?.id ?? '')
      expect((await windowOf(journal)).people).toEqual(['person3@example.com'])
      expect(await other.webhooks.replaySince(chat, 0)).toBeGreaterThan(0)
      expect(await journal.webhooks.endpoint(chat)).toMatchObject({ fixedTo: undefined })
      expect(new Set((await windowOf(journal)).people)).toEqual(new Set(emails(1, 4)))
    }),
  },
]
