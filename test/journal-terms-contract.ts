import { describe, expect, test } from 'vitest'

import type { AppendTerms, Journal } from '../src/journal/journal.ts'
import type { JournalWorld } from './journal-contract.ts'
import { makeSignup } from './make-signup.ts'

const noon = Date.UTC(2026, 10, 20, 12)
const minute = 60 * 1000

/** What every engine must do about the terms that signups come under, also with two open on one store. */
export function journalTermsContract(name: string, createWorld: () => Promise<JournalWorld>): void {
  const add = (journal: Journal, terms: AppendTerms, receivedAt = noon) =>
    journal.append([makeSignup({ receivedAt })], terms)

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
      expect(await journal.backlog()).toBe(2)
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
        expect(await journal.knows(idempotency)).toBe(false)
        expect(await add(journal, { idempotency })).toMatchObject({ kind: 'appended' })
        expect(await journal.knows({ space, key })).toBe(true)
      }
    })

    test('a key is known to another instance on the same store', async () => {
      await using world = await createWorld()
      await using one = await world.open()
      await using other = await world.open()
      const first = await add(one, keyed('', 'A'))
      expect(await other.knows({ space: '', key: 'order-1' })).toBe(true)
      expect(await other.recall(keyed('', 'A').idempotency)).toEqual({ ...first, kind: 'replayed' })
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
      expect(await journal.backlog()).toBe(2)
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
      expect(await journal.backlog()).toBe(1)
    })

    test('a token of which nothing was stored is good still', async () => {
      await using world = await createWorld()
      await using journal = await world.open({ newTabsMax: 0, namedTabs: ['Sheet1'] })
      const signup = makeSignup()
      await expect(journal.append([signup, signup], token)).rejects.toThrow()
      const refused = await journal.append([makeSignup({ sheetTab: 'Extra' })], token)
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
      expect(await journal.knows({ space: '', key: 'other' })).toBe(false)
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
}
