import { join } from 'node:path'
import { expect, test } from 'vitest'
import { bootService } from '../../harness/boot-service.ts'
import { makeSignup, makeSignups } from '../../harness/make-signup.ts'
import { addressesIn } from '../../harness/read-workbook.ts'
import { confirming } from '../../harness/pending-world.ts'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
import { postSignup } from '../../harness/post-signup.ts'

import { tempFolder } from '../../harness/temp-folder.ts'
import { adminToken, signIn, workEnded } from '../../harness/admin.ts'
import type { Signup } from '../../src/signup/signup.ts'

const env = { ADMIN_TOKEN: adminToken, SPAM_FILTER: 'quarantine' }
const ada = 'ada@example.com'

/** A data folder whose journal has these signups, and whose suspect ones are in quarantine. */
async function folderWith(...signups: readonly Signup[]) {
  const folder = await tempFolder()
  const file = join(folder.path, 'journal.db')
  await using journal = openSqliteJournal(file, { quarantineTab: 'Quarantine' })
  await journal.intake.append(signups)
  return folder
}

const suspects = (count: number) =>
  makeSignups(count).map((one): Signup => ({ ...one, suspect: ['hidden-field'] }))

test('a release of 250 goes on while the page is closed, and another login watches it', async () => {
  await using folder = await folderWith(...suspects(250))
  await using service = await bootService({ env, dataDir: folder.path })
  const first = await signIn(service.url)
  const begun = await first.post('/release', { all: 'yes', sure: 'yes' })
  expect(begun.status).toBe(303)
  const other = await signIn(service.url)
  const ended = await workEnded(other, begun)
  expect(ended).toContain('Released: 250 signups.')
  expect(ended).toContain('Done</strong>, begun')
  expect(ended).toMatch(/state=quarantine">Quarantine</)
  expect(await (await other.get('/signups?state=quarantine')).text()).toContain('There is none')
  await expect.poll(() => addressesIn(folder.path).length).toBe(250)
  expect(service.output()).toContain('release')
})

test('chosen signups are erased from quarantine after the page has asked again', async () => {
  await using folder = await folderWith(...suspects(3))
  await using service = await bootService({ env, dataDir: folder.path })
  const visitor = await signIn(service.url)
  const list = await (await visitor.get('/signups?state=quarantine')).text()
  const [one = '', two = ''] = [...list.matchAll(/name="id"\s+value="([^"]+)"/g)].map(
    ([, id]) => id,
  )
  const chosen = [
    ['id', one],
    ['id', two],
  ] as const
  const asked = await (await visitor.post('/erase', chosen)).text()
  expect(asked).toContain('Erase 2 signups')
  expect(await (await visitor.get('/work')).text()).toContain('Nothing was begun yet')
  const begun = await visitor.post('/erase', [...chosen, ['sure', 'yes']])
  expect(await workEnded(visitor, begun)).toContain('Erased: 2 signups.')
  const none = await (await visitor.post('/release', {})).text()
  expect(none).toContain('No signup was chosen')
})

test('a release says that a signup to be confirmed gets its mail, and no row before its person confirms it', async () => {
  await using folder = await tempFolder()
  {
    const policy = { quarantineTab: 'Quarantine', confirmation: { waitMs: 7 * 24 * 60 * 60_000 } }
    await using journal = openSqliteJournal(join(folder.path, 'journal.db'), policy)
    await journal.intake.ask(suspects(2), { addressing: { share: '', language: 'en' } })
  }
  await using service = await bootService({
    env: { ...env, ...confirming },
    dataDir: folder.path,
  })
  const visitor = await signIn(service.url)
  const asked = await (await visitor.post('/release', { all: 'yes' })).text()
  expect(asked).toContain('Release 2 signups<')
  expect(await (await visitor.get('/work')).text()).toContain('Nothing was begun yet')
  const ended = await workEnded(
    visitor,
    await visitor.post('/release', { all: 'yes', sure: 'yes' }),
  )
  expect(ended).toContain('Released: 2 signups.')
  expect(ended).toContain('get their mail then')
  const pending = await (await visitor.get('/signups?state=pending')).text()
  expect(pending.match(/name="email"/g)).toHaveLength(3)
})

test('all of a domain are erased from quarantine, and nothing is done about what is no domain', async () => {
  const bot = makeSignup({ email: 'bot@other.example', suspect: ['links'] })
  await using folder = await folderWith(...suspects(3), bot)
  await using service = await bootService({ env, dataDir: folder.path })
  const visitor = await signIn(service.url)
  for (const path of ['/release', '/erase']) {
    const answer = await visitor.post(path, { all: 'yes', domain: 'a@b@c', sure: 'yes' })
    expect(await answer.text()).toContain('Give a domain')
  }
  const asked = await visitor.post('/erase', { all: 'yes', domain: ' @Other.Example' })
  const page = await asked.text()
  expect(page).toContain('Erase 1 signup<')
  const fields = [...page.matchAll(/name="(all|domain|sure)"\s+value="([^"]+)"/g)]
  const begun = await visitor.post(
    '/erase',
    fields.map(([, name = '', value = '']) => [name, value] as const),
  )
  expect(await workEnded(visitor, begun)).toContain('Erased: 1 signup.')
  const left = await (await visitor.get('/signups?state=quarantine')).text()
  expect(left).not.toContain('other.example')
  expect(left.match(/name="id"/g)).toHaveLength(3)
})

