import { expect, test } from 'vitest'
import { makeSignup, makeSignups } from '../../harness/make-signup.ts'
import { freezeNext } from '../../harness/freeze-next.ts'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
import type { BesideList, PendingRecord } from '../journal/contracts/confirmation.ts'
import { expiredFact } from '../journal/contracts/erasure.ts'
import { entriesOf, readPerson } from './person.ts'

const stop = new AbortController().signal
const nobody: BesideList = { pending: [], messages: [], block: undefined }
const agreed = (text: string, more: object = {}) => JSON.stringify({ ...more, consent: text })

/** The person at one site, of whom the journal keeps this beside the list. */
function personIn(journal: ReturnType<typeof openSqliteJournal>, address: string, beside = nobody) {
  const confirmation = { ...journal.confirmation, ofPerson: async () => beside }
  return readPerson(address, {
    journals: new Map([['default', { ...journal, confirmation }]]),
    ...{ endpoints: new Map(), stop, searched: () => undefined },
  })
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
  const { sites } = await personIn(journal, 'ADA@example.com')
  expect(sites).toMatchObject([
    {
      site: 'default',
      signups: [
        {
          ...{ state: 'written', receivedAt: '2026-11-20T00:00:00.000Z', tags: ['a'] },
          ...{ fields: { seats: 2 }, writtenAt: '2026-11-21T00:00:00.000Z' },
        },
        { state: 'accepted', writtenAt: null, wording: null },
      ],
      ...{ pending: [], mails: [], block: null, expiredUpTo: null },
    },
  ])
})

test('each wording is told once, and each signup says which one it agreed to', async () => {
  await using journal = openSqliteJournal(':memory:')
  const email = 'ada@example.com'
  await journal.intake.append([
    makeSignup({ email, metadata: agreed('I agree.', { plan: 'free' }) }),
    makeSignup({ email, metadata: agreed('I agree to more.') }),
    makeSignup({ email, metadata: agreed('I agree.') }),
    makeSignup({ email, metadata: '{"consent":true}' }),
    makeSignup({ email: 'bob@example.com', metadata: agreed('Of somebody else.') }),
  ])
  const { wordings, sites } = await personIn(journal, email)
  expect(wordings).toEqual(['I agree.', 'I agree to more.'])
  expect(sites[0]?.signups.map(({ wording, metadata }) => [wording, metadata])).toEqual([
    [0, { plan: 'free' }],
    [1, {}],
    [0, {}],
    [null, { consent: true }],
  ])
})

test('what is beside the list is told: pending signups, mails and what keeps them', async () => {
  await using journal = openSqliteJournal(':memory:')
  const at = Date.UTC(2026, 10, 20)
  const pending: PendingRecord = {
    signup: makeSignup({ metadata: agreed('I agree.'), fields: { seats: 2 } }),
    ...{ state: 'declined', until: at + 1000 },
  }
  await journal.delivery.noteFact(expiredFact, String(at))
  const person = await personIn(journal, 'ada@example.com', {
    pending: [pending],
    messages: [{ kind: 'confirm', madeAt: at, sentAt: undefined, tries: 2 }],
    block: { why: 'declined', at, until: at + 2000 },
  })
  const { wordings, sites } = person
  expect(entriesOf(person).map(({ heading }) => heading)).toEqual([
    ...['Beside the list', 'Mail', 'No mail goes to this address', 'Erased by RETENTION_DAYS'],
  ])
  expect(wordings).toEqual(['I agree.'])
  expect(sites[0]).toMatchObject({
    pending: [
      {
        ...{ state: 'declined', wording: 0, metadata: {}, fields: { seats: 2 } },
        until: '2026-11-20T00:00:01.000Z',
      },
    ],
    mails: [{ kind: 'confirm', madeAt: '2026-11-20T00:00:00.000Z', sentAt: null, tries: 2 }],
    block: { why: 'declined', until: '2026-11-20T00:00:02.000Z' },
  })
})
