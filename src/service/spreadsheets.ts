import type { SignIn } from '../config/google-key/sign-in.ts'
import type { GoogleConfig } from '../config/sites/site.ts'
import { Account, type AccountShare } from '../delivery/account.ts'
import type { Journal } from '../journal/contracts/journal.ts'
import type { Events } from '../ops/events.ts'
import type { Clock } from '../platform/clock.ts'
import { noColumns } from '../signup/row.ts'
import { environmentNames } from '../platform/setting-names.ts'
import { type AskForToken, keyTokens, sheetsScope } from '../spreadsheet/google/access-token.ts'
import { fileTokens, impersonatedTokens, platformScope } from '../spreadsheet/google/file-token.ts'
import { createGoogleSheets } from '../spreadsheet/google/google-sheets.ts'
import { machineTokens } from '../spreadsheet/google/machine-token.ts'
import type { Spreadsheet } from '../spreadsheet/spreadsheet.ts'
import { createWorkbook } from '../spreadsheet/workbook/workbook.ts'
import type { RunningSite, Site } from './site.ts'
import type { World } from './world.ts'

/** What it takes of a site to reach its spreadsheet. */
export interface Destination
  extends
    Pick<Site, 'spreadsheet' | 'workbookDir' | 'signIn'>,
    Partial<Pick<Site, 'settingNames' | 'own'>> {
  readonly journal: Pick<Journal, 'callLedger' | 'time'>
  /** What the site gets of its account; when it is left out, it has the account for itself. */
  readonly share?: AccountShare | undefined
  readonly events?: Pick<Events, 'providerCalled'>
}

/** Connects to the spreadsheet of a site. */
export function connectSpreadsheet(site: Destination, world: World): Spreadsheet {
  const { spreadsheet, workbookDir, signIn, own = noColumns, events } = site
  const { share = soleShare(site, world.clock) } = site
  if (spreadsheet.kind === 'workbook' || signIn === undefined || !share) {
    return createWorkbook({ directory: workbookDir, own }, world.files)
  }
  return createGoogleSheets({
    ...{ ...googleOptions(site, spreadsheet, signIn, world), ...share, own },
    random: world.random,
    called: events && ((outcome) => events.providerCalled(outcome)),
  })
}

/** What both the writer and an inspection need to reach a Google Sheet. */
export function googleOptions(
  { settingNames = environmentNames }: Pick<Destination, 'settingNames'>,
  { credentials, spreadsheetId, apiUrl, tokenUrl }: GoogleConfig,
  signIn: SignIn,
  world: Pick<World, 'clock' | 'http' | 'signWith'>,
) {
  // The address of a person is not for the log.
  const email = 'subject' in signIn ? 'the person of SHEETS_SUBJECT' : credentials.email
  const access = { email, spreadsheetId, setting: settingNames.SHEETS_SHEET_ID }
  const { clock, http } = world
  return { access, ask: tokensBy(signIn, world), apiUrl, tokenUrl, clock, http }
}

/** Gets tokens of this scope, or of spreadsheets. */
export function tokensBy(
  signIn: SignIn,
  world: Pick<World, 'signWith'>,
  scope = sheetsScope,
): AskForToken {
  if (signIn.kind === 'machine') return machineTokens(signIn.url)
  if (signIn.kind === 'file') return fileTokens(signIn.file, scope)
  if (signIn.kind === 'impersonated')
    return impersonatedTokens(signIn, tokensBy(signIn.source, world, platformScope), scope)
  return keyTokens({ ...signIn, sign: world.signWith(signIn.privateKey), scope })
}

/** What a site gets of an account that it has for itself, as `Account.join`; undefined for the local workbook. */
export function soleShare(
  { spreadsheet, journal }: Pick<Destination, 'spreadsheet' | 'journal'>,
  clock: Clock,
  delivers?: () => boolean,
): AccountShare | undefined {
  if (spreadsheet.kind === 'workbook') return undefined
  return accountOf(spreadsheet, journal, clock, 1).join(delivers)
}

/** The account of a Google Sheet, which so many sites share. */
function accountOf(
  { credentials, quota }: GoogleConfig,
  journal: Destination['journal'],
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
  sites: readonly Pick<RunningSite, 'name' | 'spreadsheet' | 'journal'>[],
  clock: Clock,
): ReadonlyMap<string, Account> {
  const sharing = Map.groupBy(sites, ({ spreadsheet }) => {
    return spreadsheet.kind === 'google' ? spreadsheet.credentials.email : undefined
  })
  const accounts = new Map<string, Account>()
  for (const together of sharing.values()) {
    const [{ spreadsheet, journal }] = together as [(typeof together)[number]]
    if (spreadsheet.kind === 'workbook') continue
    const account = accountOf(spreadsheet, journal, clock, together.length)
    for (const { name } of together) accounts.set(name, account)
  }
  return accounts
}
