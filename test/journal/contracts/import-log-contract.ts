import { expect } from 'vitest'

import { freezeNext } from '../../../harness/freeze-next.ts'
import { addressesOf, makeSignup, makeSignups } from '../../../harness/make-signup.ts'
import type { Journal } from '../../../src/journal/contracts/journal.ts'
import { type ContractTest, inJournal, inTwo, underPolicy } from './contract.ts'

const people = (...names: string[]) =>
  names.map((name) => makeSignup({ email: `${name}@example.com` }))

async function addresses({ reader }: Journal): Promise<string[]> {
  return (await reader.page(0, 1_000)).map(({ signup }) => signup.email)
}

/** Signups are brought along from elsewhere. */
export const importedSignups: readonly ContractTest[] = [
  {
    title: 'imported signups keep their fields, are counted like others, and wait for delivery',
    run: inJournal(async ({ imports, reader, delivery }) => {
      const received = Date.UTC(2019, 4, 1, 8)
      const texts = { name: 'Ada', tags: ['a', 'b'], metadata: '{"x":1}', fields: { seats: 2 } }
      const full = { ...texts, sheetTab: 'News' }
      // The id tells when it was imported.
      const { id, receivedAt: imported } = makeSignup()
      const signups = [makeSignup({ ...full, id, receivedAt: received }), makeSignup()]
      expect(await imports.add(signups)).toEqual(['added', 'added'])
      expect((await reader.page(0, 10)).map(({ signup }) => signup)).toEqual(signups)
      expect(await reader.waitingSince([])).toBe(imported)
      expect(await reader.figures()).toMatchObject({
        oldestWaiting: imported,
        all: { accepted: 2, written: 0 },
      })
      expect(await reader.counted(['accepted', 'written'], received, received)).toEqual([
        { what: 'accepted', at: received, name: '', count: 1 },
      ])
      expect(addressesOf(await freezeNext(delivery))).toEqual({
        News: ['ada@example.com'],
        Sheet1: ['ada@example.com'],
      })
    }),
  },

  {
    title: 'of an imported consent only a text of the site is kept as one',
    run: underPolicy({ wordings: ['I agree.'] }, async ({ imports, reader }) => {
      const saying = (consent: string) => makeSignup({ metadata: JSON.stringify({ consent }) })
      await imports.add([saying('I agree.'), saying('Sell my data.')], { keepsDuplicates: true })
      const kept = (await reader.page(0, 10)).map(
        ({ signup }) => JSON.parse(signup.metadata) as object,
      )
      expect(kept).toEqual([{ consent: 'I agree.' }, { 'consent (sent)': 'Sell my data.' }])
    }),
  },

  {
    title: 'whoever delivers hears how many signups each import has added',
    run: inJournal(async ({ imports, delivery }) => {
      const heard: number[] = []
      delivery.onAppend((added) => heard.push(added))
      await imports.add(people('ada', 'bob', 'ada'))
      await imports.add(people('ada'))
      expect(heard).toEqual([2])
    }),
  },

  {
    title:
      'an address that its tab has is not added again, letter case aside, even after a restart',
    run: async (world) => {
      {
        await using journal = await world.open()
        await journal.intake.append([makeSignup({ email: 'Ada@example.com', sheetTab: 'News' })])
        const signups = [
          makeSignup({ email: 'aDA@example.com', sheetTab: 'news' }),
          makeSignup({ email: 'ada@example.com', sheetTab: 'Events' }),
          makeSignup({ email: 'ADA@example.com', sheetTab: 'Events' }),
          makeSignup({ email: 'bob@example.com', sheetTab: 'News' }),
        ]
        expect(await journal.imports.add(signups)).toEqual(['known', 'added', 'known', 'added'])
      }
      await using journal = await world.open()
      expect(await journal.imports.add(people('bob'))).toEqual(['added'])
      const again = [makeSignup({ email: 'bob@example.com', sheetTab: 'NEWS' }), ...people('bob')]
      expect(await journal.imports.add(again)).toEqual(['known', 'known'])
      expect(await journal.reader.backlog()).toBe(4)
    },
  },

  {
    title: 'an address is known at once when another instance takes it between two imports',
    run: inTwo(async (one, other) => {
      await one.imports.add(people('ada'))
      await other.intake.append(people('bob'))
      await other.imports.add(people('eve'))
      expect(await one.imports.add(people('bob', 'eve', 'ida'))).toEqual([
        'known',
        'known',
        'added',
      ])
    }),
  },

  {
    title: 'an address that another instance took stays known when this one has imported since',
    run: inTwo(async (one, other) => {
      await one.imports.add(people('ada'))
      await other.intake.append(people('bob'))
      await one.imports.add(people('eve'))
      expect(await one.imports.add(people('bob'))).toEqual(['known'])
    }),
  },

  {
    title: 'two instances that import one list at once add each address once',
    run: inTwo(async (one, other) => {
      const names = Array.from({ length: 60 }, (_, number) => `person${number}`)
      const importAll = async ({ imports }: Journal) => {
        let added = 0
        for (let at = 0; at < names.length; at += 7) {
          const results = await imports.add(people(...names.slice(at, at + 7)))
          added += results.filter((result) => result === 'added').length
        }
        return added
      }
      const counts = await Promise.all([importAll(one), importAll(other)])
      expect(counts[0] + counts[1]).toBe(names.length)
      expect((await addresses(one)).sort()).toEqual(
        names.map((name) => `${name}@example.com`).sort(),
      )
    }),
  },

  {
    title: 'duplicates can be kept, also under a policy that ignores them',
    run: underPolicy({ duplicates: 'ignore' }, async ({ imports, intake, delivery }) => {
      await intake.append(people('ada'))
      expect(await imports.add(people('ada', 'ada'), { keepsDuplicates: true })).toEqual([
        'added',
        'added',
      ])
      expect(addressesOf(await freezeNext(delivery))['Sheet1']).toHaveLength(3)
      expect(await imports.add(people('ada'))).toEqual(['known'])
    }),
  },

  {
    title: 'a signup whose tab would be one too many is left out',
    run: underPolicy({ newTabsMax: 1, namedTabs: ['Named'] }, async ({ imports, reader }) => {
      const signups = ['One', 'Two', 'Named', 'one'].map((sheetTab, at) =>
        makeSignup({ sheetTab, email: `person${at}@example.com` }),
      )
      const results = ['added', 'tooManyTabs', 'added', 'added']
      expect(await imports.preview(signups)).toEqual(results)
      expect(await imports.add(signups)).toEqual(results)
      expect(await reader.backlog()).toBe(3)
    }),
  },

  {
    title: 'a person who was forgotten is not brought back, and a later signup of theirs is known',
    run: async (world) => {
      {
        await using journal = await world.open()
        await journal.imports.add(people('ada', 'bob'))
        await journal.erasure.forget('ADA@example.com')
        await journal.erasure.eraseNext(0)
      }
      await using journal = await world.open()
      const { imports, intake } = journal
      expect(await imports.preview(people('Ada'))).toEqual(['forgotten'])
      expect(await imports.add(people('ada', 'bob'))).toEqual(['forgotten', 'known'])
      expect(await imports.add(people('ada'), { keepsDuplicates: true })).toEqual(['forgotten'])
      expect(await addresses(journal)).toEqual(['bob@example.com'])
      await intake.append(people('ada'))
      expect(await imports.add(people('ada'))).toEqual(['known'])
    },
  },

  {
    title: 'a forgotten person whose row is on its way is forgotten to an import, too',
    run: inJournal(async (journal) => {
      // The second one is forgotten after an import has read the addresses.
      for (const name of ['ada', 'bob']) {
        await journal.intake.append(people(name))
        const batch = await freezeNext(journal.delivery)
        await journal.erasure.forget(`${name}@example.com`)
        await journal.erasure.eraseNext(0)
        expect(await journal.imports.add(people(name))).toEqual(['forgotten'])
        await journal.delivery.settle(batch?.number ?? 0, 1)
      }
    }),
  },

  {
    title: 'an import that fails adds nothing, and the next one knows none of its addresses',
    run: inJournal(async (journal) => {
      const { imports } = journal
      const broken = makeSignup({ email: 'bob@example.com', name: undefined as never })
      await expect(imports.add([...people('ada'), broken])).rejects.toThrow()
      expect(await imports.add(people('ada'))).toEqual(['added'])
      expect(await addresses(journal)).toEqual(['ada@example.com'])
    }),
  },

  {
    title: 'an import finds addresses in a journal with many signups',
    run: inJournal(async ({ imports, intake }) => {
      // A thousand are read at once.
      const many = makeSignups(2_001)
      await intake.append(many)
      const some = [0, 999, 1_000, 2_000].map((at) => many[at])
      expect(await imports.add(some.map(asNew))).toEqual(some.map(() => 'known'))
    }),
  },
]

