import { readAccount, signInNames } from '../account.ts'
import type { Account } from '../google-key/sign-in.ts'
import { readChallenge } from '../challenge.ts'
import type { Refusal } from '../kind.ts'
import type { Files } from '../read-file.ts'
import type { SettingsReader } from '../reader.ts'
import { readChat, readWebhooks, type SiteSecrets } from '../secrets.ts'
import { settingNames } from '../settings.ts'
import { headingOf } from '../../signup/field.ts'
import { settingNamesBy } from '../../platform/setting-names.ts'
import { tabKey } from '../../signup/signup.ts'
import { confirmedColumn, headingKey } from '../../signup/row.ts'
import { defaultSite, readSiteValues, type SiteConfig } from './site.ts'
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
 * Reads the sites: those of the file that `ROLLCALL_CONFIG` names, or else one. Each is read as the
 * environment is, with what the site says itself over it.
 */
export function readSites(reader: SettingsReader, files: Files): Sites {
  const isNamed = reader.isSet('ROLLCALL_CONFIG')
  const file = reader.read('ROLLCALL_CONFIG', sitesJson(files))
  const unnamed: readonly Declared[] = isNamed ? [] : [{ name: defaultSite, given: {}, values: {} }]
  const declared = file ? declaredIn(file, reader) : unnamed
  const spreadsheetOf = spreadsheets(reader, files, isNamed)
  // The variables of the environment's own challenge and webhook may have the secrets of a site.
  const environment = reader.without(lentVariables(declared, reader))
  const shared = { challenge: readChallenge(environment), webhooks: readWebhooks(environment) }

  const sites = declared.map((own): ReadSite => {
    const { name, values } = own
    const site = reader.of(own)
    const account = spreadsheetOf(site, name)
    const challenged = values.challenge ? readChallenge(site, values.challenge) : shared.challenge
    const chat = readChat(site, values.chatVariable)
    const webhooks = values.webhooks ? readWebhooks(site, values.webhooks) : shared.webhooks
    const config: SiteConfig = {
      ...readSiteValues(site),
      name,
      spreadsheet: account?.spreadsheet ?? { kind: 'workbook' },
      challenge: challenged?.challenge,
      fields: values.fields ?? [],
      settingNames: settingNamesBy((it) =>
        it === 'CHALLENGE_SECRET_KEY'
          ? (values.challenge?.secretKeyVariable ?? it)
          : site.nameOf(it),
      ),
    }
    refuseTaken(site, config)
    refuseOverflow(site, config, isNamed)
    return {
      site: config,
      secrets: {
        ...(account && { signIn: account.signIn }),
        ...(challenged?.secret !== undefined && { challengeSecret: challenged.secret }),
        ...(webhooks.length > 0 && { webhooks }),
        ...(chat && { chat }),
      },
    }
  })
  const isWorkbook = (own: Declared) => !reader.of(own).isSet('SHEETS_SHEET_ID')
  return { sites, isNamed, hasWorkbook: !wantsGoogle(reader) && declared.some(isWorkbook) }
}

/** The variables of the environment's own secrets that sites name, where the environment has no use for them. */
function lentVariables(declared: readonly Declared[], reader: SettingsReader): readonly string[] {
  const named = declared.flatMap(({ values: { challenge, webhooks = [] } }) => [
    ...(reader.isSet('CHALLENGE_SITE_KEY') ? [] : [challenge?.secretKeyVariable]),
    ...(reader.isSet('WEBHOOK_URL') ? [] : webhooks.map(({ secretVariable }) => secretVariable)),
  ])
  return named.filter((name) => name !== undefined)
}

/** Whether the operator wants Google Sheets, as any `SHEETS_` setting shows. */
function wantsGoogle(reader: SettingsReader): boolean {
  return reader.isSet(...settingNames.filter((name) => name.startsWith('SHEETS_')))
}

