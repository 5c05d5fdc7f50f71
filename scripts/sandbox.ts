/**
 * `npm run sandbox`: runs the real service with an emulated Google Sheet, without an account. It prints
 * each row that reaches the sheet, and where the admin page is, with made-up signups of a month in it. It keeps
 * nothing when it ends. With `-- --challenge`, visitors must
 * also pass an emulated Turnstile. Each site of `ROLLCALL_CONFIG` gets a spreadsheet. `npm run dev` does the same, and restarts the service, with its data,
 * after each change of a source file.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { startChallengeEmulator } from '../emulators/challenge/server.ts'
import { type GoogleEmulator, startGoogleEmulator } from '../emulators/google-sheets/server.ts'
import type { SpreadsheetHandle } from '../emulators/google-sheets/spreadsheet-handle.ts'
import { onStopSignal } from '../src/cli/terminal/stop-signals.ts'
import { readEnvironment } from '../src/config/env/env.ts'
import { settingNames } from '../src/config/settings.ts'
import { defaultSite } from '../src/config/sites/site.ts'
import { madeUpDomain, makeUpMonth } from './sandbox-month.ts'
import { sandboxSites, sandboxSpreadsheet } from './sandbox-sites.ts'

const once = [join(import.meta.dirname, '../src/start.js')]
const watched = [
  ...['src', 'browser'].map((name) => `--watch-path=${join(import.meta.dirname, '..', name)}`),
  '--watch-preserve-output',
  join(import.meta.dirname, 'watched-service.ts'),
]

const stop = new AbortController()
onStopSignal(() => stop.abort())

await using emulator = await startGoogleEmulator()
const folder = await mkdtemp(join(tmpdir(), 'rollcall-sandbox-'))
try {
  const account = emulator.createServiceAccount('rollcall@sandbox.iam.gserviceaccount.com')
  const create = (name: string) =>
    emulator.createSpreadsheet({
      id: sandboxSpreadsheet(name),
      title: 'Sandbox',
      sharedWith: account.email,
    })
  const { config, names } = sandboxSites(readEnvironment())
  const spreadsheets = new Map((names ?? ['0001']).map((name) => [name, create(name)]))
  for (const [name, { id }] of spreadsheets) {
    const whose = names ? ` of the site ${name}` : ''
    process.stdout.write(`The emulated spreadsheet${whose}: ${emulator.url}/spreadsheets/${id}\n`)
  }
  process.stdout.write('Break things: emulators/google-sheets/README.md\n\n')
  await using challenge = process.argv.includes('--challenge')
    ? await startChallengeEmulator()
    : undefined
  const challengeSettings: Record<string, string> = {}
  if (challenge) {
    const { siteKey, secret } = challenge.createSite()
    challengeSettings['CHALLENGE_SITE_KEY'] = siteKey
    challengeSettings['CHALLENGE_SECRET_KEY'] = secret
    challengeSettings['CHALLENGE_VERIFY_URL'] = challenge.verifyUrl()
    challengeSettings['CHALLENGE_SCRIPT_URL'] = challenge.scriptUrl()
    process.stdout.write(`The emulated challenge: ${challenge.url}
A token for curl: curl -d '{"siteKey":"${siteKey}"}' ${challenge.url}/emulator/tokens
Break it: emulators/challenge/README.md\n\n`)
  }
  const [first] = names ? [] : [...spreadsheets.values()]
  if (first) {
    const count = await makeUpMonth(folder, defaultSite, first.id)
    process.stdout.write(`Made-up signups of a month: ${count}. Their rows are not printed.\n`)
  }
  const { variables } = readEnvironment()
  const { PORT = '3000', ADMIN_TOKEN = crypto.randomUUID(), SPAM_FILTER = 'quarantine' } = variables
  process.stdout.write(
    `The admin page: http://localhost:${PORT}/admin with the token ${ADMIN_TOKEN}\n\n`,
  )
  const service = startService(emulator, account, {
    ...challengeSettings,
    ...{ ADMIN_TOKEN, SPAM_FILTER },
    ...(first && { SHEETS_SHEET_ID: first.id }),
    ...(config !== undefined && { ROLLCALL_CONFIG: config }),
  })
  const ended = new Promise((resolve) => service.once('close', resolve))
  service.once('close', () => stop.abort())
  await showRows(spreadsheets)
  service.kill('SIGTERM')
  await ended
} finally {
  await rm(folder, { recursive: true, force: true })
}

function startService(
  { url, tokenUrl }: GoogleEmulator,
  account: { readonly email: string; readonly privateKeyPem: string },
  more: Readonly<Record<string, string>>,
): ChildProcess {
  // Keep settings such as those of the pages. Drop those of a real spreadsheet.
  const replaced = /^(SHEETS_|GOOGLE_|CHALLENGE_|DATA|RETENTION_)/
  const names = new Set<string>(settingNames)
  const kept = settingNames.filter((name) => !replaced.test(name))
  const { variables } = readEnvironment()
  const surroundings = Object.entries(process.env).filter(([name]) => !names.has(name))
  const settingsKept = kept.map((name) => [name, variables[name]] as const)
  return spawn(process.execPath, process.argv.includes('--watch') ? watched : once, {
    cwd: folder,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: {
      ...Object.fromEntries([...surroundings, ...settingsKept]),
      ...more,
      DATA_DIR: folder,
      SHEETS_CREDENTIALS_EMAIL: account.email,
      SHEETS_PRIVATE_KEY: account.privateKeyPem,
      SHEETS_API_URL: url,
      SHEETS_TOKEN_URL: tokenUrl,
    },
  })
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
