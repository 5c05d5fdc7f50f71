import { join } from 'node:path'
import { expect, test } from 'vitest'
import { bootService } from '../../harness/boot-service.ts'
import { makeSignup, makeSignups } from '../../harness/make-signup.ts'
import { addressesIn } from '../../harness/read-workbook.ts'
import { confirming } from '../../harness/pending-world.ts'
import { openRaw } from '../../harness/raw-http.ts'
import { runCommand } from '../../harness/run-command.ts'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
import { openSqliteSites } from '../../src/journal/sqlite/sqlite-journal.ts'
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
  await using journal = openSqliteJournal(file, { holdsSuspects: true })
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
  expect(await (await other.get('/signups?state=held')).text()).toContain('There is none')
  await expect.poll(() => addressesIn(folder.path).length).toBe(250)
  expect(service.output()).toContain('release')
})

test('chosen signups are erased from quarantine after the page has asked again', async () => {
  await using folder = await folderWith(...suspects(3))
  await using service = await bootService({ env, dataDir: folder.path })
  const visitor = await signIn(service.url)
  const list = await (await visitor.get('/signups?state=held')).text()
  expect(list).toContain('A signup that is released goes to the tab that it was for')
  const [one = '', two = ''] = [...list.matchAll(/name="id"\s+value="([^"]+)"/g)].map(
    ([, id]) => id,
  )
  const chosen = [
    ['id', one],
    ['id', two],
  ] as const
  const asked = await (await visitor.post('/erase', chosen)).text()
  expect(asked).toContain('Erase 2 held signups')
  expect(await (await visitor.get('/work')).text()).toContain('Nothing was begun yet')
  const begun = await visitor.post('/erase', [...chosen, ['sure', 'yes']])
  // It is done when it is answered, and loading the page that follows again does not do it again.
  expect(begun.headers.get('location')).toMatch(/admin\/signups\?state=held&id=/)
  for (const _ of ['first', 'reload'])
    expect(await workEnded(visitor, begun)).toContain('<p>Erased: 2 signups.</p>')
  expect((await (await visitor.get('/work')).text()).match(/Erase what was held/g)).toHaveLength(1)
  const none = await (await visitor.post('/release', {})).text()
  expect(none).toMatch(/No signup was chosen.*<a href="[^"]*\/signups\?state=held">Go back</s)
})

