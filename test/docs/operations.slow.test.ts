// @module-tag slow
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { allDelivered } from '../../harness/delivery-state.ts'
import { createGoogleWorld } from '../../harness/google-world.ts'
import { postSignups } from '../../harness/post-signup.ts'
import { projectRoot } from '../../harness/source-file.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import { scriptsMarked, sectionOf } from './readme-commands.ts'
import { parse } from 'csv-parse/sync'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
import { makeSignup } from '../../harness/make-signup.ts'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { environmentOfAnyProgram } from '../../harness/environment.ts'
import { startCommand } from '../../harness/run-command.ts'

interface StartedByStep extends AsyncDisposable {
  readonly url: string
  output(): string
}

/** Starts the service as `npm start` does in this folder, with its file `.env`. */
async function startIn(
  folder: string,
  env: Readonly<Record<string, string>>,
): Promise<StartedByStep> {
  const command = startCommand(['serve'], { folder, env: { ...env, PORT: '0' } })
  const url = () => /http:\/\/localhost:\d+/.exec(command.stdout())?.[0]
  await expect.poll(url).toBeDefined()
  return {
    url: url() ?? '',
    output: () => command.stdout(),
    async [Symbol.asyncDispose]() {
      command.kill('SIGTERM')
      await command.ended
    },
  }
}

/** Runs the commands of a step in this folder. Rejects when one fails. */
async function runStep(
  step: string,
  folder: string,
  env: Readonly<Record<string, string>>,
): Promise<void> {
  const script = step.replaceAll(
    'npm run -s rollcall --',
    `${process.execPath} ${projectRoot}/src/start.js`,
  )
  const all = { ...environmentOfAnyProgram(), ...env }
  await promisify(execFile)('sh', ['-ec', script], { cwd: folder, env: all })
}

test('the commands of docs/operations.md move all signups to Google, and on to a new spreadsheet', async () => {
  const page = readFileSync(join(projectRoot, 'docs/operations.md'), 'utf8')
  const steps = scriptsMarked('step', sectionOf(page, 'Move to another spreadsheet'))
  await using folder = await tempFolder()
  await using google = await createGoogleWorld()
  const { id } = google.emulator.createSpreadsheet({ sharedWith: google.email })
  const key = {
    type: 'service_account',
    client_email: google.email,
    private_key: google.env['SHEETS_PRIVATE_KEY'],
  }
  await writeFile(join(folder.path, 'service-account.json'), JSON.stringify(key))
  const { SHEETS_API_URL = '', SHEETS_TOKEN_URL = '' } = google.env
  const env = { SHEETS_API_URL, SHEETS_TOKEN_URL }
  let service = await startIn(folder.path, {})

  /** Runs a step as a person does, who stops the service before changing settings. */
  async function follow(step: string): Promise<void> {
    if (step.includes('.env')) await service[Symbol.asyncDispose]()
    if (step.trim() === 'npm start') {
      service = await startIn(folder.path, env)
      await postSignups(service.url, [`after${steps.indexOf(step)}@example.com`])
      return
    }
    const script = step.replaceAll('<id>', google.spreadsheetId).replaceAll('<new id>', id)
    if (/status|verify/.test(step)) await allDelivered(service)
    await runStep(script, folder.path, env)
  }

  const addresses = (spreadsheet: string) =>
    google.emulator
      .spreadsheet(spreadsheet)
      .rows('Sheet1')
      .slice(1)
      .map(([email = '']) => email)
      .toSorted()

  const early = Array.from({ length: 20 }, (_, at) => `person${at}@example.com`)
  await postSignups(service.url, early)
  await allDelivered(service)
  const second = steps.findIndex((step) => step.includes('<new id>'))
  expect(second).toBeGreaterThan(4)
  for (const step of steps.slice(0, second)) await follow(step)
  const first = addresses(google.spreadsheetId)
  expect(first).toHaveLength(21)
  expect(first).toEqual(expect.arrayContaining(early))
  for (const step of steps.slice(second)) await follow(step)
  await service[Symbol.asyncDispose]()
  expect(addresses(google.spreadsheetId)).toEqual(first)
  expect(addresses(id)).toHaveLength(22)
  expect(addresses(id)).toEqual(expect.arrayContaining(first))
})

test('the commands of docs/operations.md bring a backup back, and every row is there once', async () => {
  const page = readFileSync(join(projectRoot, 'docs/operations.md'), 'utf8')
  const steps = scriptsMarked('step', sectionOf(page, 'On the bad day'))
  expect(steps).toHaveLength(3)
  await using folder = await tempFolder()
  const journal = join(folder.path, 'data', 'journal.db')
  {
    await using service = await startIn(folder.path, {})
    await postSignups(service.url, ['ada@example.com'])
    await allDelivered(service)
  }
  {
    await using waiting = openSqliteJournal(journal)
    await waiting.intake.append([makeSignup({ email: 'bob@example.com' })])
  }
  await runStep('npm run -s rollcall -- backup rollcall.backup', folder.path, {})
  {
    await using service = await startIn(folder.path, {})
    await postSignups(service.url, ['eve@example.com'])
    await allDelivered(service)
  }
  await using stack = new AsyncDisposableStack()
  for (const step of steps) {
    if (step.trim() === 'npm start') {
      const service = stack.use(await startIn(folder.path, {}))
      await allDelivered(service)
    } else await runStep(step, folder.path, {})
  }
  const file = readFileSync(join(folder.path, 'data', 'sheets', 'Sheet1.csv'), 'utf8')
  const rows: string[][] = parse(file)
  expect(rows.map(([email]) => email).toSorted()).toEqual([
    'Email',
    ...['ada', 'bob', 'eve'].map((name) => `${name}@example.com`),
  ])
})
