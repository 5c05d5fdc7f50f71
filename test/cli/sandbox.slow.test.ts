import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'

import { postSignup } from '../../harness/post-signup.ts'
import { projectRoot } from '../../harness/source-file.ts'
import { startService } from '../../harness/start-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import { sandboxSites } from '../../scripts/sandbox-sites.ts'

const ada = { email: 'ada@example.com' }

test('the sandbox accepts signups and shows the rows of the emulated sheet, without an account', async () => {
  await using sandbox = await startService({
    program: join(projectRoot, 'scripts/sandbox.ts'),
    env: { PAGE_TITLE: 'The sandbox letter', SHEETS_SHEET_ID: 'that-of-a-real-spreadsheet' },
  })
  const answer = await postSignup(sandbox.url, { email: 'ada@example.com', sheetTab: 'News' })
  expect(answer.status).toBe(202)
  await expect
    .poll(() => sandbox.output())
    .toMatch(/News 1 │ Email │[\s\S]*News 2 │ ada@example\.com │/)
  const page = /http:\/\/127\.0\.0\.1:\d+\/spreadsheets\/\S+/.exec(sandbox.output())?.[0] ?? ''
  expect(await (await fetch(page)).text()).toContain('ada@example.com')
  expect(await (await fetch(sandbox.url)).text()).toContain('The sandbox letter')
  expect(sandbox.output()).not.toContain('docs.google.com')
  expect(await sandbox.stop()).toBe(0)
})

test('the sandbox gives each site of the file a spreadsheet, and its own account and challenge', async () => {
  const fields = [{ name: 'company', required: true }]
  const challenge = { siteKey: 'real', secretKeyVariable: 'CHALLENGE_SECRET_KEY_REAL' }
  const launch = { spreadsheet: 'x'.repeat(44), credentialsFile: 'real.json', challenge, fields }
  await using sandbox = await startService({
    program: join(projectRoot, 'scripts/sandbox.ts'),
    env: { ROLLCALL_CONFIG: JSON.stringify({ sites: { default: {}, launch } }) },
  })
  const answer = await postSignup(sandbox.url, { ...ada, site: 'launch', company: 'Engines' })
  expect(answer.status).toBe(202)
  await expect
    .poll(() => sandbox.output())
    .toMatch(/launch Sheet1 2 │ ada@example\.com │.*│ Engines\n/)
  expect(sandbox.output()).toMatch(/of the site launch: \S+\/sandbox-spreadsheet-launch\n/)
})

test('a path of a file of sites begins where the sandbox was started', () => {
  const variables = { ROLLCALL_CONFIG: 'sites.json' }
  const readText = () => '{'
  const { config } = sandboxSites({ variables, folder: '/home/ada', readText })
  expect(config).toBe('/home/ada/sites.json')
})

test('the sandbox can start with an emulated challenge', async () => {
  await using folder = await tempFolder()
  const program = join(folder.path, 'start.mjs')
  const sandbox = JSON.stringify(join(projectRoot, 'scripts/sandbox.ts'))
  await writeFile(program, `process.argv.push('--challenge'); await import(${sandbox})`)
  await using service = await startService({ program })
  const [, siteKey = '', tokens = ''] =
    /curl -d '{"siteKey":"(.*)"}' (\S+)/.exec(service.output()) ?? []
  expect(await (await fetch(`${service.url}/api/config`)).json()).toMatchObject({
    challengeSiteKey: siteKey,
  })
  expect((await postSignup(service.url, ada)).status).toBe(403)
  const issued = await fetch(tokens, { method: 'POST', body: JSON.stringify({ siteKey }) })
  const { token } = (await issued.json()) as { token: string }
  expect((await postSignup(service.url, { ...ada, challengeToken: token })).status).toBe(202)
})