test('the list of all has each signup once, by its time, page by page, those beside the list too', async () => {
  await using folder = await tempFolder()
  const begun = Date.now() - 1_000_000
  const policy = { holdsSuspects: true, confirmation: { waitMs: 7 * 24 * 60 * 60_000 } }
  {
    await using journal = openSqliteJournal(join(folder.path, 'journal.db'), policy)
    for (let at = 0; at < 130; at += 1) {
      const email = `person-${at}@example.com`
      const one = makeSignup({ email, receivedAt: begun + at * 1_000 })
      const suspect = { ...one, suspect: ['hidden-field' as const] }
      if (at % 3 === 0) await journal.intake.append([one])
      else {
        const addressing = { share: 'a', language: 'en' }
        await journal.intake.ask([at % 3 === 1 ? one : suspect], { addressing })
      }
    }
  }
  await using service = await bootService({ env, dataDir: folder.path })
  const { get } = await signIn(service.url)
  const found: string[] = []
  let pages = 0
  for (let path: string | undefined = '/signups'; path !== undefined; pages += 1) {
    const page: string = await (await get(path)).text()
    found.push(...[...page.matchAll(/name="email"\s+value="([^"]+)"/g)].map(([, it = '']) => it))
    const [, query] = /\/signups\?([^"]*)"[^>]*>Older/.exec(page) ?? []
    path = query === undefined ? undefined : `/signups?${query.replaceAll('&amp;', '&')}`
  }
  const all = Array.from({ length: 130 }, (_, at) => `person-${129 - at}@example.com`)
  expect([pages, found]).toEqual([3, all])
  const pending = await (await get('/signups?state=pending')).text()
  expect(pending).toContain('person-1@')
  expect(pending).not.toContain('person-2@')
})

test('a release says that a signup to be confirmed gets its mail, and no row before its person confirms it', async () => {
  await using folder = await tempFolder()
  {
    const policy = { holdsSuspects: true, confirmation: { waitMs: 7 * 24 * 60 * 60_000 } }
    await using journal = openSqliteJournal(join(folder.path, 'journal.db'), policy)
    await journal.intake.ask(suspects(2), { addressing: { share: '', language: 'en' } })
  }
  await using service = await bootService({
    env: { ...env, ...confirming },
    dataDir: folder.path,
  })
  const visitor = await signIn(service.url)
  const held = await (await visitor.get('/signups?state=held')).text()
  expect(held).toContain('A signup that is released gets its mail')
  const asked = await (await visitor.post('/release', { all: 'yes' })).text()
  expect(asked).toContain('Release 2 held signups<')
  expect(asked).toContain('sends 2 held signups the mails by which people confirm')
  expect(await (await visitor.get('/work')).text()).toContain('Nothing was begun yet')
  const ended = await workEnded(
    visitor,
    await visitor.post('/release', { all: 'yes', sure: 'yes' }),
  )
  expect(ended).toContain('Released: 2 signups.')
  expect(ended).toContain('get their mail then')
  const pending = await (await visitor.get('/signups?state=pending')).text()
  expect(pending.match(/name="email"/g)).toHaveLength(3)
  // Nobody knows before the mail has gone.
  expect(pending.match(/pending, until 7 days after its mail was sent/g)).toHaveLength(2)
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
  expect(page).toContain('Erase 1 held signup<')
  const fields = [...page.matchAll(/name="(all|domain|sure)"\s+value="([^"]+)"/g)]
  const begun = await visitor.post(
    '/erase',
    fields.map(([, name = '', value = '']) => [name, value] as const),
  )
  expect(await workEnded(visitor, begun)).toContain('Erased: 1 signup.')
  const left = await (await visitor.get('/signups?state=held')).text()
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
    const answer = await visitor.post('/allow-mail?site=shop', { email })
    const told = email === ada ? await workEnded(visitor, answer) : await answer.text()
    expect(told).toContain(
      email === ada ? 'Nothing kept mails from this address.' : 'Give one email address.',
    )
  }
})

test('a person is found, erased with the rows, and not found any more', async () => {
  const signup = makeSignup({ email: ada })
  await using folder = await folderWith(signup, ...makeSignups(3))
  await using service = await bootService({ env, dataDir: folder.path })
  const visitor = await signIn(service.url)
  await expect.poll(() => addressesIn(folder.path).length).toBe(4)
  // The row is there a moment before its batch is settled.
  const found = async () => (await visitor.post('/person', { email: 'ADA@example.com' })).text()
  await expect.poll(found).toContain('<dd dir="auto">written</dd>')
  const beginning = async (email: string) =>
    (await (await visitor.post('/person', { email })).text()).replaceAll(/\s+/g, ' ')
  const one = '1 of the latest 10,000 signups begins with “PERSON2@”.'
  expect(await beginning('PERSON2@')).toMatch(new RegExp(`${one}.*person2@example\\.com`))
  expect(await beginning('ad ')).toContain('1 of the latest')
  expect(await beginning('bo')).toContain('None of the latest 10,000 signups begins with “bo”.')
  const byId = await visitor.post('/person', { email: signup.id.slice(-8) })
  expect(await byId.text()).toContain(`<p class="whom" dir="auto">${ada}</p>`)
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
  expect(gone).not.toContain('Erase this person')
  // To read its own files would end the locks of the service.
  expect(ended).toContain('other files in DATA_DIR, through which')
  const { stdout } = await runCommand(['status'], { dataDir: folder.path })
  expect(stdout).not.toContain('does not run')
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
  const answers = [
    await visitor.get('/signups'),
    await visitor.get(`/signups?tab=${encodeURIComponent('"><b>')}`),
    await visitor.post('/person', { email: ada }),
  ]
  const pages = await Promise.all(answers.map((answer) => answer.text()))
  // The view of a person tells the beginning of a long text.
  expect(pages.at(-1)).not.toContain('x'.repeat(501))
  for (const text of pages) {
    expect(text).toContain('&lt;script&gt;alert(1)')
    expect(text).not.toMatch(/<script>alert|\u202e|<b>/)
  }
})

test('the list comes as a file with the rows of the command, only for who is signed in, and the log tells of it', async () => {
  const people = makeSignups(2_500).map((one, at): Signup => ({ ...one, name: `=${at},"Zoë"` }))
  const site = { fields: [{ name: 'why', type: 'text' }], confirmation: 'mail' }
  const settings = {
    ...env,
    ...confirming,
    ROLLCALL_CONFIG: JSON.stringify({ sites: { news: site, shop: {} } }),
  }
  await using folder = await tempFolder()
  {
    const policies = new Map([
      ['news', { holdsSuspects: true }],
      ['shop', {}],
    ])
    await using journal = openSqliteSites(join(folder.path, 'journal.db'), policies)
    const news = journal.sites.get('news') ?? expect.fail()
    await news.intake.append([...people, ...suspects(1)])
    await news.intake.ask([makeSignup()], { addressing: { share: '', language: 'en' } })
  }
  await using service = await bootService({ env: settings, dataDir: folder.path })
  const visitor = await signIn(service.url)
  expect(await (await visitor.get('')).text()).toContain('/admin/export?site=news"')
  const answer = await visitor.get('/export?site=news')
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'cache-control': 'no-store',
    'content-disposition': 'attachment; filename="signups-news.csv"',
    'content-type': 'text/csv; charset=utf-8',
  })
  const command = await runCommand(['export', '--site', 'news'], {
    dataDir: folder.path,
    env: settings,
  })
  const text = await answer.text()
  expect(text).toBe(command.stdout)
  expect(text.split('\r\n')).toHaveLength(people.length + 2)
  const stranger = await fetch(`${service.url}/admin/export`, { redirect: 'manual' })
  expect([stranger.status, await stranger.text()]).toEqual([303, ''])
  expect(service.output().match(/"action":"export"[^\n]*"site":"news"/g)).toHaveLength(1)
})

test('who leaves while the list comes ends its reading, and the service goes on', async () => {
  await using folder = await folderWith(...makeSignups(8_000))
  await using service = await bootService({ env, dataDir: folder.path })
  const visitor = await signIn(service.url)
  await using connection = openRaw(service.url)
  connection.socket.once('data', () => connection.socket.pause())
  connection.write(`GET /admin/export HTTP/1.1\r\nHost: a\r\nCookie: ${visitor.cookie}\r\n\r\n`)
  await expect.poll(() => connection.received()).toContain('Email,Timestamp')
  connection.socket.resetAndDestroy()
  expect((await visitor.get('')).status).toBe(200)
  await service.stop()
  expect(service.output()).not.toContain('"level":"error"')
})
