// @module-tag slow
import { spawnSync } from 'node:child_process'
import { stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'

import { runCommand } from '../../harness/run-command.ts'
import { postSignup } from '../../harness/post-signup.ts'
import { projectRoot } from '../../harness/source-file.ts'
import { type RunningService, startService } from '../../harness/start-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import { sandboxSites } from '../../scripts/sandbox-sites.ts'

const ada = { email: 'ada@example.com' }

/** The page with the mails and webhooks. */
async function shown(sandbox: Pick<RunningService, 'output'>): Promise<string> {
  const page = /mails and webhooks: (\S+)/.exec(sandbox.output())?.[1] ?? ''
  return (await fetch(page)).text()
}

/** Signs Ada up, follows the link of her mail, and presses its button. */
async function confirmed(sandbox: RunningService, site?: string): Promise<number> {
  await postSignup(sandbox.url, site === undefined ? ada : { ...ada, site })
  await expect.poll(() => shown(sandbox)).toContain('to ada@example.com')
  const [link = ''] = /\/confirm\/[\w-]+(\?[\w=;&]+)?/.exec(await shown(sandbox)) ?? []
  const body = new URLSearchParams({ decision: 'confirm' })
  const url = sandbox.url + link.replaceAll('&amp;', '&')
  return (await fetch(url, { method: 'POST', body })).status
}

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

test('the sandbox shows the mails, the webhooks and the channel of a signup, and says first that its port is taken', async () => {
  const program = join(projectRoot, 'scripts/sandbox.ts')
  await using sandbox = await startService({ program, env: { CONFIRMATION: 'mail' } })
  expect(await confirmed(sandbox)).toBe(200)
  await expect.poll(() => shown(sandbox)).toContain('signup.accepted')
  await expect.poll(() => shown(sandbox)).toContain('1 new signup\nada@example.com')

  const { port } = new URL(sandbox.url)
  const env = { ...process.env, HOST: '127.0.0.1', PORT: port }
  const second = spawnSync(process.execPath, [program], { env, encoding: 'utf8' })
  expect([second.status, second.stdout]).toEqual([1, ''])
  expect(second.stderr).toContain(`The sandbox needs port ${port}`)
})

test('commands run beside the sandbox with its settings', async () => {
  const program = join(projectRoot, 'scripts/sandbox.ts')
  await using sandbox = await startService({ program })
  await postSignup(sandbox.url, ada)
  const [, folder = ''] = /ROLLCALL_FOLDER=(\S+)/.exec(sandbox.output()) ?? []
  const status = await runCommand(['status'], { env: { ROLLCALL_FOLDER: folder } })
  expect(status).toMatchObject({ code: 0, stderr: '' })
  expect(status.stdout).toMatch(/On the list +\d{3}/)
  const doctor = await runCommand(['doctor'], { env: { ROLLCALL_FOLDER: folder } })
  expect(doctor.stdout).toContain('rollcall@sandbox.iam.gserviceaccount.com')
  expect((await stat(join(folder, '.env'))).mode & 0o777).toBe(0o600)
})

test('the sandbox gives each site of the file a spreadsheet, mails and webhooks, and nothing to real receivers', async () => {
  const fields = [{ name: 'company', required: true }]
  const challenge = { siteKey: 'real', secretKeyVariable: 'CHALLENGE_SECRET_KEY_REAL' }
  const webhooks = [{ url: 'https://real.example', secretVariable: 'WEBHOOK_SECRET_REAL' }]
  const launch = { spreadsheet: 'x'.repeat(44), credentialsFile: 'real.json', challenge, fields }
  const letter = { webhooks, confirmation: 'mail', chatVariable: 'CHAT_URL_REAL' }
  await using folder = await tempFolder()
  await writeFile(
    join(folder.path, 'sites.json'),
    JSON.stringify({ sites: { launch: { ...launch, webhooks }, letter } }),
  )
  await writeFile(
    join(folder.path, '.env'),
    `ROLLCALL_CONFIG=sites.json
CHAT_URL_REAL=https://hooks.slack.com/services/real
WEBHOOK_SECRET_REAL=whsec_${Buffer.from('of a real receiver of webhooks').toString('base64')}
MAIL_URL=smtp://real.example
MAIL_FROM=real@example.com
`,
  )
  await using sandbox = await startService({
    program: join(projectRoot, 'scripts/sandbox.ts'),
    env: { ROLLCALL_FOLDER: folder.path },
  })
  const answer = await postSignup(sandbox.url, { ...ada, site: 'launch', company: 'Engines' })
  expect(answer.status).toBe(202)
  await expect
    .poll(() => sandbox.output())
    .toMatch(/launch Sheet1 2 │ ada@example\.com │.*│ Engines\n/)
  expect(sandbox.output()).toMatch(/of the site launch: \S+\/sandbox-spreadsheet-launch\n/)

  expect(await confirmed(sandbox, 'letter')).toBe(200)
  await expect.poll(() => shown(sandbox)).toMatch(/Webhooks: 2[\s\S]*letter[\s\S]*launch/)
  expect(sandbox.output()).not.toMatch(/WEBHOOK_SECRET_REAL|CHAT_URL_REAL/)
})

test('a path of a file of sites begins where the sandbox was started', () => {
  const variables = { ROLLCALL_CONFIG: 'sites.json' }
  const readText = () => '{'
  const { config } = sandboxSites({ variables, folder: '/home/ada', readText })
  expect(config).toBe('/home/ada/sites.json')
})
