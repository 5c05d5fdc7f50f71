import { homedir } from 'node:os'
import { join } from 'node:path'
import { type Environment, loadConfig } from '../../config/config.ts'
import type { EnvChanges } from '../../config/env/env-file-edit.ts'
import { noAddress } from '../../config/google-key/sign-in.ts'
import { textOf } from '../../config/reader.ts'
import { settingNames } from '../../config/settings.ts'
import { partOf } from '../../operations/journal-home.ts'
import { journalHomeOf } from '../../service/journal-home.ts'
import { rollcall } from '../../platform/command-words.ts'
import { tabKey } from '../../signup/signup.ts'
import { spreadsheetTabs } from '../doctor/inspections.ts'
import type { Session } from '../session.ts'
import {
  accountNames,
  accountOf,
  type Answers,
  type Asked,
  environmentWith,
  load,
  problemWith,
} from './answers.ts'
import type { Ask } from './ask.ts'

/** What it takes to ask, and what is known before. */
export interface Asking {
  readonly environment: Environment
  readonly ask: Ask
  readonly session: Session
}

/** Each of them turns Google Sheets on. */
const sheetNames = settingNames.filter((name) => name.startsWith('SHEETS_'))
const challengeNames = ['CHALLENGE_PROVIDER', 'CHALLENGE_SITE_KEY', 'CHALLENGE_SECRET_KEY'] as const

/**
 * Asks for everything that a set-up needs. Changes nothing. Returns groups of settings that belong together.
 */
export async function askForSettings(asking: Asking): Promise<readonly EnvChanges[]> {
  const { environment, ask } = asking
  // Instances that share a database have no folder in common.
  const needsSheet = textOf(environment.variables['DATABASE_URL']) !== undefined
  const where = needsSheet
    ? 'google'
    : await ask.choose('Where should the signups go?', [
        ['google', 'Into a Google Sheet'],
        ['workbook', 'Into CSV files on this machine'],
      ])
  const sheet =
    where === 'google'
      ? await askForSheet(asking)
      : [new Map(sheetNames.map((it) => [it, undefined]))]
  const challenge = await askForChallenge(asking)
  const origins = await ask.text({
    message: 'The web pages that may send signups: * for all, or origins with commas between them',
    initialValue: environment.variables['ALLOWED_ORIGINS'] ?? '*',
    problem: problemOf(asking, 'ALLOWED_ORIGINS'),
  })
  return [...sheet, challenge, new Map([['ALLOWED_ORIGINS', origins]])]
}

async function askForSheet(asking: Asking): Promise<readonly EnvChanges[]> {
  const { environment, ask, session } = asking
  const set = accountNames.map((it) => [it, environment.variables[it]] as const)
  const present: Answers = Object.fromEntries(set)
  const before = accountOf(environment, present)?.email
  const isKept = before !== undefined && (await ask.isSure(`Keep the sign-in: ${before}?`, true))
  const account = isKept ? present : await askForAccount(asking)
  const { email = noAddress } = accountOf(environment, account) ?? {}
  const share =
    email === noAddress
      ? `Share the spreadsheet, as Editor, with the account that signs in; ${rollcall('doctor')}, run on that machine, names it if Google tells.`
      : `Share the spreadsheet with this address, as Editor (in Google Sheets: Share):\n${email}`
  await session.out.write(`\n${share}\n\n`)
  const sheet = await ask.text({
    message: 'The address of the spreadsheet, from the address bar of the browser',
    placeholder: 'https://docs.google.com/spreadsheets/d/…/edit',
    initialValue: environment.variables['SHEETS_SHEET_ID'],
    problem: problemOf(asking, 'SHEETS_SHEET_ID'),
  })
  const place = { SHEETS_SHEET_ID: sheet }
  const tab = await askForTab(asking, { ...account, ...place })
  return [
    new Map(accountNames.flatMap((it) => (isKept ? [] : [[it, account[it]]]))),
    new Map(Object.entries({ ...place, ...(tab !== undefined && { DEFAULT_SHEET_TAB: tab }) })),
  ]
}

