import { expect, test } from 'vitest'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
import { Turns } from './idempotency.ts'
import { refuseSpent, type SubmitParts } from './submit.ts'
import type { Exchange } from '../http/exchange.ts'
import { environmentNames } from '../signup/setting-names.ts'

test('a retry counts as a replay while its first request is still running', async () => {
  const key = { space: '', key: 'a' }
  const first = Promise.withResolvers<undefined>()
  const turns = new Turns()
  const working = turns.take(key, undefined, () => first.promise)
  const counted: string[] = []
  const exchange: Pick<Exchange, 'take' | 'takeReplays' | 'knownSite'> = {
    knownSite: {
      ...{ name: 'default', origins: '*', signupsPerMinute: 1 },
      settingNames: environmentNames,
    },
    take: (count) => counted.push(`${count} signups`),
    takeReplays: (count) => counted.push(`${count} replays`),
  }
  await using journal = openSqliteJournal(':memory:')
  const options: Pick<SubmitParts, 'turns' | 'journal'> = { turns, journal: journal.intake }
  const intakes = { of: () => options as SubmitParts }
  await refuseSpent(key, exchange as Exchange, intakes)
  first.resolve(undefined)
  await working
  await refuseSpent(key, exchange as Exchange, intakes)
  expect(counted).toEqual(['1 replays', '1 signups'])
})
