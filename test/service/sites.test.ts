import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'

import { makeSignup, makeSignups } from '../../harness/make-signup.ts'
import { patienceMs } from '../../harness/patience.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import { type Config, loadConfig } from '../../src/config/config.ts'
import { openSqliteSites } from '../../src/journal/sqlite/sqlite-journal.ts'
import { createLog } from '../../src/ops/log.ts'
import type { ReadinessAnswer } from '../../src/signup/wire.ts'
import { startService } from '../../src/service/service.ts'

/** The settings of a service with these sites, each with a local workbook. */
function settingsOf(dataDir: string, names: readonly [string, ...string[]]) {
  const variables = { DATA_DIR: dataDir, HOST: '127.0.0.1', PORT: '0' }
  const { config, secrets } = loadConfig({ variables, folder: dataDir, readText: () => '' })
  const siteOf = (name: string) => ({ ...config.sites[0], name })
  const [first, ...others] = names
  const sites = [siteOf(first), ...others.map(siteOf)] as const
  return { config: { ...config, hasSites: true, sites } satisfies Config, secrets }
}

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
  const lines: string[] = []
  const log = createLog('info', { write: (line) => lines.push(line) })
  const { config, secrets } = settingsOf(dataDir, ['shop', 'news', 'default'])
  await using service = await startService(config, secrets, { log })
  const rowsIn = async (...path: string[]) => {
    const text = await readFile(join(dataDir, 'sheets', ...path), 'utf8').catch(() => '')
    return text.match(/\w+@example\.com/g) ?? []
  }
  await expect.poll(() => rowsIn('Sheet1.csv'), { timeout: patienceMs }).toHaveLength(4)
  await expect.poll(() => rowsIn('news', 'Sheet1.csv'), { timeout: patienceMs }).toHaveLength(1)
  expect(new Set(await rowsIn('Sheet1.csv'))).toEqual(new Set(['default@example.com']))
  expect(await rowsIn('news', 'Sheet1.csv')).toEqual(['news@example.com'])
  const ready = async (query: string) => {
    const answer = await fetch(`${service.url}/api/ready${query}`)
    return { status: answer.status, body: (await answer.json()) as ReadinessAnswer }
  }
  // Those of the blocked site, and none of the site that is not in the settings.
  const backlog = async () => (await ready('')).body.delivery.backlog
  await expect.poll(backlog, { timeout: patienceMs }).toBe(2)
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

  const told = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  expect(told).toContainEqual(expect.objectContaining({ site: 'gone', waiting: 3, level: 40 }))
  expect(told).toContainEqual(expect.objectContaining({ site: 'news', msg: 'batch written' }))
  expect(told.some(({ site, msg }) => site === 'shop' && msg === 'batch written')).toBe(false)
  expect(told.filter(({ msg }) => String(msg).includes('not in the settings'))).toHaveLength(1)
})