test('a person is looked for at all sites, and the forms of a site are for that site', async () => {
  const config = { ROLLCALL_CONFIG: JSON.stringify({ sites: { news: {}, shop: {} } }) }
  await using service = await bootService({ env: { ...env, ...config } })
  const visitor = await signIn(service.url)
  for (const site of ['news', 'shop']) await postSignup(service.url, { email: ada, site })
  const found = await (await visitor.post('/person?site=shop', { email: ada })).text()
  expect(found.match(/<dd dir="auto">(news|shop)</g)).toHaveLength(2)
  const list = await (await visitor.get('/signups?site=shop')).text()
  expect(list).toMatch(/type="hidden" name="site" value="shop"/)
  expect(list).not.toMatch(/method="post" action="[^"]*(?<!site=shop)"/)
  const { headers } = await visitor.get('/person?site=shop')
  expect(headers.get('location')).toMatch(/signups\?site=shop$/)
  for (const email of ['', 'ada@', ada]) {
    const told = await (await visitor.post('/allow-mail?site=shop', { email })).text()
    expect(told).toContain(
      email === ada ? 'Nothing kept mails from this address.' : 'Give one email address.',
    )
  }
})

test('a person is found, erased with the rows, and not found any more', async () => {
  await using folder = await folderWith(makeSignup({ email: ada }), ...makeSignups(3))
  await using service = await bootService({ env, dataDir: folder.path })
  const visitor = await signIn(service.url)
  await expect.poll(() => addressesIn(folder.path).length).toBe(4)
  // The row is there a moment before its batch is settled.
  const found = async () => (await visitor.post('/person', { email: 'ADA@example.com' })).text()
  await expect.poll(found).toContain('<dd dir="auto">written</dd>')
  expect(await (await visitor.post('/forget', { email: ada })).text()).toContain(
    'Erase this person?',
  )
  const begun = await visitor.post('/forget', { email: ada, sure: 'yes' })
  const ended = await workEnded(visitor, begun)
  expect(ended).toContain('Erased from the journal: 1 signup.')
  expect(ended).not.toContain(ada)
  expect(addressesIn(folder.path)).not.toContain(ada)
  const gone = await (await visitor.post('/person', { email: ada })).text()
  expect(gone).toContain('Nothing is kept about this address')
})

test('a person of a site that the settings do not have any more is erased there, too, and its rows are told to stay', async () => {
  await using folder = await tempFolder()
  const sites = (...names: readonly string[]) => ({
    ...env,
    ROLLCALL_CONFIG: JSON.stringify({
      sites: Object.fromEntries(names.map((name) => [name, {}])),
    }),
  })
  {
    await using both = await bootService({ env: sites('news', 'shop'), dataDir: folder.path })
    for (const site of ['news', 'shop']) await postSignup(both.url, { email: ada, site })
    const { post } = await signIn(both.url)
    const written = async () =>
      (await (await post('/person', { email: ada })).text()).match(/>written</g)
    await expect.poll(written).toHaveLength(2)
  }
  await using service = await bootService({ env: sites('news'), dataDir: folder.path })
  const visitor = await signIn(service.url)
  const begun = await visitor.post('/forget', { email: ada, sure: 'yes' })
  const ended = await workEnded(visitor, begun)
  expect(ended).toContain('Erased from the journal: 2 signups.')
  expect(ended).toContain('Removed from the spreadsheet: 1 row')
  expect(ended).toMatch(/Put these sites back [^<]*: shop\./)
})

test('what a visitor has sent is drawn as text, however long and odd', async () => {
  const nasty = `"'><script>alert(1)</script>\u202e${'x'.repeat(9_000)}`
  const metadata = JSON.stringify({ [nasty]: nasty })
  const one = makeSignup({
    email: ada,
    name: nasty,
    source: nasty,
    tags: [nasty],
    metadata,
    sheetTab: '"><b>',
  })
  await using folder = await folderWith(one)
  await using service = await bootService({ env, dataDir: folder.path })
  const visitor = await signIn(service.url)
  const pages = [
    await visitor.get('/signups'),
    await visitor.get(`/signups?tab=${encodeURIComponent('"><b>')}`),
    await visitor.post('/person', { email: ada }),
  ]
  for (const page of pages) {
    const text = await page.text()
    expect(text).toContain('&lt;script&gt;alert(1)')
    expect(text).not.toMatch(/<script>alert|\u202e|<b>/)
  }
})
