import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'

import { freezeNext, markerIdMax } from '../../harness/freeze-next.ts'
import { addressesOf, makeSignup, makeSignups } from '../../harness/make-signup.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import { restoredFact } from '../../src/journal/delivery-log.ts'
import type { Journal } from '../../src/journal/journal.ts'
import { type JournalPolicy, unknownPolicy } from '../../src/journal/policy.ts'
import { copyBackup, makeRestored, readReplaced } from '../../src/journal/sqlite/restore.ts'
import { openSqliteJournal, openSqliteSites } from '../../src/journal/sqlite/sqlite-journal.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { none, resultsOf } from './contract.ts'

const noon = Date.UTC(2026, 10, 20, 12)

/** Runs `story` with the journals of two sites in one file. */
async function withTwoSites(
  story: (news: Journal, shop: Journal) => Promise<void>,
  policy?: Partial<JournalPolicy>,
): Promise<void> {
  await using folder = await tempFolder()
  const file = join(folder.path, 'journal.db')
  await using news = openSqliteJournal(file, policy, { site: 'news' })
  await using shop = openSqliteJournal(file, policy, { site: 'shop' })
  await story(news, shop)
}

test('each site has its own backlog, tabs, batch and pages', () =>
  withTwoSites(async (news, shop) => {
    await news.intake.append(makeSignups(2, { email: 'news@example.com' }))
    await shop.intake.append([makeSignup({ email: 'shop@example.com' })])
    expect([await news.reader.backlog(), await shop.reader.backlog()]).toEqual([2, 1])
    expect(await shop.reader.waitingSince([])).toBe(makeSignup().receivedAt)
    expect((await shop.delivery.pending()).length).toBe(1)
    expect((await shop.reader.page(0, 10)).map(({ signup }) => signup.email)).toEqual([
      'shop@example.com',
    ])

    const batch = await freezeNext(news.delivery)
    const other = await freezeNext(shop.delivery)
    expect(addressesOf(other)).toEqual({ Sheet1: ['shop@example.com'] })
    expect((await news.delivery.frozen())?.number).toBe(batch?.number)
    await news.delivery.settle(batch?.number ?? 0, noon)
    expect([await news.reader.backlog(), await shop.reader.backlog()]).toEqual([0, 1])
    expect(await news.reader.waitingSince([])).toBeUndefined()
    expect(await shop.intake.cursors(['Sheet1'])).toEqual([{ tab: 'Sheet1', upto: 0 }])
    expect(await shop.reader.waitingSince([])).toBe(makeSignup().receivedAt)
  }))

test('a site can neither end the batch of another site nor see its markers', () =>
  withTwoSites(async (news, shop) => {
    await news.intake.append(makeSignups(2))
    const batch = (await freezeNext(news.delivery, { rowsMax: 1 })) ?? none
    await expect(shop.delivery.settle(batch.number, noon)).rejects.toThrow('not frozen')
    await expect(shop.delivery.release(batch)).rejects.toThrow('not frozen')
    await expect(shop.delivery.remark(batch, markerIdMax)).rejects.toThrow('not frozen')
    await expect(shop.delivery.noteFound(batch)).rejects.toThrow('not frozen')
    await shop.intake.append(makeSignups(1))
    const ours = (await freezeNext(shop.delivery)) ?? none
    await news.delivery.settle(batch.number, noon)
    expect(await shop.delivery.frozen()).toEqual({ number: ours.number, marker: ours.marker })

    expect(await shop.delivery.endedMarkers()).toEqual([])
    expect(await shop.delivery.markerCount()).toBe(1)
    await shop.delivery.forgetMarkers([batch.marker])
    expect(await news.delivery.endedMarkers()).toMatchObject([{ id: batch.marker }])
  }))

test('a site whose marker id is taken gets other ids, and the ids of other sites go on', () =>
  withTwoSites(async (news, shop) => {
    const freeze = async ({ intake, delivery }: Journal) => {
      await intake.append(makeSignups(1))
      return (await freezeNext(delivery)) ?? none
    }
    const first = await freeze(news)
    await news.delivery.settle(first.number, noon)
    const taken = await freeze(shop)
    const other = await shop.delivery.remark(taken, markerIdMax)
    expect(other.marker).not.toBe(taken.marker)
    const second = await freeze(news)
    const passed = second.number - first.number
    expect(second.marker).toBe(((first.marker + passed - 1) % markerIdMax) + 1)
  }))