/** Takes the account out of a JSON key file. Other files stay where they are. */
async function askForAccount(asking: Asking): Promise<Answers> {
  const { environment, ask } = asking
  const way = await ask.choose('How does Rollcall sign in at Google?', [
    ['file', 'With a JSON key file of a service account, or another credentials file'],
    ['subject', 'With a JSON key file, to act as a person of the domain'],
    ['machine', 'With what this machine has: Cloud Run, GCE, GKE, or gcloud'],
  ])
  if (way === 'machine') return { SHEETS_SIGN_IN: 'application-default' }
  const problem = problemOf(asking, 'SHEETS_CREDENTIALS_FILE')
  const path = await ask.text({
    message: 'The path of the JSON key file (docs/google-setup.md)',
    placeholder: '~/Downloads/my-project-0123456789ab.json',
    problem: (answer) => {
      const SHEETS_CREDENTIALS_FILE = pathOf(answer)
      const signIn = accountOf(environment, { SHEETS_CREDENTIALS_FILE })?.signIn
      const lacksKey = way === 'subject' && signIn?.kind !== 'key'
      return problem(SHEETS_CREDENTIALS_FILE) ?? (lacksKey ? noKey : undefined)
    },
  })
  const file = { SHEETS_CREDENTIALS_FILE: pathOf(path) }
  const signIn = accountOf(environment, file)?.signIn
  if (signIn?.kind !== 'key') return file
  const { email: SHEETS_CREDENTIALS_EMAIL, privateKey: SHEETS_PRIVATE_KEY } = signIn
  const key = { SHEETS_CREDENTIALS_EMAIL, SHEETS_PRIVATE_KEY }
  if (way === 'file') return key
  const SHEETS_SUBJECT = await ask.text({
    message: 'The address of the person, whose spreadsheet it is or with whom it is shared',
    problem: problemOf(asking, 'SHEETS_SUBJECT', key),
  })
  return { ...key, SHEETS_SUBJECT }
}

const noKey = 'This file has no key, and only a key can act as a person.'

/** Terminals put quotes around a file that is dropped on them, and only a shell knows `~`. */
function pathOf(answer: string): string {
  const path = answer.replace(/^(["'])(.*)\1$/, '$2')
  return path.startsWith('~/') ? join(homedir(), path.slice(2)) : path
}

/** Offers the tabs of the spreadsheet. Returns the default tab to set, or undefined to leave it as it is. */
async function askForTab({ environment, ask, session }: Asking, answers: Answers) {
  const { config, secrets } = loadConfig(environmentWith(environment, answers))
  const [site] = config.sites
  const { defaultTab } = site
  const home = await journalHomeOf(config, secrets, session)
  await using opened = await home.openForTrial().catch(() => undefined)
  const journal = opened && partOf(opened.sites, site)
  const found = await spreadsheetTabs({ ...session, config, secrets, site, journal })
  if (found?.kind !== 'found') {
    await session.out.lines(
      `The spreadsheet cannot be read yet: signups go to its tab ${defaultTab}, unless DEFAULT_SHEET_TAB names another.\n`,
    )
    return undefined
  }
  const isDefault = (title: string) => tabKey(title) === tabKey(defaultTab)
  /** Whether the settings take the title as it is. */
  const canBeDefault = (title: string) => {
    const { config } = load(environmentWith(environment, { ...answers, DEFAULT_SHEET_TAB: title }))
    return config?.sites[0].defaultTab === title
  }
  const others = found.titles.filter((it) => !isDefault(it) && canBeDefault(it))
  if (others.length === 0) return undefined
  const isThere = found.titles.some(isDefault)
  const present = [defaultTab, isThere ? defaultTab : `A new tab named ${defaultTab}`] as const
  const choices = others.map((title) => [title, title] as const)
  const isSet = textOf(environment.variables['DEFAULT_SHEET_TAB']) !== undefined
  const chosen = await ask.choose(
    'Which tab gets the signups that name none?',
    found.isNew && !isSet ? [...choices, present] : [present, ...choices],
  )
  return isDefault(chosen) ? undefined : chosen
}

async function askForChallenge(asking: Asking): Promise<EnvChanges> {
  const { environment, ask } = asking
  const { CHALLENGE_SITE_KEY: key, CHALLENGE_PROVIDER: before } = environment.variables
  const isSet = key !== undefined || before === 'altcha'
  const provider = await ask.choose('A challenge that keeps bots out?', [
    ...(isSet ? [['keep', 'The one that is set now'] as const] : []),
    ['none', 'None'],
    ['turnstile', 'Turnstile (Cloudflare)'],
    ['hcaptcha', 'hCaptcha'],
    ['recaptcha', 'reCAPTCHA (Google)'],
    ['altcha', 'Proof of work: no keys, no third party'],
  ])
  if (provider === 'keep') return new Map()
  const settings = new Map<string, string | undefined>(challengeNames.map((it) => [it, undefined]))
  if (provider === 'none') return settings
  settings.set('CHALLENGE_PROVIDER', provider)
  if (provider === 'altcha') return settings
  const problem = (name: Asked) => problemOf(asking, name, { CHALLENGE_PROVIDER: provider })
  const siteKey = await ask.text({
    message: 'Its site key, which is public',
    problem: problem('CHALLENGE_SITE_KEY'),
  })
  const secretKey = await ask.secret({
    message: 'Its secret key',
    problem: problem('CHALLENGE_SECRET_KEY'),
  })
  return settings.set('CHALLENGE_SITE_KEY', siteKey).set('CHALLENGE_SECRET_KEY', secretKey)
}

function problemOf({ environment }: Asking, name: Asked, chosen = {}) {
  return (answer: string) => {
    if (answer === '') return 'Type an answer, or press Ctrl-C to stop.'
    return problemWith(environment, { ...chosen, [name]: answer }, name)
  }
}
