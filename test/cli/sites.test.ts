import { join } from 'node:path'
import { expect, test } from 'vitest'

import { makeSignup } from '../../harness/make-signup.ts'
import { runCommand } from '../../harness/run-command.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import { bootService } from '../../harness/boot-service.ts'
import { postSignup } from '../../harness/post-signup.ts'
import { openSqliteSites } from '../../src/journal/sqlite/sqlite-journal.ts'

const ada = 'ada@example.com'
const sites = { launch: {}, shop: {} }

/** A journal of three sites, of which the settings name two. Each has one signup of one person. */
async function threeSites() {
  const folder = await tempFolder()
  const names = [...Object.keys(sites), 'gone']
  {
    const file = join(folder.path, 'journal.db')
    await using opened = openSqliteSites(file, new Map(names.map((name) => [name, {}])))
    for (const { intake } of opened.sites.values())
      await intake.append([makeSignup({ email: ada })])
  }
  const options = { dataDir: folder.path, env: { ROLLCALL_CONFIG: JSON.stringify({ sites }) } }
  return {
    run: (...words: string[]) => runCommand(words, options),
    /** Without the service's file of sites. */
    runBare: (...words: string[]) => runCommand(words, { dataDir: folder.path }),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  }
}

test('commands tell of all sites, work on the one that is named, and otherwise list the sites', async () => {
  await using data = await threeSites()
  const all = await data.run('status', '--json')
  const { sites: told } = JSON.parse(all.stdout) as { sites: Record<string, { accepted: unknown }> }
  expect(Object.keys(told)).toEqual(['launch', 'shop'])
  expect(told['shop']?.accepted).toMatchObject({ all: 1 })
  const one = await data.run('status', '--site', 'shop', '--json')
  expect(JSON.parse(one.stdout)).toMatchObject({ accepted: { all: 1 } })

  const which = await data.run('export')
  expect(which).toMatchObject({ code: 2, stdout: '' })
  expect(which.stderr).toContain('give --site NAME. The sites are launch, shop.')
  const wrong = await data.run('verify', '--site', 'shops')
  expect(wrong.code).toBe(2)
  expect(wrong.stderr).toContain('Did you mean shop?')
  expect((await data.run('export', '--site', 'gone')).stdout).toContain(ada)
})

test.each([['status'], ['verify'], ['backfill', '--all', '--dry-run'], ['doctor']])(
  '%s tells which sites of the journal the settings do not have, and what to set',
  async (...words) => {
    await using data = await threeSites()
    const { stderr } = await data.runBare(...words)
    expect(stderr).toContain(
      'sites that the settings do not have: gone, launch, shop. Set ROLLCALL_CONFIG as the service has it',
    )
    const named = await data.run(...words, '--site', 'launch')
    expect(named.stderr).toContain(
      'sites that the settings do not have: gone. Put them back into the file of ROLLCALL_CONFIG to see them here; export --site NAME has',
    )
  },
)

test('doctor counts the signups of all sites of the journal', async () => {
  await using data = await threeSites()
  const { stdout } = await data.run('doctor')
  expect(stdout).toMatch(/^ok +journal +is sound; signups in it: 3$/m)
})

test('forget erases a person from all sites of the journal, also from those that the settings do not name, and says what it cannot reach', async () => {
  await using data = await threeSites()
  const forgotten = await data.run('forget', ada, '--json')
  expect(JSON.parse(forgotten.stdout)).toMatchObject({
    ...{ done: true, signups: { erased: 3 } },
    byHand: expect.arrayContaining([
      expect.stringMatching(/^exports /),
      expect.stringMatching(/version history/),
    ]),
  })
  for (const name of ['launch', 'shop', 'gone']) {
    expect((await data.run('export', '--site', name)).stdout).not.toContain(ada)
  }
})

test('forget says which sites have to come back into the settings before their rows go', async () => {
  await using folder = await tempFolder()
  const dataDir = folder.path
  const env = { ROLLCALL_CONFIG: JSON.stringify({ sites: { ...sites, gone: {} } }) }
  {
    await using service = await bootService({ dataDir, env })
    const wait = { prefer: 'wait=20' }
    for (const site of ['shop', 'gone']) {
      expect((await postSignup(service.url, { email: ada, site }, wait)).status).toBe(201)
    }
  }
  const ofTwo = { dataDir, env: { ROLLCALL_CONFIG: JSON.stringify({ sites }) } }
  const forget = (...words: string[]) => runCommand(['forget', ada, ...words], ofTwo)
  const { code, stdout } = await forget()
  expect(code).toBe(1)
  expect(stdout).toContain('To go from the spreadsheet: 2 rows. Waiting: 1.')
  expect(stdout).toMatch(/^Put these sites back into the file .* stay until then: gone\.$/m)
  // What waits is not somebody else's.
  const other = await runCommand(['forget', 'bob@example.com'], ofTwo)
  expect(other).toMatchObject({ code: 0, stdout: expect.not.stringMatching(/Waiting|gone/) })
  expect(JSON.parse((await forget('--json')).stdout)).toMatchObject({
    done: false,
    absentSites: ['gone'],
  })
  const back = await runCommand(['forget', ada, '--json'], { dataDir, env })
  expect(JSON.parse(back.stdout)).toMatchObject({ done: true, absentSites: [] })
})
