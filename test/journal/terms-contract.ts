import { describe, expect, test } from 'vitest'

import type { AppendTerms } from '../../src/journal/intake-log.ts'
import type { Journal } from '../../src/journal/journal.ts'
import type { JournalWorld } from './journal-contract.ts'
import { makeSignup, makeSignups } from '../../harness/make-signup.ts'

const noon = Date.UTC(2026, 10, 20, 12)
const minute = 60 * 1000
const hour = 60 * minute

/** What every engine must do about the terms that signups come under, also with two open on one store. */
export function journalTermsContract(name: string, createWorld: () => Promise<JournalWorld>): void {
  const add = (journal: Journal, terms: AppendTerms, receivedAt = noon) =>
    journal.intake.append([makeSignup({ receivedAt })], terms)

  describe(`${name}: name spaces of idempotency keys`, () => {
    const keyed = (space: string, fingerprint: string) => ({
      idempotency: { space, key: 'order-1', fingerprint },
    })

    test('the same key in two name spaces is two keys', async () => {
      await using world = await createWorld()
      await using journal = await world.open()
      const ours = await add(journal, keyed('', 'A'))
      const theirs = await add(journal, keyed('theirs', 'B'))
      expect([ours.kind, theirs.kind]).toEqual(['appended', 'appended'])
      expect(await add(journal, keyed('', 'A'))).toEqual({ ...ours, kind: 'replayed' })
      expect(await add(journal, keyed('theirs', 'B'))).toEqual({ ...theirs, kind: 'replayed' })
      expect(await add(journal, keyed('theirs', 'A'))).toEqual({ kind: 'mismatch' })
      expect(await journal.reader.backlog()).toBe(2)
    })

    test('no two pairs of name space and key are taken for each other', async () => {
      await using world = await createWorld()
      await using journal = await world.open()
      for (const [space, key] of [
        ['a', 'b c'],
        ['a b', 'c'],
        ['', 'a b c'],
        ['a', 'b'],
      ] as const) {
        const idempotency = { space, key, fingerprint: 'A' }
        expect(await journal.intake.knows(idempotency)).toBe(false)
        expect(await add(journal, { idempotency })).toMatchObject({ kind: 'appended' })
        expect(await journal.intake.knows({ space, key })).toBe(true)
      }
    })

    test('a key is known to another instance on the same store', async () => {
      await using world = await createWorld()
      await using one = await world.open()
      await using other = await world.open()
      const first = await add(one, keyed('', 'A'))
      expect(await other.intake.knows({ space: '', key: 'order-1' })).toBe(true)
      expect(await other.intake.recall(keyed('', 'A').idempotency)).toEqual({
        ...first,
        kind: 'replayed',
      })
      expect(await add(other, keyed('', 'A'))).toEqual({ ...first, kind: 'replayed' })
      expect(await add(other, keyed('', 'B'))).toEqual({ kind: 'mismatch' })
    })
  })

  describe(`${name}: used challenge tokens`, () => {
    const token = { token: 'digest of a token' }
    const used = { kind: 'tokenUsed' }

    test('a token is good for one append, also after a restart', async () => {
      await using world = await createWorld()
      {
        await using journal = await world.open()
        expect(await add(journal, token)).toMatchObject({ kind: 'appended' })
        expect(await add(journal, token)).toEqual(used)
      }
      await using journal = await world.open()
      expect(await add(journal, token)).toEqual(used)
      expect(await add(journal, { token: 'another' })).toMatchObject({ kind: 'appended' })
      expect(await journal.reader.backlog()).toBe(2)
    })

    test('what another instance on the same store has used is used', async () => {
      await using world = await createWorld()
      await using one = await world.open()
      await using other = await world.open()
      const answers = await Promise.all([add(one, token), add(other, token)])
      expect(answers.map(({ kind }) => kind).sort()).toEqual(['appended', 'tokenUsed'])
    })

    test('of appends that arrive together with one token one is added', async () => {
      await using world = await createWorld()
      await using journal = await world.open()
      const answers = await Promise.all(Array.from({ length: 20 }, () => add(journal, token)))
      expect(answers.filter(({ kind }) => kind === 'appended')).toHaveLength(1)
      expect(await journal.reader.backlog()).toBe(1)
    })

    test('a token of which nothing was stored is good still', async () => {
      await using world = await createWorld()
      await using journal = await world.open({ newTabsMax: 0, namedTabs: ['Sheet1'] })
      const signup = makeSignup()
      await expect(journal.intake.append([signup, signup], token)).rejects.toThrow()
      const refused = await journal.intake.append([makeSignup({ sheetTab: 'Extra' })], token)
      expect(refused).toEqual({ kind: 'appended', results: [undefined] })
      await using other = await world.open()
      expect(await add(other, token)).toMatchObject({ kind: 'appended' })
    })

    test('a known idempotency key is answered again, whatever its token', async () => {
      await using world = await createWorld()
      await using journal = await world.open()
      const terms = { ...token, idempotency: { space: '', key: 'k', fingerprint: 'A' } }
      const first = await add(journal, terms)
      expect(await add(journal, terms)).toEqual({ ...first, kind: 'replayed' })
      const other = { ...token, idempotency: { space: '', key: 'other', fingerprint: 'A' } }
      expect(await add(journal, other)).toEqual(used)
      expect(await journal.intake.knows({ space: '', key: 'other' })).toBe(false)
    })

    test('a token is known for ten minutes, and forgotten some time later as others come', async () => {
      await using world = await createWorld()
      await using journal = await world.open()
      const show = (of: string, at: number) => add(journal, { token: of }, at)
      for (let index = 0; index < 10; index++) await show(`old-${index}`, noon)
      await show('later', noon + 10 * minute)
      expect(await show('old-0', noon + 10 * minute)).toEqual(used)
      for (let index = 0; index < 5; index++) await show(`new-${index}`, noon + 11 * minute)
      for (let index = 0; index < 10; index++) {
        expect(await show(`old-${index}`, noon + 11 * minute)).toMatchObject({ kind: 'appended' })
      }
      expect(await show('later', noon + 11 * minute)).toEqual(used)
    })
  })

  describe(`${name}: new tabs by opener`, () => {
    const policy = { newTabsMax: 5, newTabsPerHourMax: 2, namedTabs: ['Sheet1', 'News'] }
    const take = async (
      journal: Journal,
      tabs: readonly string[],
      opener: string | undefined,
      receivedAt = noon,
    ) => {
      const signups = tabs.map((sheetTab) => makeSignup({ sheetTab, receivedAt }))
      const answer = await journal.intake.append(signups, { opener })
      return 'results' in answer ? answer.results.map((result) => result?.sheetTab) : []
    }

    test('one opener makes so many new tabs and no more; others, named and known ones do not count', async () => {
      await using world = await createWorld()
      await using journal = await world.open(policy)
      const given = ['A', 'Sheet1', 'News', 'B', 'a', 'C', 'b']
      const taken = ['A', 'Sheet1', 'News', 'B', 'A', undefined, 'B']
      expect(await take(journal, given, '192.0.2.1')).toEqual(taken)
      expect(await take(journal, ['C', 'D', 'E'], '192.0.2.2')).toEqual(['C', 'D', undefined])
      expect(await take(journal, ['C'], '192.0.2.1')).toEqual(['C'])
    })

    test('without an opener only the number of all new tabs is limited', async () => {
      await using world = await createWorld()
      await using journal = await world.open(policy)
      const given = ['A', 'B', 'C', 'D', 'E', 'F']
      expect(await take(journal, given, undefined)).toEqual([...given.slice(0, 5), undefined])
      expect(await take(journal, ['G'], '192.0.2.1')).toEqual([undefined])
    })

    test('an hour later an opener may make new tabs again', async () => {
      await using world = await createWorld()
      await using journal = await world.open(policy)
      const one = (tab: string, at: number) => take(journal, [tab], '192.0.2.1', at)
      expect(await one('A', noon)).toEqual(['A'])
      expect(await one('B', noon + hour / 2)).toEqual(['B'])
      expect(await one('C', noon + hour - 1)).toEqual([undefined])
      expect(await one('C', noon + hour)).toEqual(['C'])
      expect(await one('D', noon + hour)).toEqual([undefined])
      expect(await one('D', noon + 1.5 * hour)).toEqual(['D'])
    })

    test('tabs of a clock that was ahead count no more when it is set right', async () => {
      await using world = await createWorld()
      await using journal = await world.open(policy)
      const day = 24 * hour
      expect(await take(journal, ['A', 'B', 'C'], 'a', noon + day)).toEqual(['A', 'B', undefined])
      expect(await take(journal, ['C', 'D', 'E'], 'a', noon)).toEqual(['C', 'D', undefined])
    })

    test('an append that failed counts for no opener', async () => {
      await using world = await createWorld()
      await using journal = await world.open(policy)
      const twice = makeSignup({ sheetTab: 'Failed' })
      await expect(journal.intake.append([twice, twice], { opener: 'a' })).rejects.toThrow()
      expect(await take(journal, ['A', 'B', 'C'], 'a')).toEqual(['A', 'B', undefined])
    })

    test('tabs are counted across restarts and instances, each knows what the other has made', async () => {
      await using world = await createWorld()
      {
        await using journal = await world.open(policy)
        await take(journal, ['A'], 'a')
      }
      await using one = await world.open(policy)
      await using other = await world.open(policy)
      expect(await take(one, ['B'], 'a')).toEqual(['B'])
      expect(await take(other, ['C', 'b', 'a'], 'a')).toEqual([undefined, 'B', 'A'])
      expect(await take(other, ['C', 'D'], 'b')).toEqual(['C', 'D'])
      expect(await take(one, ['E', 'F'], 'c')).toEqual(['E', undefined])
      expect(await take(other, ['f'], undefined)).toEqual([undefined])
    })

    test('whether a tab is taken can be asked beforehand, and asking makes none', async () => {
      await using world = await createWorld()
      await using journal = await world.open(policy)
      await journal.intake.append(makeSignups(1, { sheetTab: 'A', receivedAt: noon }), {
        opener: 'a',
      })
      const asks = (tab: string, opener?: string) => journal.intake.takesTab(tab, noon, opener)
      for (let time = 0; time < 3; time++) expect(await asks('B', 'a')).toBe(true)
      expect(await take(journal, ['B'], 'a')).toEqual(['B'])
      for (const tab of ['a', 'B', 'News', 'sheet1']) expect(await asks(tab, 'a')).toBe(true)
      expect([await asks('C', 'a'), await asks('C', 'b'), await asks('C')]).toEqual([
        false,
        true,
        true,
      ])
      expect(await journal.intake.takesTab('C', noon + hour, 'a')).toBe(true)
      await take(journal, ['C', 'D', 'E'], undefined)
      expect([await asks('F', 'b'), await asks('F'), await asks('e')]).toEqual([false, false, true])
    })
  })
}
