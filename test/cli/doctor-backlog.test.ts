import { expect, test } from 'vitest'
import { changed } from '../../harness/changed.ts'
import { freezeNext } from '../../harness/freeze-next.ts'
import { makeSignup } from '../../harness/make-signup.ts'
import { backlogCheck } from '../../src/cli/doctor/site-checks.ts'
import { Notes } from '../../src/cli/terminal/notes.ts'
import { Output } from '../../src/cli/terminal/output.ts'
import { loadConfig } from '../../src/config/config.ts'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
import { deliveryFact } from '../../src/journal/contracts/delivery-log.ts'
import type { Journal } from '../../src/journal/contracts/journal.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { journalHomeOf } from '../../src/service/journal-home.ts'
import { signupIds } from '../../src/signup/id.ts'

const { config, secrets } = loadConfig({
  ...{ variables: {}, envFile: undefined, folder: '' },
  readText: () => '',
})
const minute = 60 * 1000
const noon = Date.UTC(2026, 10, 20, 12)

test.each([
  ['a backlog of a minute is none', minute, 30 * minute, 'ok'],
  ['an hour without a row, while signups wait', 60 * minute, 60 * minute, 'fault'],
  ['rows are written, but the oldest signup waits half a day', 12 * 60 * minute, 0, 'fault'],
  ['rows are written, and the oldest signup waits for hours', 11 * 60 * minute, 0, 'ok'],
])('%s', async (_, ageMs, quietMs, state) => {
  await using journal = openSqliteJournal(':memory:')
  await journal.intake.append([makeSignup()])
  const batch = await freezeNext(journal.delivery)
  await journal.delivery.settle(batch?.number ?? 0, noon - quietMs)
  await journal.intake.append([makeSignup({ receivedAt: noon - ageMs })])
  expect(await backlogCheck(await contextOf(journal))).toMatchObject([{ check: 'backlog', state }])
})

test.each([
  [true, 'fault', 'the tab "News" is set aside'],
  [
    false,
    'warning',
    'when it ran, was partly blocked since 2026-11-20: the tab "News" is set aside',
  ],
])(
  'signups of a tab that is set aside are no backlog of the others, and have a finding of their own (a service runs: %s)',
  async (isServed, state, message) => {
    await using journal = openSqliteJournal(':memory:')
    const id = signupIds()(noon - 60 * minute)
    await journal.intake.append([makeSignup({ id, sheetTab: 'News' })])
    const tab = {
      name: 'News',
      place: 'News',
      reason: 'protectedTab',
      error: 'kept',
      hint: 'Free it.',
    }
    const note = { delivery: { state: 'ok' }, tabs: [tab], warnings: [], since: '2026-11-20' }
    await journal.delivery.noteFact(deliveryFact, JSON.stringify(note))
    expect(await backlogCheck(await contextOf(journal, isServed))).toMatchObject([
      { check: 'backlog', state: 'ok' },
      { check: 'delivery', state, message: expect.stringContaining(message) },
    ])
  },
)

/** What the check gets of a site with this journal, at noon. */
async function contextOf(journal: Journal, isServed = true) {
  const clock = { ...systemClock, now: () => noon }
  return {
    ...{ config, secrets, journal, site: config.sites[0], sendsNotice: false },
    home: changed(await journalHomeOf(config, secrets, { clock }), {
      isInUse: async () => isServed,
    }),
    ...{ clock, stop: AbortSignal.any([]), notes: new Notes(process.stderr, clock) },
    out: new Output(process.stdout),
    ...{ parts: [journal], whyClosed: '' },
  }
}
