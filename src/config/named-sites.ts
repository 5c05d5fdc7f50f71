import { environmentNames, type SettingNames } from '../signup/setting-names.ts'
import { type Account, accountInFile, hasAccount, readAccount } from './account.ts'
import {
  type Challenged,
  type ChallengeTerms,
  keyParsers,
  readChallenge,
  readChallengeTerms,
} from './challenge.ts'
import { type Declared, declaredIn } from './declared-sites.ts'
import { fieldOf } from './field-schema.ts'
import { type GoogleConfig, readGoogleTerms } from './google.ts'
import type { PagesConfig } from './pages.ts'
import { describeGiven, type SettingProblem, type SettingRefusal } from './problem.ts'
import type { Files } from './read-file.ts'
import { type SettingsReader, textOf, type Variables } from './reader.ts'
import { pathText, problemAt } from './schema-problems.ts'
import { readSiteDefaults, type ReadSite, type SiteDefaults, wantsGoogle } from './site.ts'
import type { DeclaredSite } from './site-schema.ts'
import { parseSpreadsheetId } from './spreadsheet-id.ts'

/** The sites of a file. There may be too few of them when there are problems. */
export interface NamedSites {
  readonly sites: readonly ReadSite[]
  /** Problems of the file. Those of the environment are with the reader. */
  readonly problems: readonly SettingProblem[]
  /** The variables that have secret keys of sites. */
  readonly secretVariables: ReadonlySet<string>
  /** Whether a site writes to a local workbook. */
  readonly hasWorkbook: boolean
}

/** Reads the sites of the file. What they leave out comes from the environment. */
export function readNamedSites(
  file: object,
  reader: SettingsReader,
  environment: Files & { readonly variables: Variables },
): NamedSites {
  const { declared, problems } = declaredIn(file)
  const refuse = (path: readonly PropertyKey[], refusal: SettingRefusal) =>
    problems.push(problemAt(['sites', ...path], file, refusal))
  const secretVariables = new Set(
    declared.flatMap(([, { challenge }]) => challenge?.secretKeyVariable ?? []),
  )
  const defaults = readSiteDefaults(reader)
  const spreadsheetOf = spreadsheets(declared, reader, environment, refuse)
  const challengeOf = challenges(secretVariables, reader, environment, refuse, problems)
  const sites = declared.map((it): ReadSite => {
    const [name, site] = it
    const google = spreadsheetOf(it)
    const challenged = challengeOf(it)
    return {
      site: {
        name,
        spreadsheet: google?.spreadsheet ?? { kind: 'workbook' },
        challenge: challenged?.challenge,
        ...ownOf(site, defaults, google?.spreadsheet.spreadsheetId),
        settingNames: namesOf(name, site),
      },
      secrets: {
        ...(google && { privateKey: google.privateKey }),
        ...(challenged && { challengeSecret: challenged.secret }),
      },
    }
  })
  const hasWorkbook =
    !wantsGoogle(reader) && declared.some(([, { spreadsheet }]) => spreadsheet === undefined)
  return { sites, problems, secretVariables, hasWorkbook }
}

/** What a site says itself, or the environment for it. */
function ownOf(site: DeclaredSite, defaults: SiteDefaults, spreadsheetId: string | undefined) {
  const { isDefaultTabSet, pages, ...others } = defaults
  const isTabNamed = site.defaultTab !== undefined || isDefaultTabSet
  return {
    pages: pagesOf(site.page ?? {}, pages),
    defaultSheetTab: site.defaultTab ?? others.defaultSheetTab,
    defaultTabOf: isTabNamed ? undefined : spreadsheetId,
    sheetTabs: site.tabs ?? others.sheetTabs,
    newTabsMax: site.maxTabs ?? others.newTabsMax,
    duplicates: site.duplicates ?? others.duplicates,
    allowedOrigins: originsOf(site.origins) ?? others.allowedOrigins,
    signupsPerMinute: site.signupsPerMinute ?? others.signupsPerMinute,
    fields: (site.fields ?? []).map(fieldOf),
  }
}

/** Paths for what the site says itself. */
function namesOf(name: string, { spreadsheet, origins, challenge }: DeclaredSite): SettingNames {
  const at = (...keys: string[]) => pathText(['sites', name, ...keys])
  return {
    spreadsheet: spreadsheet === undefined ? environmentNames.spreadsheet : at('spreadsheet'),
    origins: origins === undefined ? environmentNames.origins : at('origins'),
    challenge: challenge
      ? {
          provider: at('challenge', 'provider'),
          siteKey: at('challenge', 'siteKey'),
          secretKey: challenge.secretKeyVariable,
          hostnames: at('challenge', 'hostnames'),
        }
      : environmentNames.challenge,
  }
}

