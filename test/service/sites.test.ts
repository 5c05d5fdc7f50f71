import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'

import { bootService } from '../../harness/boot-service.ts'
import { makeSignup, makeSignups } from '../../harness/make-signup.ts'
import { postSignup } from '../../harness/post-signup.ts'
import { addressesIn, readTab } from '../../harness/read-workbook.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import { openSqliteSites } from '../../src/journal/sqlite/sqlite-journal.ts'
import type { ReadinessAnswer } from '../../src/api/ready.ts'

/** Appends signups while no service runs: one for the first site, two for the second, and so on. */
async function append(dataDir: string, names: readonly string[]): Promise<void> {
  await mkdir(dataDir, { recursive: true })
  const policies = new Map(names.map((name) => [name, {}]))
  await using journal = openSqliteSites(join(dataDir, 'journal.db'), policies)
  for (const [at, name] of names.entries()) {
    await journal.sites.get(name)?.intake.append(makeSignups(at, { email: `${name}@example.com` }))
    await journal.sites.get(name)?.intake.append([makeSignup({ email: `${name}@example.com` })])
  }
}

test('each site gets its rows though another one is blocked, and a site that was removed from the settings is named', async () => {
  await using folder = await tempFolder()
  const dataDir = join(folder.path, 'data')
  await append(dataDir, ['news', 'shop', 'gone', 'default'])
  // Where the folder of its workbook should be.
  await mkdir(join(dataDir, 'sheets'))
  await writeFile(join(dataDir, 'sheets', 'shop'), '')
  const sites = { shop: {}, news: {}, default: {} }
  await using service = await bootService({
    dataDir,
    env: { ROLLCALL_CONFIG: JSON.stringify({ sites }) },
  })
  const rows = () => addressesIn(dataDir)
  await expect.poll(rows).toEqual(Array(4).fill('default@example.com'))
  await expect.poll(() => addressesIn(dataDir, 'news/Sheet1.csv')).toEqual(['news@example.com'])
  const ready = async (query: string) => {
    const answer = await fetch(`${service.url}/api/ready${query}`)
    return { status: answer.status, body: (await answer.json()) as ReadinessAnswer }
  }
  // Those of the blocked site, and none of the site that is not in the settings.
  const backlog = async () => (await ready('')).body.delivery.backlog
  await expect.poll(backlog).toBe(2)
  const all = await ready('')
  expect(all.status).toBe(200)
  const state = all.body.delivery.state
  expect(['delayed', 'blocked']).toContain(state)
  expect((all.body.blockedSites ?? []).map(({ site }) => site)).toEqual(
    state === 'blocked' ? ['shop'] : [],
  )
  expect((await ready('?site=news')).body.delivery).toMatchObject({ state: 'ok', backlog: 0 })
  expect((await ready('?site=shop')).body.delivery).toMatchObject({
    state: expect.stringMatching(/^(delayed|blocked)$/),
    backlog: 2,
  })
  expect((await ready('?site=news')).body.blockedSites).toBeUndefined()
  expect((await ready('?site=other')).status).toBe(422)

  const lines = service.output().trimEnd().split('\n')
  const told = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  expect(told).toContainEqual(expect.objectContaining({ site: 'gone', waiting: 3, level: 40 }))
  expect(told).toContainEqual(expect.objectContaining({ site: 'news', msg: 'batch written' }))
  expect(told.some(({ site, msg }) => site === 'shop' && msg === 'batch written')).toBe(false)
  expect(told.filter(({ msg }) => String(msg).includes('not in the settings'))).toHaveLength(1)
})

