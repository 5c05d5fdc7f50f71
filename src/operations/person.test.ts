import { expect, test } from 'vitest'
import { makeSignup, makeSignups } from '../../harness/make-signup.ts'
import { freezeNext } from '../../harness/freeze-next.ts'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
import type { BesideList } from '../journal/contracts/confirmation.ts'
import type { Journal } from '../journal/contracts/journal.ts'
import type { SignupId } from '../signup/signup.ts'
import { addressesOf, keptAbout, newestAbout } from './person.ts'

const stop = new AbortController().signal
const nobody: BesideList = { pending: [], messages: [], block: undefined }
const agreed = (text: string, more: object = {}) => JSON.stringify({ ...more, consent: text })

/** What is kept of the person, of whom the journal has this beside the list. */
async function keptIn(journal: Journal, address: string, beside = nobody) {
  const confirmation = { ...journal.confirmation, ofPerson: async () => beside }
  const journals = new Map([['default', { ...journal, confirmation }]])
  return Array.fromAsync(keptAbout(address, { journals, endpoints: new Map(), stop }))
}

test('all signups of a person are found among those of others, whatever the case, and whether they have rows', async () => {
  await using journal = openSqliteJournal(':memory:')
  const ada = { email: 'Ada@example.com', receivedAt: Date.UTC(2026, 10, 20) }
  await journal.intake.append([makeSignup({ ...ada, tags: ['a'], fields: { seats: 2 } })])
  const batch = await freezeNext(journal.delivery)
  await journal.delivery.settle(batch?.number ?? 0, Date.UTC(2026, 10, 21))
  await journal.intake.append([
    ...makeSignups(4_500),
    makeSignup({ ...ada, email: 'ada@example.com' }),
  ])
  expect(await keptIn(journal, 'ADA@example.com')).toMatchObject([
    {
      ...{ kind: 'signup', site: 'default', state: 'written', tags: ['a'] },
      ...{ receivedAt: '2026-11-20T00:00:00.000Z', writtenAt: '2026-11-21T00:00:00.000Z' },
      fields: { seats: 2 },
    },
    { kind: 'signup', state: 'waiting', writtenAt: null, wording: null },
  ])
})

test('the end of an id leads to its person, and to two when the ids of several end so', async () => {
  await using journal = openSqliteJournal(':memory:')
  const id = (start: string, end: string) => `${start}-8a6e-7b1f-9c3d-0000${end}` as SignupId
  await journal.intake.append([
    makeSignup({ id: id('0199d4c0', '2e4f6a8b'), email: 'ada@example.com' }),
    makeSignup({ id: id('0199d4c1', '2e4f6a8b'), email: 'Ada@example.com' }),
    makeSignup({ id: id('0199d4c2', '9c3d7b1f'), email: 'ada@example.com' }),
    ...makeSignups(4_500),
    makeSignup({ id: id('0199d4c3', '9c3d7b1f'), email: 'bob@example.com' }),
  ])
  const journals = new Map([['default', journal]])
  const found = (whom: string) => addressesOf(whom, { journals, stop })
  expect(await found('2E4F6A8B')).toEqual(['Ada@example.com'])
  expect(await found('9c3d7b1f')).toEqual(['ada@example.com', 'bob@example.com'])
  expect(await found('00000000')).toEqual([])
  expect(await found('carol@example.com')).toEqual(['carol@example.com'])
})

test('each wording is told once, each signup says which one it agreed to, and what others sent is none', async () => {
  const wordings = ['I agree.', 'I agree to more.']
  await using journal = openSqliteJournal(':memory:', { wordings })
  const email = 'ada@example.com'
  await journal.intake.append([
    makeSignup({ email, metadata: agreed('I agree.', { plan: 'free' }) }),
    makeSignup({ email, metadata: agreed('I agree to more.') }),
    makeSignup({ email, metadata: agreed('I agree.') }),
    makeSignup({ email, metadata: agreed('Evil.') }),
    makeSignup({ email: 'bob@example.com', metadata: agreed('Of somebody else.') }),
  ])
  const kept = await keptIn(journal, email)
  expect(
    kept.map(({ kind, text, wording, metadata }) => [kind, text ?? wording, metadata]),
  ).toEqual([
    ['wording', 'I agree.', undefined],
    ['signup', 1, { plan: 'free' }],
    ['wording', 'I agree to more.', undefined],
    ['signup', 2, {}],
    ['signup', 1, {}],
    ['signup', null, { 'consent (sent)': 'Evil.' }],
  ])
})

test('a page has the newest signups of all sites, and says how much is left out', async () => {
  await using news = openSqliteJournal(':memory:')
  await using shop = openSqliteJournal(':memory:')
  const email = 'ada@example.com'
  await news.intake.append(makeSignups(150, { email }))
  const named = makeSignups(30, { email }).map((one, at) => ({ ...one, name: `${at + 10}` }))
  await shop.intake.append([...makeSignups(200), ...named])
  const journals = new Map([
    ['news', news],
    ['shop', shop],
  ])
  const { kept, left } = await newestAbout(email, 40, { journals, endpoints: new Map(), stop })
  expect(left).toBe(140)
  expect(kept.map(({ site }) => site)).toEqual([
    ...Array<string>(10).fill('news'),
    ...Array<string>(30).fill('shop'),
  ])
  const names = kept.slice(10).map(({ name }) => name)
  expect(names).toEqual(named.map(({ name }) => name).toReversed())
})

test('a page has so much of what is beside the list, and says how much is left out', async () => {
  await using journal = openSqliteJournal(':memory:')
  const mail = { kind: 'confirm', madeAt: 0, sentAt: undefined, tries: 0 } as const
  const beside = { ...nobody, messages: Array.from({ length: 300 }, () => mail) }
  const confirmation = { ...journal.confirmation, ofPerson: async () => beside }
  const journals = new Map([['default', { ...journal, confirmation }]])
  const options = { journals, endpoints: new Map(), stop }
  const { kept, left } = await newestAbout('ada@example.com', 40, options)
  expect([kept.length, left]).toEqual([240, 60])
})