test('two sites can use one marker id, and each notes a life for its own', () =>
  withTwoSites(async (news, shop) => {
    for (const { intake, delivery } of [news, shop]) {
      await intake.append(makeSignups(1))
      const [tab = expect.fail()] = await delivery.pending()
      const { number } = await delivery.freeze([{ tab, ...(await delivery.waiting(tab)) }], 1)
      await delivery.settle(number, noon)
    }
    const lives = new Map([[1, 500]])
    await news.delivery.noteRunningTime({ by: 'process', ms: 0, seen: undefined, lives })
    expect(await news.delivery.endedMarkers()).toMatchObject([{ id: 1, ripeAt: 500 }])
    expect(await shop.delivery.endedMarkers()).toMatchObject([{ id: 1, ripeAt: undefined }])
  }))

test('running time is counted for each site on its own', () =>
  withTwoSites(async (news, shop) => {
    const note = { by: 'process', lives: new Map<number, number>() }
    const began = await news.delivery.noteRunningTime({ ...note, ms: 0, seen: undefined })
    expect(await news.delivery.noteRunningTime({ ...note, ms: 500, seen: began })).toMatchObject({
      ms: 500,
    })
    expect(await shop.delivery.noteRunningTime({ ...note, ms: 0, seen: undefined })).toMatchObject({
      ms: 0,
    })
  }))

test('an idempotency key and a fact belong to one site', () =>
  withTwoSites(async (news, shop) => {
    const idempotency = { space: '', key: 'key', fingerprint: 'content' }
    await news.intake.append([makeSignup()], { idempotency })
    expect(await shop.intake.knows(idempotency)).toBe(false)
    expect(await shop.intake.append([makeSignup()], { idempotency })).toMatchObject({
      kind: 'appended',
    })
    await news.delivery.noteFact('colour', 'blue')
    expect(await shop.delivery.fact('colour')).toBeUndefined()
  }))

test('a challenge token is good for one append at all sites together', () =>
  withTwoSites(async (news, shop) => {
    await news.intake.append([makeSignup()], { token: 'digest' })
    expect(await shop.intake.append([makeSignup()], { token: 'digest' })).toEqual({
      kind: 'tokenUsed',
    })
  }))

test('the tabs of one site do not count against the limit of another', () =>
  withTwoSites(
    async (news, shop) => {
      const opener = '192.0.2.1'
      await news.intake.append([makeSignup({ sheetTab: 'One', receivedAt: noon })], { opener })
      expect(await news.intake.takesTab('Two', noon, opener)).toBe(false)
      expect(await shop.intake.takesTab('Two', noon, opener)).toBe(true)
      expect(await shop.intake.takesTab('One', noon, opener)).toBe(true)
    },
    { newTabsMax: 1, newTabsPerHourMax: 1 },
  ))

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
  const replaced = await readReplaced(file, inFile)
  expect(await makeRestored(made, { ...inFile, replaced })).toMatchObject({
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

test('a site about which nothing is known keeps signups that have no tab yet', async () => {
  await using folder = await tempFolder()
  const file = join(folder.path, 'journal.db')
  const policy = { defaultTab: { name: 'Sheet1', of: 'a spreadsheet' } }
  {
    await using shop = openSqliteJournal(file, policy, { site: 'shop' })
    await shop.intake.append([makeSignup({ sheetTab: '' })])
  }
  await openSqliteJournal(file, unknownPolicy, { site: 'shop' })[Symbol.asyncDispose]()
  await using shop = openSqliteJournal(file, policy, { site: 'shop' })
  await shop.delivery.resolveDefaultTab('Tabelle1')
  expect((await shop.reader.page(0, 9)).map(({ signup }) => signup.sheetTab)).toEqual(['Tabelle1'])
})

test('signups of two sites that arrive together share a commit, and each site learns of its own', async () => {
  await using folder = await tempFolder()
  const file = join(folder.path, 'journal.db')
  await using opened = openSqliteSites(file, new Map(['news', 'shop'].map((name) => [name, {}])))
  using reader = new DatabaseSync(file, { readOnly: true })
  const added: Record<string, number> = {}
  const answers = [...opened.sites].flatMap(([name, { intake, delivery }]) => {
    delivery.onAppend((count) => (added[name] = (added[name] ?? 0) + count))
    return makeSignups(name === 'news' ? 3 : 5).map((signup) => intake.append([signup]))
  })
  await answers[0]
  expect(reader.prepare('SELECT count(*) AS count FROM signup').get()).toEqual({ count: 8 })
  const found = await Promise.all(answers)
  expect(found.map((answer) => resultsOf(answer)[0]?.position)).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
  expect(added).toEqual({ news: 3, shop: 5 })
  expect(Object.fromEntries(await opened.backlogs())).toEqual(added)
})

test('a status is found in its own site only', () =>
  withTwoSites(async (news, shop) => {
    const signup = makeSignup()
    await news.intake.append([signup])
    expect(await news.intake.find(signup.id)).toMatchObject({ id: signup.id })
    expect(await shop.intake.find(signup.id)).toBeUndefined()
  }))
