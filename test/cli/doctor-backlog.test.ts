import { expect, test } from 'vitest'
import { freezeNext } from '../../harness/freeze-next.ts'
import { makeSignup } from '../../harness/make-signup.ts'
import { backlogCheck } from '../../src/cli/doctor/site-checks.ts'
import { Notes } from '../../src/cli/terminal/notes.ts'
import { loadConfig } from '../../src/config/config.ts'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
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
  await journal.intake.append([makeSignup({ id: signupIds()(noon - ageMs) })])
  const clock = { ...systemClock, now: () => noon }
  const session = { clock, stop: AbortSignal.any([]), notes: new Notes(process.stderr, clock) }
  const context = {
    ...{
      config,
      site: config.sites[0],
      secrets,
      home: journalHomeOf(config, secrets, { clock }),
      sendsNotice: false,
      session,
    },
    ...{ journal, parts: [journal], whyClosed: '' },
  }
  expect(await backlogCheck(context)).toMatchObject([{ check: 'backlog', state }])
})
