import type { Config } from '../config/config.ts'
import { type Secrets, secretsOf, type SiteSecrets } from '../config/secrets.ts'
import type { GoogleConfig } from '../config/google.ts'
import type { SiteConfig } from '../config/site.ts'
import { Account, type AccountShare } from '../delivery/account.ts'
import type { BatchAllowance } from '../delivery/batch-allowance.ts'
import { Writer } from '../delivery/writer.ts'
import type { Journal } from '../journal/contracts/journal.ts'
import type { WatchTimes } from '../alerts/watch.ts'
import { comparisonOf } from '../operations/compare.ts'
import type { Events } from '../ops/events.ts'
import type { Clock } from '../platform/clock.ts'
import { environmentNames } from '../signup/setting-names.ts'
import { createGoogleSheets } from '../spreadsheet/google/google-sheets.ts'
import type { Spreadsheet } from '../spreadsheet/spreadsheet.ts'
import { createWorkbook } from '../spreadsheet/workbook/workbook.ts'
import { workbookFolder } from './data-folder.ts'
import { realWorld, type World } from './world.ts'

/** Where the rows of a site go. */
export interface Destination
  extends
    Pick<SiteConfig, 'spreadsheet'>,
    Partial<Pick<SiteConfig, 'fields' | 'settingNames'>>,
    Pick<SiteSecrets, 'privateKey'> {
  /** The folder of the local workbook, if that is the spreadsheet. */
  readonly workbookDir: string
}

export function destinationOf(
  site: SiteConfig,
  { dataDir }: Pick<Config, 'dataDir'>,
  secrets: Secrets,
): Destination {
  const workbookDir = workbookFolder(dataDir, site.name)
  const { spreadsheet, fields, settingNames } = site
  return { workbookDir, spreadsheet, fields, settingNames, ...secretsOf(secrets, site) }
}

export interface DeliveryOptions extends Destination {
  /** Whether to end the frozen batch and to remove rows only. */
  readonly removesOnly?: boolean
  /** What the site gets of its account; when it is left out, it has the account for itself. */
  readonly share?: AccountShare | undefined
  /** Whether this instance may still make calls, asked right before each; true when both are left out. */
  readonly delivers?: () => boolean
  readonly journal: Pick<Journal, 'delivery' | 'erasure' | 'callLedger' | 'time' | 'compared'>
  readonly events: Events
}

export interface DeliveryOverrides extends Partial<World> {
  /** How often an idle writer looks for signups that other processes have appended. */
  readonly lookEveryMs?: number
  /** When notices are made. */
  readonly noticeTimes?: Partial<WatchTimes>
  /** Wraps the spreadsheet, for tests with faults between it and the writer. */
  readonly wrap?: ((spreadsheet: Spreadsheet) => Spreadsheet) | undefined
}

/** Delivers signups from the journal to the spreadsheet, once its writer is started. */
export interface Delivery {
  readonly writer: Writer
  /** Where the rows go: a URL or a folder. */
  readonly location: string
}

/** Builds the writer and its spreadsheet. */
export function createDelivery(
  options: DeliveryOptions,
  { wrap = (spreadsheet) => spreadsheet, lookEveryMs = 1000, ...parts }: DeliveryOverrides = {},
): Delivery {
  const world = { ...realWorld, ...parts }
  const { journal, events, removesOnly = false } = options
  const { share = soleShare(options, world) } = options
  const spreadsheet = wrap(connectSpreadsheet({ ...options, share }, world))
  const { clock, random } = world
  const { location, profile } = spreadsheet
  const allowance = profile.hasQuota && share ? share.allowance : endless
  return {
    writer: new Writer({
      journal: journal.delivery,
      erasure: journal.erasure,
      removesOnly,
      arrivals: () => comparisonOf(journal.compared),
      events,
      clock,
      random,
      spreadsheet,
      allowance,
      lookEveryMs,
    }),
    location,
  }
}

/** A provider without a quota takes any batch at once. */
const endless: BatchAllowance = { wait: () => 0, take: () => {} }

function soleShare(
  { spreadsheet, journal, delivers }: DeliveryOptions,
  { clock }: World,
): AccountShare | undefined {
  if (spreadsheet.kind === 'workbook') return undefined
  return accountOf(spreadsheet, journal, clock, 1).join(delivers)
}

type CountingJournal = Pick<Journal, 'callLedger' | 'time'>

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

/** Connects to the spreadsheet of the settings. Only this function names a concrete provider. */
export function connectSpreadsheet(
  {
    spreadsheet: settings,
    workbookDir,
    privateKey,
    fields = [],
    settingNames = environmentNames,
    ...given
  }: Omit<DeliveryOptions, 'events' | 'journal'> & {
    readonly journal: CountingJournal
    readonly events?: Pick<Events, 'providerCalled'>
  },
  world: World,
): Spreadsheet {
  if (settings.kind === 'workbook' || privateKey === undefined) {
    return createWorkbook({ directory: workbookDir, fields }, world.files)
  }
  const { share = accountOf(settings, given.journal, world.clock, 1).join(given.delivers) } = given
  const { credentials, spreadsheetId, apiUrl, tokenUrl } = settings
  const { clock } = world
  return createGoogleSheets({
    access: { email: credentials.email, spreadsheetId, setting: settingNames.spreadsheet },
    sign: world.signWith(privateKey),
    apiUrl,
    tokenUrl,
    http: world.http,
    clock,
    random: world.random,
    digest: world.digest,
    gate: share.gate,
    called: given.events && ((outcome) => given.events?.providerCalled(outcome)),
    fields,
  })
}
