/**
 * `npm run sandbox`: runs the real service with an emulated Google Sheet, without an account. It prints where
 * the page "Try to break it" is, each row that reaches the sheet, where the admin page is, with made-up signups of
 * a month in it, and how commands run beside it. It keeps nothing when it ends. Each site of `ROLLCALL_CONFIG` gets a spreadsheet. All mails and webhooks go to
 * one page, and nothing to a real receiver. `npm run dev` does the same, and restarts the service, with its data,
 * after each change of a source file.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { type GoogleEmulator, startGoogleEmulator } from '../emulators/google-sheets/server.ts'
import type { SpreadsheetHandle } from '../emulators/google-sheets/spreadsheet-handle.ts'
import { onStopSignal } from '../src/cli/terminal/stop-signals.ts'
import { editEnvFile } from '../src/config/env/env-file-edit.ts'
import { readEnvironment } from '../src/config/env/env.ts'
import { secretPrefixes, settingNames } from '../src/config/settings.ts'
import { defaultSite } from '../src/config/sites/site.ts'
import { startBreakIt } from './break-it/break-it.ts'
import { madeUpDomain, makeUpMonth } from './sandbox-month.ts'
import { startReceivers } from './sandbox-receivers.ts'
import { sandboxSites, sandboxSpreadsheet } from './sandbox-sites.ts'

const once = [join(import.meta.dirname, '../src/start.js')]
const watched = [
  ...['src', 'browser'].map((name) => `--watch-path=${join(import.meta.dirname, '..', name)}`),
  '--watch-preserve-output',
  join(import.meta.dirname, 'watched-service.ts'),
]

const stop = new AbortController()
onStopSignal(() => stop.abort())

const { variables } = readEnvironment()
const { HOST, PORT = '3000', ADMIN_TOKEN = crypto.randomUUID(), SPAM_FILTER } = variables
await checkPort(Number(PORT), HOST)
await using emulator = await startGoogleEmulator()
await using breakIt = await startBreakIt()
await using receivers = await startReceivers(`http://localhost:${PORT === '0' ? 3000 : PORT}`)
const folder = await mkdtemp(join(tmpdir(), 'rollcall-sandbox-'))
try {
  process.stdout.write(`Try to break it: ${breakIt.url}\n\n`)
  const account = emulator.createServiceAccount('rollcall@sandbox.iam.gserviceaccount.com')
  const create = (name: string) =>
    emulator.createSpreadsheet({
      ...{ id: sandboxSpreadsheet(name), title: 'Sandbox', sharedWith: account.email },
    })
  const { config, names } = sandboxSites(readEnvironment())
  const spreadsheets = new Map((names ?? ['0001']).map((name) => [name, create(name)]))
  for (const [name, { id }] of spreadsheets) {
    const whose = names ? ` of the site ${name}` : ''
    process.stdout.write(`The emulated spreadsheet${whose}: ${emulator.url}/spreadsheets/${id}\n`)
  }
  process.stdout.write('More ways to break it: emulators/google-sheets/README.md\n\n')
  const [first] = names ? [] : [...spreadsheets.values()]
  if (first) {
    const count = await makeUpMonth(folder, defaultSite, first.id)
    process.stdout.write(`Made-up signups of a month: ${count}. Their rows are not printed.\n`)
  }
  process.stdout
    .write(`A chat channel, all mails and webhooks: ${receivers.url} (to be asked by mail: CONFIRMATION=mail npm run sandbox)
The admin page: http://localhost:${PORT}/admin with the token ${ADMIN_TOKEN}\n`)
  const service = await startService(emulator, account, {
    ...{ ADMIN_TOKEN, SPAM_FILTER: SPAM_FILTER ?? 'quarantine' },
    ...receivers.mail,
    ...receivers.webhook,
    ...receivers.chat,
    ...(first && { SHEETS_SHEET_ID: first.id }),
    ...(config !== undefined && { ROLLCALL_CONFIG: await asFile(config) }),
  })
  const ended = new Promise((resolve) => service.once('close', resolve))
  service.once('close', () => stop.abort())
  await showRows(spreadsheets)
  service.kill('SIGTERM')
  await ended
} finally {
  await rm(folder, { recursive: true, force: true })
}

/** Ends with the reason when the port is taken, before anything has begun. */
async function checkPort(port: number, host?: string): Promise<void> {
  const probe = createServer()
  await new Promise<void>((resolve, reject) => {
    probe.once('error', reject).listen(port, host, () => probe.close(() => resolve()))
  }).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error)
    process.stderr.write(`The sandbox needs port ${port}: ${reason}. Set PORT to another one.\n`)
    process.exit(1)
  })
}

/** The settings are a file `.env`, so that commands beside the service have them too. */
async function startService(
  { url, tokenUrl }: GoogleEmulator,
  account: { readonly email: string; readonly privateKeyPem: string },
  more: Readonly<Record<string, string>>,
): Promise<ChildProcess> {
  // Keep settings such as those of the pages. Drop those of a real spreadsheet, mail server or receiver.
  const replaced =
    /^(SHEETS_|GOOGLE_|CHALLENGE_|DATA|RETENTION_|MAIL_|WEBHOOK_|CHAT_|ALERT_|OWNER_)/
  const kept = settingNames.filter((name) => !replaced.test(name))
  const settings = new Map([
    ...kept.map((name) => [name, variables[name]] as const),
    ...Object.entries({
      ...more,
      DATA_DIR: folder,
      SHEETS_CREDENTIALS_EMAIL: account.email,
      SHEETS_PRIVATE_KEY: account.privateKeyPem,
      SHEETS_API_URL: url,
      SHEETS_TOKEN_URL: tokenUrl,
    }),
  ])
  await writeFile(join(folder, '.env'), editEnvFile('', settings), { mode: 0o600 })
  process.stdout.write(
    `Commands beside it: ROLLCALL_FOLDER=${folder} npm run -s rollcall -- status (or doctor, person, ...)\n\n`,
  )
  return spawn(process.execPath, process.argv.includes('--watch') ? watched : once, {
    cwd: folder,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: Object.fromEntries(Object.entries(process.env).filter(([name]) => !isOurs(name))),
  })
}

/** JSON can have quotes of every kind, which no value of `.env` can. */
async function asFile(config: string): Promise<string> {
  if (!config.startsWith('{')) return config
  await writeFile(join(folder, 'sites.json'), config, { mode: 0o600 })
  return 'sites.json'
}

/** Whether the service takes a variable for a setting, for a secret of a site, or for the folder of `.env`. */
function isOurs(name: string): boolean {
  const isSetting = settingNames.some((it) => it === name) || name === 'ROLLCALL_FOLDER'
  return isSetting || secretPrefixes.some((prefix) => name.startsWith(prefix))
}

async function showRows(spreadsheets: ReadonlyMap<string, SpreadsheetHandle>): Promise<void> {
  const shown = new Map<string, number>()
  while (!stop.signal.aborted) {
    for (const [name, spreadsheet] of spreadsheets) {
      for (const title of spreadsheet.titles()) {
        const place = spreadsheets.size > 1 ? `${name} ${title}` : title
        const from = shown.get(place) ?? 0
        const rows = spreadsheet.rows(title, from)
        rows.forEach((row, index) => {
          if (row.some((cell) => cell.endsWith(madeUpDomain))) return
          process.stdout.write(`${place} ${from + index + 1} │ ${row.join(' │ ')}\n`)
        })
        shown.set(place, from + rows.length)
      }
    }
    await sleep(250, undefined, { signal: stop.signal }).catch(() => undefined)
  }
}
