import type { Config } from '../config/config.ts'
import { type Secrets, secretsOf, type SiteSecrets } from '../config/secrets.ts'
import type { GoogleConfig, SiteConfig } from '../config/sites/site.ts'
import { Account, type AccountShare } from '../delivery/account.ts'
import type { Journal } from '../journal/contracts/journal.ts'
import type { Events } from '../ops/events.ts'
import type { Clock } from '../platform/clock.ts'
import { noColumns, type OwnColumn, ownColumns } from '../signup/row.ts'
import { environmentNames } from '../signup/setting-names.ts'
import { createGoogleSheets } from '../spreadsheet/google/google-sheets.ts'
import type { Spreadsheet } from '../spreadsheet/spreadsheet.ts'
import { createWorkbook } from '../spreadsheet/workbook/workbook.ts'
import { workbookFolder } from './data-folder.ts'
import type { RunningSite } from './running-site.ts'
import type { World } from './world.ts'

/** Where the rows of a site go. */
export interface Destination
  extends
    Pick<SiteConfig, 'spreadsheet'>,
    Partial<Pick<SiteConfig, 'settingNames'>>,
    Pick<SiteSecrets, 'privateKey'> {
  /** The folder of the local workbook, if that is the spreadsheet. */
  readonly workbookDir: string
  /** The columns of the site's own. */
  readonly own?: readonly OwnColumn[]
}

export function destinationOf(
  site: SiteConfig,
  { dataDir }: Pick<Config, 'dataDir'>,
  secrets: Secrets,
): Destination {
  const workbookDir = workbookFolder(dataDir, site.name)
  const { spreadsheet, settingNames } = site
  const own = ownColumns(site.fields, site.confirmation)
  return { workbookDir, spreadsheet, own, settingNames, ...secretsOf(secrets, site) }
}

type CountingJournal = Pick<Journal, 'callLedger' | 'time'>

export interface ConnectOptions extends Destination {
  readonly journal: CountingJournal
  /** What the site gets of its account; when it is left out, it has the account for itself. */
  readonly share?: AccountShare | undefined
  readonly events?: Pick<Events, 'providerCalled'>
}

/** Connects to the spreadsheet of the settings. */
export function connectSpreadsheet(options: ConnectOptions, world: World): Spreadsheet {
  const { spreadsheet, workbookDir, privateKey, own = noColumns, events } = options
  if (spreadsheet.kind === 'workbook' || privateKey === undefined) {
    return createWorkbook({ directory: workbookDir, own }, world.files)
  }
  const { share = accountOf(spreadsheet, options.journal, world.clock, 1).join() } = options
  return createGoogleSheets({
    ...googleOptions(options, spreadsheet, privateKey, world),
    random: world.random,
    gate: share.gate,
    called: events && ((outcome) => events.providerCalled(outcome)),
    own,
  })
}

/** What both the writer and an inspection need to reach a Google Sheet. */
export function googleOptions(
  { settingNames = environmentNames }: Destination,
  { credentials, spreadsheetId, apiUrl, tokenUrl }: GoogleConfig,
  privateKey: string,
  { clock, digest, http, signWith }: World,
) {
  const access = { email: credentials.email, spreadsheetId, setting: settingNames.spreadsheet }
  return { access, sign: signWith(privateKey), apiUrl, tokenUrl, clock, digest, http }
}

/** The account of a Google Sheet, which so many sites share. */
export function accountOf(
  { credentials, quota }: GoogleConfig,
  journal: CountingJournal,
  clock: Clock,
  sites: number,
): Account {
  const ledger = journal.callLedger(credentials.email, journal.time ?? clock)
  return new Account({ ledger, quota, clock, sites })
}

/**
 * The accounts at the provider of all sites, by the name of the site. Sites with one account share its
 * quota. A site with the local workbook has none.
 */
export function accountsOf(
  sites: readonly Pick<RunningSite, 'config' | 'journal'>[],
  clock: Clock,
): ReadonlyMap<string, Account> {
  const sharing = Map.groupBy(sites, ({ config: { spreadsheet } }) => {
    return spreadsheet.kind === 'google' ? spreadsheet.credentials.email : undefined
  })
  const accounts = new Map<string, Account>()
  for (const together of sharing.values()) {
    const [{ config, journal }] = together as [(typeof together)[number]]
    if (config.spreadsheet.kind === 'workbook') continue
    const account = accountOf(config.spreadsheet, journal, clock, together.length)
    for (const { config: site } of together) accounts.set(site.name, account)
  }
  return accounts
}
