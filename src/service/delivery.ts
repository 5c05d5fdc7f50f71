import type { Config } from '../config/config.ts'
import { type Secrets, secretsOf, type SiteSecrets } from '../config/secrets.ts'
import type { SiteConfig } from '../config/site.ts'
import { createCallGate } from '../delivery/call-gate.ts'
import { batchBucket, bottomless } from '../delivery/pace.ts'
import { Writer } from '../delivery/writer.ts'
import type { ComparableJournal } from '../journal/journal.ts'
import type { Events } from '../ops/events.ts'
import { cellKey } from '../spreadsheet/csv.ts'
import { createGoogleSheets } from '../spreadsheet/google/google-sheets.ts'
import type { Spreadsheet } from '../spreadsheet/spreadsheet.ts'
import { createWorkbook } from '../spreadsheet/workbook/workbook.ts'
import { workbookFolder } from './data-folder.ts'
import { realWorld, type World } from './world.ts'

/** Where the rows of a site go. */
export interface Destination
  extends Pick<SiteConfig, 'spreadsheet'>, Pick<SiteSecrets, 'privateKey'> {
  /** The folder of the local workbook, if that is the spreadsheet. */
  readonly workbookDir: string
}

export function destinationOf(
  site: SiteConfig,
  { dataDir }: Pick<Config, 'dataDir'>,
  secrets: Secrets,
): Destination {
  const workbookDir = workbookFolder(dataDir, site.name)
  return { workbookDir, spreadsheet: site.spreadsheet, ...secretsOf(secrets, site) }
}

export interface DeliveryOptions extends Destination {
  /** Whether to end the frozen batch and to remove rows only. */
  readonly removesOnly?: boolean
  /** Whether this instance may still make calls, asked right before each; true when it is left out. */
  readonly delivers?: () => boolean
  readonly journal: Pick<
    ComparableJournal,
    'delivery' | 'erasure' | 'callLedger' | 'time' | 'comparison'
  >
  readonly events: Events
}

export interface DeliveryOverrides extends Partial<World> {
  /** How often an idle writer looks for signups that other processes have appended. */
  readonly lookEveryMs?: number
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
  const spreadsheet = wrap(connectSpreadsheet(options, world))
  const { clock, random } = world
  const { location, profile } = spreadsheet
  const settings = options.spreadsheet
  const bucket =
    profile.hasQuota && settings.kind === 'google' ? batchBucket(settings.quota) : bottomless
  return {
    writer: new Writer({
      journal: journal.delivery,
      erasure: journal.erasure,
      removesOnly,
      comparison: () => journal.comparison({ cellKey }),
      events,
      clock,
      random,
      spreadsheet,
      bucket,
      lookEveryMs,
    }),
    location,
  }
}

/** Connects to the spreadsheet of the settings. Only this function names a concrete provider. */
export function connectSpreadsheet(
  {
    spreadsheet: settings,
    workbookDir,
    privateKey,
    journal,
    delivers,
  }: Omit<DeliveryOptions, 'events'>,
  world: World,
): Spreadsheet {
  if (settings.kind === 'workbook' || privateKey === undefined) {
    return createWorkbook({ directory: workbookDir }, world.files)
  }
  const { credentials, spreadsheetId, apiUrl, tokenUrl, quota } = settings
  const { clock } = world
  const ledger = journal.callLedger(credentials.email, journal.time ?? clock)
  return createGoogleSheets({
    access: { email: credentials.email, spreadsheetId },
    sign: world.signWith(privateKey),
    apiUrl,
    tokenUrl,
    http: world.http,
    clock,
    random: world.random,
    digest: world.digest,
    gate: createCallGate(ledger, quota, clock, delivers),
  })
}