test('a refused origin or API key counts in the site that it asked for, and the words name the path in the file', async () => {
  const sites = {
    launch: { origins: ['https://launch.example'] },
    'the-blog': { origins: ['https://blog.example'] },
    shop: {},
  }
  const env = { ROLLCALL_CONFIG: JSON.stringify({ sites }), API_KEYS: 'a-long-right-key' }
  await using service = await bootService({ env: { ...env, ALLOWED_ORIGINS: 'https://a.example' } })
  const post = async (site: string) => {
    const headers = { origin: 'https://evil.example' }
    const answer = await postSignup(service.url, { email: 'a@example.com', site }, headers)
    return ((await answer.json()) as { detail: string }).detail
  }
  expect(await post('the-blog')).toContain('can add the origin to sites.the-blog.origins.')
  expect(await post('shop')).toContain('can add the origin to ALLOWED_ORIGINS.')
  const wrong = { authorization: 'Bearer a-long-wrong-key' }
  const path = '/api/signup/bulk?site=shop'
  await fetch(service.url + path, { method: 'POST', headers: wrong, body: '{}' })
  const refused = async (site: string) => {
    const answer = await fetch(`${service.url}/api/ready?site=${site}`)
    const { refusedByOrigin, refusedApiKeys } = (await answer.json()) as ReadinessAnswer
    return [refusedByOrigin, refusedApiKeys]
  }
  expect(await refused('launch')).toEqual([0, 0])
  expect(await refused('the-blog')).toEqual([1, 0])
  expect(await refused('shop')).toEqual([1, 1])
  expect(await refused('')).toEqual([2, 1])
  expect(service.output()).toMatch(/"site":"the-blog".*add the origin to sites\.the-blog\.origins/)
})

test('whoever names no site gets the only one of the file, whatever it is called', async () => {
  const page = { title: 'The launch of Lumen' }
  const lumen = { page, defaultTab: 'Lumens', challenge: { provider: 'altcha' } }
  await using service = await bootService({
    env: { ROLLCALL_CONFIG: JSON.stringify({ sites: { lumen } }) },
  })
  const ask = async (path: string) => {
    const answer = await fetch(service.url + path)
    return [answer.status, await answer.text()]
  }
  for (const path of ['/', '/api/signup/form', '/embed.js', '/embed/form.json'])
    expect(await ask(path)).toEqual([200, expect.stringContaining('lumen')])
  expect(await ask('/')).toEqual([200, expect.stringContaining(page.title)])
  expect(await ask('/api/config')).toEqual([200, expect.stringContaining('"Lumens"')])
  for (const path of ['/api/stamp', '/api/challenge', '/api/signup/thanks', '/api/ready'])
    expect((await ask(path))[0]).toBe(200)
  const { components } = JSON.parse(String((await ask('/api/openapi.json'))[1])) as {
    components: { parameters: { Site: { required: boolean } } }
  }
  expect(components.parameters.Site.required).toBe(false)
  for (const site of [undefined, 'lumen']) {
    const answer = await postSignup(service.url, { email: 'ada@example.com', site })
    expect([answer.status, await answer.text()]).toEqual([403, expect.stringContaining('token')])
  }
  expect((await ask('/?site=default'))[0]).toBe(404)
})

test('an address with an unknown site is refused without a file of sites as with one, and a form may have a field site', async () => {
  await using service = await bootService()
  const { url } = service
  const email = 'ada@example.com'
  const gets = ['/', '/api/signup/form', '/api/signup/thanks', '/api/config', '/api/openapi.json']
  const files = ['/embed.js', '/embed/later.js', '/embed/form.json']
  const more = ['/api/ready', `/api/signup/${crypto.randomUUID()}`]
  const statuses = async (query: string) =>
    Promise.all(
      [...gets, ...files, ...more].map(async (path) => (await fetch(url + path + query)).status),
    )
  const known = await statuses('')
  expect(known).toEqual([...[...gets, ...files].map(() => 200), 200, 404])
  expect(await statuses('?site=default')).toEqual(known)
  expect(await statuses('?site=')).toEqual(known)
  expect(await statuses('?site=nosuch')).toEqual([
    ...[404, 404, 404, 422, 422],
    ...files.map(() => 404),
    ...[422, 422],
  ])

  const posted = async (path: string, body: unknown) => {
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
    return [answer.status, await answer.text()]
  }
  for (const [path, body] of [
    ['/api/signup', { email }],
    ['/api/signup/bulk', { signups: [{ email }] }],
  ] as const) {
    expect(await posted(`${path}?site=nosuch`, body)).toEqual([
      422,
      expect.stringContaining('There is no site'),
    ])
    expect(await posted(`${path}?site=default`, body)).toEqual([202, expect.any(String)])
  }
  const form = new URLSearchParams({ email, site: 'a building site' })
  const accept = { accept: 'application/json' }
  const taken = await fetch(`${url}/api/signup`, { method: 'POST', headers: accept, body: form })
  expect(taken.status).toBe(202)
  const lines = () => readTab(join(service.folder, 'data'), 'Sheet1.csv').flat()
  await expect.poll(lines).toContain('{"site":"a building site"}')
})
