import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Environment } from '../../config/config.ts'
import type { EnvChanges } from '../../config/env/env-file-edit.ts'
import { textOf } from '../../config/reader.ts'
import { settingNames } from '../../config/settings.ts'
import type { Output } from '../terminal/output.ts'
import { accountOf, type Asked, problemWith } from './answers.ts'
import type { Ask } from './ask.ts'

/** Each of them turns Google Sheets on. */
const sheetNames = settingNames.filter((name) => name.startsWith('SHEETS_'))
const challengeNames = ['CHALLENGE_PROVIDER', 'CHALLENGE_SITE_KEY', 'CHALLENGE_SECRET_KEY'] as const

/**
 * Asks for everything that a set-up needs. Changes nothing. Returns groups of settings that belong together.
 */
export async function askForSettings(
  environment: Environment,
  ask: Ask,
  out: Output,
): Promise<readonly EnvChanges[]> {
  // Instances that share a database have no folder in common.
  const needsSheet = textOf(environment.variables['DATABASE_URL']) !== undefined
  const where = needsSheet
    ? 'google'
    : await ask.choose('Where should the signups go?', {
        google: 'Into a Google Sheet',
        workbook: 'Into CSV files on this machine',
      })
  const sheet =
    where === 'google'
      ? await askForSheet(environment, ask, out)
      : [new Map(sheetNames.map((name) => [name, undefined]))]
  const challenge = await askForChallenge(environment, ask)
  return [...sheet, challenge, await askForOrigins(environment, ask)]
}

async function askForSheet(
  environment: Environment,
  ask: Ask,
  out: Output,
): Promise<readonly EnvChanges[]> {
  const present = accountOf(environment)
  const isKept =
    present !== undefined && (await ask.isSure(`Keep the service account ${present.email}?`, true))
  const account = isKept ? new Map<string, string>() : await askForKey(environment, ask)
  const email = isKept ? present.email : account.get('SHEETS_CREDENTIALS_EMAIL')
  await out.write(
    `\nShare the spreadsheet with this address, as Editor (in Google Sheets: Share):\n${email ?? ''}\n\n`,
  )
  const sheet = await ask.text({
    message: 'The address of the spreadsheet, from the address bar of the browser',
    placeholder: 'https://docs.google.com/spreadsheets/d/…/edit',
    initialValue: environment.variables['SHEETS_SHEET_ID'],
    problem: problemOf(environment, 'SHEETS_SHEET_ID'),
  })
  return [account, new Map([['SHEETS_SHEET_ID', sheet]])]
}

/** Takes the account out of a JSON key file. */
async function askForKey(environment: Environment, ask: Ask): Promise<EnvChanges> {
  const problem = problemOf(environment, 'SHEETS_CREDENTIALS_FILE')
  const path = await ask.text({
    message: 'The path of the JSON key file of the service account (docs/google-setup.md)',
    placeholder: '~/Downloads/my-project-0123456789ab.json',
    problem: (answer) => problem(pathOf(answer)),
  })
  const account = accountOf(environment, pathOf(path))
  return new Map([
    ['SHEETS_CREDENTIALS_EMAIL', account?.email],
    ['SHEETS_PRIVATE_KEY', account?.privateKey],
    ['SHEETS_CREDENTIALS_FILE', undefined],
  ])
}

/** Terminals put quotes around a file that is dropped on them, and only a shell knows `~`. */
function pathOf(answer: string): string {
  const path = answer.replace(/^(["'])(.*)\1$/, '$2')
  return path.startsWith('~/') ? join(homedir(), path.slice(2)) : path
}

async function askForChallenge(environment: Environment, ask: Ask): Promise<EnvChanges> {
  const { CHALLENGE_SITE_KEY: key, CHALLENGE_PROVIDER: before } = environment.variables
  const isSet = key !== undefined || before === 'altcha'
  const provider = await ask.choose('A challenge that keeps bots out?', {
    ...(isSet && { keep: 'The one that is set now' }),
    none: 'None',
    turnstile: 'Turnstile (Cloudflare)',
    hcaptcha: 'hCaptcha',
    recaptcha: 'reCAPTCHA (Google)',
    altcha: 'Proof of work: no keys, no third party',
  })
  if (provider === 'keep') return new Map()
  const none = new Map<string, string | undefined>(challengeNames.map((name) => [name, undefined]))
  if (provider === 'none') return none
  if (provider === 'altcha') return none.set('CHALLENGE_PROVIDER', provider)
  const chosen = { CHALLENGE_PROVIDER: provider }
  const siteKey = await ask.text({
    message: 'Its site key, which is public',
    problem: problemOf(environment, 'CHALLENGE_SITE_KEY', chosen),
  })
  const secretKey = await ask.secret({
    message: 'Its secret key',
    problem: problemOf(environment, 'CHALLENGE_SECRET_KEY', chosen),
  })
  return new Map([
    ['CHALLENGE_PROVIDER', provider],
    ['CHALLENGE_SITE_KEY', siteKey],
    ['CHALLENGE_SECRET_KEY', secretKey],
  ])
}

async function askForOrigins(environment: Environment, ask: Ask): Promise<EnvChanges> {
  const origins = await ask.text({
    message: 'The web pages that may send signups: * for all, or origins with commas between them',
    initialValue: environment.variables['ALLOWED_ORIGINS'] ?? '*',
    problem: problemOf(environment, 'ALLOWED_ORIGINS'),
  })
  return new Map([['ALLOWED_ORIGINS', origins]])
}

function problemOf(environment: Environment, name: Asked, chosen = {}) {
  return (answer: string) => {
    if (answer === '') return 'Type an answer, or press Ctrl-C to stop.'
    return problemWith(environment, { ...chosen, [name]: answer }, name)
  }
}
