import { type Account, accountInFile, readAccount } from '../account.ts'
import { type Challenged, keyParsers, notForAltcha, readChallenge } from '../challenge.ts'
import type { Files } from '../read-file.ts'
import type { SettingsReader } from '../reader.ts'
import type { SettingRefusal } from '../refusal.ts'
import { problemAt } from './schema-problems.ts'
import type { SiteSecrets } from '../secrets.ts'
import { settingNames } from '../settings.ts'
import { webhooksOf } from '../webhooks.ts'
import { defaultSite, type GoogleConfig, namesOf, type SiteConfig, siteValues } from './site.ts'
import { type Field, headingOf } from '../../signup/field.ts'
import { confirmedColumn, headingKey } from '../../signup/row.ts'
import { tabKey } from '../../signup/signup.ts'
import { type Declared, declaredIn, sitesJson } from './sites-file.ts'

/** A site and what must not be printed of it. */
export interface ReadSite {
  readonly site: SiteConfig
  readonly secrets: SiteSecrets
}

export interface Sites {
  /** There may be too few of them when there are problems. */
  readonly sites: readonly ReadSite[]
  /** Whether a file names them. */
  readonly isNamed: boolean
  readonly hasWorkbook: boolean
}

/**
 * Reads the sites: those of the file that `ROLLCALL_CONFIG` names, or else one. What they leave out comes
 * from the environment. The reader gets the problems of the file, too.
 */
export function readSites(reader: SettingsReader, files: Files): Sites {
  const isNamed = reader.isSet('ROLLCALL_CONFIG')
  const file = reader.optional('ROLLCALL_CONFIG', sitesJson(files))
  // A file that cannot be read has no sites.
  const { declared, problems }: ReturnType<typeof declaredIn> = file
    ? declaredIn(file)
    : { declared: isNamed ? [] : [[defaultSite, {}]], problems: [] }
  reader.problems.push(...problems)
  const refuse: Refuse = (path, refusal) =>
    reader.problems.push(problemAt(['sites', ...path], file, refusal))
  const valuesOf = siteValues(reader)
  const spreadsheetOf = spreadsheets(declared, isNamed, reader, files, refuse)
  const challengeOf = challenges(declared, reader, refuse)
  const toldBy = webhooksOf(declared, reader)
  const sites = declared.map((it): ReadSite => {
    const [name, site] = it
    const google = spreadsheetOf(it)
    const challenged = challengeOf(it)
    const webhooks = toldBy(it)
    const values = valuesOf(site, google?.spreadsheet.spreadsheetId)
    const taken = takenSpamTab(values)
    if (taken && site.spam?.tab !== undefined) refuse([name, 'spam', 'tab'], taken)
    else if (taken) reader.refuse('SPAM_TAB', taken)
    const headed = confirmedHeading(values, site.fields)
    if (headed !== -1) refuse([name, 'fields', headed], takenHeading)
    return {
      site: {
        ...values,
        name,
        spreadsheet: google?.spreadsheet ?? { kind: 'workbook' },
        challenge: challenged?.challenge,
        fields: site.fields ?? [],
        settingNames: namesOf(name, site),
      },
      secrets: {
        ...(google && { privateKey: google.privateKey }),
        ...(challenged?.secret !== undefined && { challengeSecret: challenged.secret }),
        ...(webhooks.length > 0 && { webhooks }),
      },
    }
  })
  const hasWorkbook =
    !wantsGoogle(reader) && declared.some(([, { spreadsheet }]) => spreadsheet === undefined)
  return { sites, isNamed, hasWorkbook }
}

/** Whether the operator wants Google Sheets, as any `SHEETS_` setting shows. */
function wantsGoogle(reader: SettingsReader): boolean {
  return reader.isSet(...settingNames.filter((name) => name.startsWith('SHEETS_')))
}

type Refuse = (path: readonly PropertyKey[], refusal: SettingRefusal) => void
interface Google {
  readonly spreadsheet: GoogleConfig
  readonly privateKey: string
}

/** Gives the Google spreadsheet of each site; undefined for a local workbook, and for what was refused. */
function spreadsheets(
  declared: readonly Declared[],
  isNamed: boolean,
  reader: SettingsReader,
  files: Files,
  refuse: Refuse,
): (declared: Declared) => Google | undefined {
  const terms = {
    apiUrl: reader.value('SHEETS_API_URL'),
    tokenUrl: reader.value('SHEETS_TOKEN_URL'),
    quota: {
      perMinute: reader.value('SHEETS_REQUESTS_PER_MINUTE'),
      perDay: reader.value('SHEETS_REQUESTS_PER_DAY'),
    },
  }
  const shared =
    !isNamed && wantsGoogle(reader)
      ? reader.required('SHEETS_SHEET_ID', missingSpreadsheet)
      : reader.value('SHEETS_SHEET_ID')
  const needsAccount = isNamed
    ? declared.some(
        ([, { spreadsheet = shared, credentialsFile }]) =>
          spreadsheet !== undefined && credentialsFile === undefined,
      )
    : wantsGoogle(reader)
  const hasAccount = reader.isSet(
    'SHEETS_CREDENTIALS_EMAIL',
    'SHEETS_PRIVATE_KEY',
    'SHEETS_CREDENTIALS_FILE',
  )
  const account = needsAccount || hasAccount ? readAccount(reader, files) : undefined
  const owners = new Map<string, string>()

  return ([name, { spreadsheet, credentialsFile }]) => {
    const spreadsheetId = spreadsheet ?? shared
    const path = [name, 'spreadsheet']
    if (spreadsheetId === undefined) {
      if (isNamed && wantsGoogle(reader)) refuse(path, missingSpreadsheet)
      return undefined
    }
    const owner = owners.get(spreadsheetId)
    owners.set(spreadsheetId, name)
    if (owner !== undefined) refuse(path, takenSpreadsheet(owner, spreadsheet === undefined))
    const own = credentialsFile === undefined ? account : ownAccount(name, credentialsFile)
    if (!own) return undefined
    const { email, privateKey } = own
    const config: GoogleConfig = { kind: 'google', spreadsheetId, credentials: { email }, ...terms }
    return { spreadsheet: config, privateKey }
  }

  function ownAccount(name: string, path: string): Account | undefined {
    const found = accountInFile(files, path)
    if ('value' in found) return found.value
    refuse([name, 'credentialsFile'], found)
    return undefined
  }
}