/** Gives the Google spreadsheet of each site; undefined for a local workbook, and for what was refused. */
function spreadsheets(reader: SettingsReader, files: Files, isNamed: boolean) {
  const terms = {
    apiUrl: reader.value('SHEETS_API_URL'),
    tokenUrl: reader.value('SHEETS_TOKEN_URL'),
    quota: {
      perMinute: reader.value('SHEETS_REQUESTS_PER_MINUTE'),
      perDay: reader.value('SHEETS_REQUESTS_PER_DAY'),
    },
  }
  const wanted = wantsGoogle(reader)
  const owners = new Map<string, string>()
  let shared: { readonly account: Account | undefined } | undefined

  return (site: SettingsReader, name: string) => {
    const spreadsheetId = site.value('SHEETS_SHEET_ID')
    const refuse = (refusal: Refusal) =>
      isNamed ? site.refuseAt(['spreadsheet'], refusal) : site.refuse('SHEETS_SHEET_ID', refusal)
    if (!site.isSet('SHEETS_SHEET_ID')) {
      if (!wanted) return undefined
      refuse(missingSpreadsheet)
    }
    const owner = spreadsheetId === undefined ? undefined : owners.get(spreadsheetId)
    if (spreadsheetId !== undefined) owners.set(spreadsheetId, name)
    if (owner !== undefined) refuse(takenSpreadsheet(owner, !site.says('SHEETS_SHEET_ID')))
    const isOwn = signInNames.some((it) => site.says(it))
    const { account } = isOwn
      ? { account: readAccount(site, files) }
      : (shared ??= { account: readAccount(reader, files) })
    if (!account || spreadsheetId === undefined) return undefined
    const { email, signIn } = account
    const kind = 'google' as const
    return { spreadsheet: { kind, spreadsheetId, credentials: { email }, ...terms }, signIn }
  }
}

const missingSpreadsheet: Refusal = {
  problem: 'is missing, and other SHEETS_ settings are set.',
  expected: 'the id or the whole URL of the spreadsheet',
  hint: 'Set it; or remove all SHEETS_ settings to write to the local workbook.',
}

function takenSpreadsheet(owner: string, isShared: boolean): Refusal {
  const whose = `the spreadsheet of the site ${owner} already.`
  return {
    problem: isShared ? `is missing, and SHEETS_SHEET_ID is ${whose}` : `is ${whose}`,
    expected: 'a spreadsheet that belongs to this site alone',
    hint: 'Make another spreadsheet; or make one site of both, with two tabs.',
  }
}

/** Refuses an overflow tab that is the default one, or gets nothing. A site of the file may inherit one that gets nothing. */
function refuseOverflow(site: SettingsReader, config: SiteConfig, isNamed: boolean): void {
  const overflowTab = site.value('OVERFLOW_TAB')
  const isUsed = config.closing.after !== undefined
  const isInherited = isNamed && !site.says('OVERFLOW_TAB')
  if (overflowTab === undefined || (isInherited && !isUsed)) return
  const expected = 'a tab of its own, with CLOSES_AFTER, too'
  if (!isUsed) {
    const hint = 'Set CLOSES_AFTER, too; or remove it.'
    site.refuse('OVERFLOW_TAB', { problem: 'is set, and CLOSES_AFTER is not.', expected, hint })
  } else if (tabKey(overflowTab) === tabKey(config.defaultTab)) {
    const problem = `is the default tab${isInherited ? ` of the site ${config.name}` : ''}.`
    site.refuse('OVERFLOW_TAB', { problem, expected, hint: 'Choose another name.' })
  }
}

/** Refuses a heading that has another use in the same site. */
function refuseTaken(site: SettingsReader, { confirmation, fields }: SiteConfig): void {
  const key = headingKey(confirmedColumn.heading)
  const at = fields.findIndex((it) => headingKey(headingOf(it)) === key)
  if (confirmation === 'mail' && at !== -1)
    site.refuseAt(['fields', at], {
      problem: `has the heading ${confirmedColumn.heading}, which is that of the times of confirmation.`,
      expected: 'another label, as signups are confirmed by mail',
    })
}
