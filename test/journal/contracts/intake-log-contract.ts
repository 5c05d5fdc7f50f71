import { expect } from 'vitest'

import { freezeNext } from '../../../harness/freeze-next.ts'
import { makeFullSignup, makeSignup, makeSignups } from '../../../harness/make-signup.ts'
import type { Appended, AppendTerms, TabCursor } from '../../../src/journal/contracts/intake-log.ts'
import type { Journal } from '../../../src/journal/contracts/journal.ts'
import { type ContractTest, inJournal, inTwo, nth, underPolicy } from './contract.ts'

const noon = Date.UTC(2026, 10, 20, 12)
const minute = 60 * 1000
const token = { token: 'digest of a token' }
const used = { kind: 'tokenUsed' }
const oneTab = { newTabsMax: 1, newTabsPerHourMax: 1, namedTabs: ['Sheet1'] }

const add = (journal: Journal, terms: AppendTerms, receivedAt = noon) =>
  journal.intake.append([makeSignup({ receivedAt })], terms)

/** The tabs that receipts name. */
function tabsOf(answer: Appended): (string | undefined)[] {
  return 'results' in answer ? answer.results.map((result) => result?.sheetTab) : []
}

/** Signups that were appended can be found, and listeners hear when they are written. */
export const acceptedSignups: readonly ContractTest[] = [
  {
    title: 'a signup that was appended is found by its id, even after a restart',
    run: async (world) => {
      const signup = makeSignup({ sheetTab: 'News' })
      {
        await using journal = await world.open()
        await journal.intake.append([signup])
      }
      await using journal = await world.open()
      expect(await journal.intake.find(signup.id)).toEqual({
        id: signup.id,
        position: expect.any(Number),
        sheetTab: 'News',
        receivedAt: signup.receivedAt,
      })
    },
  },

  {
    title:
      'a consent is kept as one only if it is a text of the site, of its present settings, earlier ones or those of another instance',
    run: async (world) => {
      const wordings = ['Old.', 'Alt.']
      {
        await using _ = await world.open({ wordings })
      }
      await using one = await world.open({ wordings: ['New.'] })
      await using other = await world.open({ wordings: ['Old.'], confirmation: { waitMs: minute } })
      const texts = ['New.', 'Alt.', 'Evil.', true, undefined, 'New. ']
      const sent = texts.map((consent) =>
        makeSignup({ metadata: JSON.stringify({ plan: 1, consent }) }),
      )
      await one.intake.append(sent)
      const hostile = '{"consent":"Evil.","consent (sent)":0}'
      const asked = [hostile, '{"consent":"New."}'].map((metadata) => makeSignup({ metadata }))
      await other.intake.ask(asked, { addressing: { share: '', language: 'en' } })
      const read = [...(await one.reader.page(0, 10)), ...(await one.reader.pending(0, 10))]
      expect(read.map(({ signup }) => JSON.parse(signup.metadata) as unknown)).toEqual([
        ...[
          { plan: 1, consent: 'New.' },
          { plan: 1, consent: 'Alt.' },
        ],
        ...[
          { plan: 1, 'consent (sent)': 'Evil.' },
          { plan: 1, 'consent (sent)': true },
        ],
        ...[{ plan: 1 }, { plan: 1, 'consent (sent)': 'New. ' }],
        { 'consent (sent)': 0, 'consent (sent) (signup)': 'Evil.' },
        { consent: 'New.' },
      ])
    },
  },

  {
    title: 'of earlier texts of a consent the latest hundred are known',
    run: async (world) => {
      const open = (wordings: readonly string[]) => world.open({ wordings })
      const texts = Array.from({ length: 102 }, (_, at) => `text ${at}`)
      for (const some of [texts.slice(0, 51), texts.slice(51), []]) {
        await using journal = await open(some)
        if (some.length > 0) continue
        const said = ['text 0', 'text 48', 'text 49', 'text 51', 'text 101']
        await journal.intake.append(
          said.map((consent) => makeSignup({ metadata: JSON.stringify({ consent }) })),
        )
        const kept = (await journal.reader.page(0, 10)).map(({ signup }) => signup.metadata)
        expect(kept.map((one) => one.includes('(sent)'))).toEqual([
          false,
          false,
          true,
          false,
          false,
        ])
      }
    },
  },

  {
    title: 'closing the journal commits the appends that wait',
    run: async (world) => {
      const signups = makeSignups(3)
      const journal = await world.open()
      const answers = signups.map((signup) => journal.intake.append([signup]))
      await journal[Symbol.asyncDispose]()
      expect((await Promise.all(answers)).map(({ kind }) => kind)).toEqual(
        signups.map(() => 'appended'),
      )
      await using again = await world.open()
      expect(await again.reader.backlog()).toBe(3)
    },
  },

  {
    title: 'a receipt spells the name of its tab as it was first used, even after a restart',
    run: async (world) => {
      {
        await using journal = await world.open()
        const answer = await journal.intake.append([
          makeSignup({ sheetTab: 'News' }),
          makeSignup({ sheetTab: 'NEWS' }),
        ])
        expect(tabsOf(answer)).toEqual(['News', 'News'])
      }
      await using journal = await world.open()
      expect(tabsOf(await journal.intake.append([makeSignup({ sheetTab: 'news' })]))).toEqual([
        'News',
      ])
    },
  },

  {
    title: 'an append that fails leaves none of its signups and no tab, and no tab counts',
    run: underPolicy(oneTab, async (journal) => {
      const twice = makeSignup()
      const other = makeSignup({ sheetTab: 'Never made' })
      const append = journal.intake.append([other, twice, twice], { client: 'a' })
      await expect(append).rejects.toThrow()
      expect(await journal.intake.find(other.id)).toBeUndefined()
      expect(await journal.reader.backlog()).toBe(0)
      const again = makeSignup({ sheetTab: 'never made' })
      const answer = await journal.intake.append([again], { client: 'a' })
      expect(tabsOf(answer)).toEqual(['never made'])
    }),
  },

  {
    title: 'an append that fails does no harm to one that arrives with it',
    run: inJournal(async (journal) => {
      const twice = makeSignup()
      const good = makeSignup()
      const results = await Promise.allSettled([
        journal.intake.append([twice, twice]),
        journal.intake.append([good]),
      ])
      expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
      expect(await journal.intake.find(good.id)).toBeDefined()
    }),
  },

  {
    title: 'every text of a signup comes back unchanged',
    run: inJournal(async (journal) => {
      const signup = makeSignup({
        sheetTab: "Jon's 🌵 'tab'",
        source: 'a "source"',
        name: 'Ålesund, 東京; DROP TABLE signup',
        tags: ['a, b', '"', '=1+1'],
        metadata: '{"a":[1,{"b":null}]}',
        fields: { company: '"東京" 🌵', seats: -1.5e-7, news: false },
      })
      await journal.intake.append([signup])
      const batch = await freezeNext(journal.delivery)
      expect(batch?.tabs).toEqual([{ tab: signup.sheetTab, signups: [signup] }])
    }),
  },

  {
    title: 'however many signups one append has, each comes back unchanged, in order',
    run: inJournal(async (journal) => {
      const sizes = [1, 31, 32, 33, 64, 75]
      const appends = sizes.map((size) => Array.from({ length: size }, () => makeFullSignup()))
      for (const signups of appends) await journal.intake.append(signups)
      const batch = await freezeNext(journal.delivery, { rowsMax: 1000 })
      expect(batch?.tabs).toEqual([{ tab: 'News', signups: appends.flat() }])
      expect(await journal.reader.backlog()).toBe(appends.flat().length)
    }),
  },

  {
    title:
      'when a batch is settled, listeners hear how far its tabs are written, until they unsubscribe',
    run: inJournal(async (journal) => {
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
    }),
  },

  {
    title:
      'an instance can ask how far a tab is written, even when another one has settled the batch',
    run: inTwo(async (one, other) => {
      const heard: unknown[] = []
      one.intake.onSettle((cursors) => heard.push(cursors))
      await one.intake.append([...makeSignups(2), makeSignup({ sheetTab: 'News' })])
      const tabs = ['Sheet1', 'News', 'None']
      expect(await one.intake.cursors(tabs)).toEqual([
        { tab: 'Sheet1', upto: 0 },
        { tab: 'News', upto: 0 },
      ])
      const batch = await freezeNext(other.delivery, { wanted: (tab) => tab === 'Sheet1' })
      await other.delivery.settle(batch?.number ?? 0, noon)
      expect(heard).toEqual([])
      expect(await one.intake.cursors(['SHEET1', 'News'])).toEqual([
        { tab: 'SHEET1', upto: nth(one, 2) },
        { tab: 'News', upto: 0 },
      ])
    }),
  },
]