const missingSpreadsheet: SettingRefusal = {
  problem: 'is missing, and other SHEETS_ settings are set.',
  expected: 'the id or the whole URL of the spreadsheet',
  hint: 'Set it; or remove all SHEETS_ settings to write to the local workbook.',
}

function takenSpreadsheet(owner: string, isShared: boolean): SettingRefusal {
  const whose = `the spreadsheet of the site ${owner} already.`
  return {
    problem: isShared ? `is missing, and SHEETS_SHEET_ID is ${whose}` : `is ${whose}`,
    expected: 'a spreadsheet that belongs to this site alone',
    hint: 'Make another spreadsheet; or make one site of both, with two tabs.',
  }
}

type TabValues = Pick<SiteConfig, 'spam' | 'defaultTab' | 'tabs'>

/** What is wrong with the tab for suspect signups; undefined when others cannot name it. */
function takenSpamTab({ spam, defaultTab, tabs = [] }: TabValues): SettingRefusal | undefined {
  const isTaken = [defaultTab, ...tabs].some((tab) => tabKey(tab) === tabKey(spam.tab))
  if (!isTaken || spam.filter !== 'quarantine') return undefined
  return {
    problem: 'is a tab for which people sign up.',
    expected: 'a tab for suspect signups alone, as spam.filter is quarantine',
    hint: 'Choose another name; or take it out of DEFAULT_SHEET_TAB and SHEET_TABS.',
  }
}

/** The place of the field whose heading the column of confirmations needs; -1 when there is none. */
function confirmedHeading(
  { confirmation }: Pick<SiteConfig, 'confirmation'>,
  fields: readonly Field[] = [],
): number {
  const key = headingKey(confirmedColumn.heading)
  return confirmation === 'mail' ? fields.findIndex((it) => headingKey(headingOf(it)) === key) : -1
}

const takenHeading: SettingRefusal = {
  problem: `has the heading ${confirmedColumn.heading}, which is that of the times of confirmation.`,
  expected: 'another label, as signups are confirmed by mail',
  hint: 'Choose another label.',
}

/** Gives the challenge of each site; undefined when it is off or was refused. */
function challenges(
  declared: readonly Declared[],
  reader: SettingsReader,
  refuse: Refuse,
): (declared: Declared) => Challenged | undefined {
  const terms = {
    provider: reader.value('CHALLENGE_PROVIDER'),
    verifyUrl: reader.value('CHALLENGE_VERIFY_URL'),
    scriptUrl: reader.value('CHALLENGE_SCRIPT_URL'),
    hostnames: reader.value('CHALLENGE_HOSTNAMES'),
  }
  // The variable of the environment's own challenge may have the key of a site.
  const isOfSite =
    !reader.isSet('CHALLENGE_SITE_KEY') &&
    declared.some(([, site]) => site.challenge?.secretKeyVariable === 'CHALLENGE_SECRET_KEY')
  const shared = readChallenge(reader, terms, isOfSite)

  return ([name, { challenge }]) => {
    if (!challenge) return shared
    const path = [name, 'challenge']
    const {
      provider = terms.provider,
      secretKeyVariable = '',
      hostnames = terms.hostnames,
    } = challenge
    if (provider === 'altcha') {
      const needless = Object.keys(challenge).filter((key) => key !== 'provider')
      for (const key of needless) refuse([...path, key], notForAltcha('provider'))
      return { challenge: { provider } }
    }
    const parsers = keyParsers(provider)
    const siteKey = parsers.siteKey(challenge.siteKey?.trim() ?? '')
    if (!('value' in siteKey)) refuse([...path, 'siteKey'], siteKey)
    const text = reader.text(secretKeyVariable)
    if (text === undefined) {
      refuse([...path, 'secretKeyVariable'], missingSecret(secretKeyVariable))
      return undefined
    }
    const secret = parsers.secret(text)
    if (!('value' in secret)) reader.refuse(secretKeyVariable, secret)
    if (!('value' in siteKey && 'value' in secret)) return undefined
    const { verifyUrl, scriptUrl } = provider === terms.provider ? terms : ofProvider
    return {
      challenge: { provider, siteKey: siteKey.value, verifyUrl, scriptUrl, hostnames },
      secret: secret.value,
    }
  }
}

/** The addresses of the setting are those of another provider. */
const ofProvider = { verifyUrl: undefined, scriptUrl: undefined }

function missingSecret(variable: string): SettingRefusal {
  return {
    problem: 'names a variable that is not set.',
    expected: 'a variable of the environment or of .env with the secret key',
    hint: `Set ${variable} to the secret key of the same site; or remove the challenge from this site.`,
  }
}