function pagesOf(page: NonNullable<DeclaredSite['page']>, pages: PagesConfig): PagesConfig {
  const set = Object.entries(page).filter(([, value]) => value !== undefined)
  return { ...pages, ...Object.fromEntries(set) }
}

function originsOf(origins: DeclaredSite['origins']): '*' | readonly string[] | undefined {
  if (origins === undefined) return undefined
  return origins.includes('*') ? '*' : [...new Set(origins.flat())]
}

type Refuse = (path: readonly PropertyKey[], refusal: SettingRefusal) => void
interface Google {
  readonly spreadsheet: GoogleConfig
  readonly privateKey: string
}

/** Gives the Google spreadsheet of each site; undefined for a local workbook, and for what was refused. */
function spreadsheets(
  declared: readonly Declared[],
  reader: SettingsReader,
  files: Files,
  refuse: Refuse,
): (declared: Declared) => Google | undefined {
  const terms = readGoogleTerms(reader)
  const shared = reader.optional('SHEETS_SHEET_ID', parseSpreadsheetId)
  const needsAccount = declared.some(
    ([, { spreadsheet = shared, credentialsFile }]) =>
      spreadsheet !== undefined && credentialsFile === undefined,
  )
  const account = needsAccount || hasAccount(reader) ? readAccount(reader, files) : undefined
  const owners = new Map<string, string>()

  return ([name, { spreadsheet, credentialsFile }]) => {
    const spreadsheetId = spreadsheet ?? shared
    const path = [name, 'spreadsheet']
    if (spreadsheetId === undefined) {
      if (wantsGoogle(reader)) refuse(path, missingSpreadsheet)
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
  problem: 'is missing, and SHEETS_SHEET_ID too, but other SHEETS_ settings are set.',
  expected: 'the URL or the id of the spreadsheet of this site',
  hint: 'Give each site a spreadsheet; or remove all SHEETS_ settings to write to the local workbook.',
}

function takenSpreadsheet(owner: string, isShared: boolean): SettingRefusal {
  const whose = `the spreadsheet of the site ${owner} already.`
  return {
    problem: isShared ? `is missing, and SHEETS_SHEET_ID is ${whose}` : `is ${whose}`,
    expected: 'a spreadsheet that belongs to this site alone',
    hint: 'Make another spreadsheet; or make one site of both, with two tabs.',
  }
}

/** Gives the challenge of each site; undefined when it is off or was refused. */
function challenges(
  secretVariables: ReadonlySet<string>,
  reader: SettingsReader,
  { variables }: { readonly variables: Variables },
  refuse: Refuse,
  problems: SettingProblem[],
): (declared: Declared) => Challenged | undefined {
  const terms = readChallengeTerms(reader)
  // The variable of the environment's own challenge may have the key of a site.
  const isOfSite =
    secretVariables.has('CHALLENGE_SECRET_KEY') && reader.text('CHALLENGE_SITE_KEY') === undefined
  const shared = isOfSite ? undefined : readChallenge(reader, terms)

  return ([name, { challenge }]) => {
    if (!challenge) return shared
    const path = [name, 'challenge']
    const { provider = terms.provider, secretKeyVariable, hostnames = terms.hostnames } = challenge
    const parsers = keyParsers(provider)
    const siteKey = parsers.siteKey(challenge.siteKey.trim())
    if (!('value' in siteKey)) refuse([...path, 'siteKey'], siteKey)
    const text = textOf(variables[secretKeyVariable])
    if (text === undefined) {
      refuse([...path, 'secretKeyVariable'], missingSecret(secretKeyVariable))
      return undefined
    }
    const secret = parsers.secret(text)
    if (!('value' in secret)) {
      const { problem, expected, hint } = secret
      const given = describeGiven('CHALLENGE_SECRET_KEY', text)
      problems.push({ setting: secretKeyVariable, problem, given, expected, hint })
    }
    if (!('value' in siteKey && 'value' in secret)) return undefined
    const addresses: Pick<ChallengeTerms, 'verifyUrl' | 'scriptUrl'> =
      provider === terms.provider ? terms : { verifyUrl: undefined, scriptUrl: undefined }
    const { verifyUrl, scriptUrl } = addresses
    return {
      challenge: { provider, siteKey: siteKey.value, verifyUrl, scriptUrl, hostnames },
      secret: secret.value,
    }
  }
}

function missingSecret(variable: string): SettingRefusal {
  return {
    problem: 'names a variable that is not set.',
    expected: 'a variable of the environment or of .env with the secret key',
    hint: `Set ${variable} to the secret key of the same site; or remove the challenge from this site.`,
  }
}
