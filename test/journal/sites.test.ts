import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'

import { freezeNext } from '../../harness/freeze-next.ts'
import { makeSignups } from '../../harness/make-signup.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import { restoredFact } from '../../src/journal/contracts/delivery-log.ts'
import { copyBackup } from '../../src/journal/sqlite/copy.ts'
import { makeRestored } from '../../src/journal/sqlite/restore.ts'
import { openSqliteSites } from '../../src/journal/sqlite/sqlite-journal.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { adminLogTests } from './contracts/admin-log-contract.ts'
import { holdTo, resultsOf } from './contracts/contract.ts'
import { sharesTests } from './contracts/shares-contract.ts'
import { sitesTests } from './contracts/sites-contract.ts'
import { sitesErasureTests } from './contracts/sites-erasure-contract.ts'

for (const [name, tests] of [
  ['two sites', sitesTests],
  ['two sites', sitesErasureTests],
  ['shares', sharesTests],
  ['admin log', adminLogTests],
] as const) {
  holdTo(`SQLite, ${name}`, tests, async () => {
    const folder = await tempFolder()
    return {
      openSites: async (policies) => openSqliteSites(join(folder.path, 'journal.db'), policies),
      [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
    }
  })
}

test('a restored backup has all its sites, in the settings or not, each with its batch ended and its signups to compare', async () => {
  await using folder = await tempFolder()
  const [file, backup, made] = ['journal.db', 'backup.db', 'made.db'].map((name) =>
    join(folder.path, name),
  ) as [string, string, string]
  const policies = new Map(['news', 'shop'].map((name) => [name, {}]))
  const fingerprints: (string | undefined)[] = []
  {
    await using opened = openSqliteSites(file, policies)
    for (const { intake, delivery } of opened.sites.values()) {
      await intake.append(makeSignups(2))
      fingerprints.push((await freezeNext(delivery))?.fingerprint)
    }
  }
  copyBackup(file, backup)
  {
    await using opened = openSqliteSites(file, policies)
    await opened.sites.get('shop')?.erasure.forget('ada@example.com')
  }
  const account = { name: 'robot', quota: { perMinute: 5, perDay: 50 } }
  const inFile = { policies: new Map([['news', {}]]), clock: systemClock, accounts: [account] }
  copyBackup(backup, made)
  expect(await makeRestored(made, inFile, file)).toMatchObject({
    ...{ signups: 4, waiting: 4, isQuotaUnknown: false },
  })
  await using opened = openSqliteSites(made, policies)
  for (const [at, { delivery, erasure }] of [...opened.sites.values()].entries()) {
    expect(await delivery.frozen()).toBeUndefined()
    expect(await delivery.fact(restoredFact)).toBe('4')
    expect(await delivery.isOwn(fingerprints[at] ?? '')).toBe(true)
    expect(await erasure.tombstones()).toHaveLength(at)
  }
})

test('signups of two sites that arrive together share a commit, and each site learns of its own', async () => {
  await using folder = await tempFolder()
  const file = join(folder.path, 'journal.db')
  await using opened = openSqliteSites(file, new Map(['news', 'shop'].map((name) => [name, {}])))
  using reader = new DatabaseSync(file, { readOnly: true })
  const added: Record<string, number> = {}
  const commits: number[] = []
  opened.onCommit(({ signups }) => commits.push(signups))
  const answers = [...opened.sites].flatMap(([name, { intake, delivery }]) => {
    delivery.onAppend((count) => (added[name] = (added[name] ?? 0) + count))
    return makeSignups(name === 'news' ? 3 : 5).map((signup) => intake.append([signup]))
  })
  await answers[0]
  expect(reader.prepare('SELECT count(*) AS count FROM signup').get()).toEqual({ count: 8 })
  const found = await Promise.all(answers)
  expect(found.map((answer) => resultsOf(answer)[0]?.position)).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
  expect(added).toEqual({ news: 3, shop: 5 })
  expect(commits).toEqual([8])
  expect(Object.fromEntries(await opened.backlogs())).toEqual(added)
})