/** Nothing is brought along yet. Each of these tests needs one instance that keeps what it has previewed. */
export const previewedImports: readonly ContractTest[] = [
  {
    title: 'a preview tells what each import would do, and adds nothing',
    run: underPolicy({ newTabsMax: 2 }, async (journal) => {
      const { imports, intake, reader } = journal
      await intake.append(people('ada'))
      expect(await imports.preview(people('ada', 'bob'))).toEqual(['known', 'added'])
      expect(await imports.preview(people('bob', 'eve'))).toEqual(['known', 'added'])
      expect(await imports.preview(people('bob'), { keepsDuplicates: true })).toEqual(['added'])
      const inTabs = ['New', 'new', 'Newer'].map((sheetTab) => makeSignup({ sheetTab }))
      expect(await imports.preview(inTabs)).toEqual(['added', 'known', 'tooManyTabs'])
      expect(await addresses(journal)).toEqual(['ada@example.com'])
      expect(await reader.backlog()).toBe(1)
    }),
  },

  {
    title: 'previews count each new tab once, and those that the settings name not at all',
    run: underPolicy(
      { newTabsMax: 2, newTabsPerHourMax: 1, namedTabs: ['Named'] },
      async ({ imports }) => {
        const inTab = (sheetTab: string, email = 'ada@example.com') =>
          makeSignup({ sheetTab, email })
        expect(await imports.preview([inTab('Named'), inTab('New')])).toEqual(['added', 'added'])
        const others = [inTab('New', 'bob@example.com'), inTab('Newer'), inTab('Newest')]
        expect(await imports.preview(others)).toEqual(['added', 'added', 'tooManyTabs'])
      },
    ),
  },

  {
    title: 'an address that was previewed for one new tab is new to another one',
    run: inJournal(async ({ imports }) => {
      const inTab = (sheetTab: string) => makeSignup({ sheetTab })
      expect(await imports.preview([inTab('One')])).toEqual(['added'])
      expect(await imports.preview([inTab('Two'), inTab('ONE')])).toEqual(['added', 'known'])
    }),
  },

  {
    title: 'a tab that an import was refused is not there for a preview either',
    run: underPolicy({ newTabsMax: 0 }, async ({ imports }) => {
      const signup = makeSignup({ sheetTab: 'New' })
      expect(await imports.add([signup])).toEqual(['tooManyTabs'])
      expect(await imports.preview([signup])).toEqual(['tooManyTabs'])
    }),
  },

  {
    title: 'what was previewed is added all the same',
    run: inJournal(async ({ imports, intake }) => {
      await intake.append(people('ada'))
      expect(await imports.preview(people('bob', 'bob'))).toEqual(['added', 'known'])
      expect(await imports.add(people('bob', 'bob'))).toEqual(['added', 'known'])
      expect(await imports.preview(people('bob'))).toEqual(['known'])
    }),
  },
]

function asNew(signup = makeSignup()) {
  return makeSignup({ email: signup.email })
}