/** A challenge token is good for one append. */
export const usedTokens: readonly ContractTest[] = [
  {
    title: 'a token is good for one append, even after a restart',
    run: async (world) => {
      {
        await using journal = await world.open()
        expect(await add(journal, token)).toMatchObject({ kind: 'appended' })
        expect(await add(journal, token)).toEqual(used)
      }
      await using journal = await world.open()
      expect(await add(journal, token)).toEqual(used)
      expect(await add(journal, { token: 'another' })).toMatchObject({ kind: 'appended' })
      expect(await journal.reader.backlog()).toBe(2)
    },
  },

  {
    title: 'a token is good for one signup, whether it is to be confirmed or not',
    run: inJournal(async (journal) => {
      const addressing = { share: 'share', language: 'en' }
      const ask = () => journal.intake.ask([makeSignup()], { ...token, addressing })
      expect(await ask()).toMatchObject({ kind: 'appended' })
      expect(await ask()).toEqual(used)
      expect(await add(journal, token)).toEqual(used)
      expect((await journal.reader.figures()).all.pending).toBe(1)
    }),
  },

  {
    title: 'when many appends with one token arrive together, one is added',
    run: inJournal(async (journal) => {
      const answers = await Promise.all(Array.from({ length: 20 }, () => add(journal, token)))
      expect(answers.filter(({ kind }) => kind === 'appended')).toHaveLength(1)
      expect(await journal.reader.backlog()).toBe(1)
    }),
  },

  {
    title: 'a token is still good when no signup was stored with it',
    run: async (world) => {
      await using journal = await world.open({ newTabsMax: 0, namedTabs: ['Sheet1'] })
      const signup = makeSignup()
      await expect(journal.intake.append([signup, signup], token)).rejects.toThrow()
      const refused = await journal.intake.append([makeSignup({ sheetTab: 'Extra' })], token)
      expect(refused).toEqual({ kind: 'appended', results: [undefined] })
      await using other = await world.open()
      expect(await add(other, token)).toMatchObject({ kind: 'appended' })
    },
  },

  {
    title:
      'a request with a known idempotency key gets its answer again, although its token is used',
    run: inJournal(async (journal) => {
      const terms = { ...token, idempotency: { space: '', key: 'k', fingerprint: 'A' } }
      const first = await add(journal, terms)
      expect(await add(journal, terms)).toEqual({ ...first, kind: 'replayed' })
      const other = { ...token, idempotency: { space: '', key: 'other', fingerprint: 'A' } }
      expect(await add(journal, other)).toEqual(used)
      expect(await journal.intake.knows({ space: '', key: 'other' })).toBe(false)
    }),
  },

  {
    title: 'a token is remembered for ten minutes, and forgotten when later ones come',
    run: inJournal(async (journal) => {
      const show = (of: string, at: number) => add(journal, { token: of }, at)
      for (let index = 0; index < 10; index++) await show(`old-${index}`, noon)
      await show('later', noon + 10 * minute)
      expect(await show('old-0', noon + 10 * minute)).toEqual(used)
      for (let index = 0; index < 5; index++) await show(`new-${index}`, noon + 11 * minute)
      for (let index = 0; index < 10; index++) {
        expect(await show(`old-${index}`, noon + 11 * minute)).toMatchObject({ kind: 'appended' })
      }
      expect(await show('later', noon + 11 * minute)).toEqual(used)
    }),
  },
]
