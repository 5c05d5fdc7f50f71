import { join } from 'node:path'
import type { Config } from '../config/config.ts'
import { openCallGate } from '../delivery/call-gate.ts'
import { batchBucket } from '../delivery/pace.ts'
import { Writer, type WriterOptions } from '../delivery/writer.ts'
import type { Journal } from '../journal/journal.ts'
import type { Events } from '../ops/events.ts'
import { createGoogleSheets } from '../spreadsheet/google/google-sheets.ts'
import type { Spreadsheet } from '../spreadsheet/spreadsheet.ts'
import { createWorkbook } from '../spreadsheet/workbook/workbook.ts'
import { realWorld, type World } from './world.ts'

export interface DeliveryOptions extends Pick<Config, 'spreadsheet' | 'dataDir'> {
  /** Of the service account; there when the spreadsheet is Google's. */
  readonly privateKey?: string
  readonly journal: Journal
  readonly events: Events
}

/** How a spreadsheet is written: how much at once, how often, how long to wait for more. */
type Terms = Pick<WriterOptions, 'limits' | 'bucket' | 'linger' | 'markersMax'>

export interface DeliveryOverrides extends Partial<World> {
  readonly terms?: Partial<Terms> | undefined
  /** Gives what is written instead of the spreadsheet, for faults between it and the writer. */
  readonly wrap?: ((spreadsheet: Spreadsheet) => Spreadsheet) | undefined
}

/** Takes signups from the journal to the spreadsheet, once its writer is started. */
export interface Delivery {
  readonly writer: Writer
  /** Where the rows go: a URL or a folder. */
  readonly location: string
}

/** Google recommends at most 2 MB a call; the number of rows keeps one call quick. */
const googleLimits = { rowsMax: 5000, bytesMax: 2 * 1024 * 1024 }

/** Wires one writer. With `terms` and `wrap`, tests and benches change what it is wired from. */
export async function createDelivery(
  options: DeliveryOptions,
  { terms, wrap = (spreadsheet) => spreadsheet, ...parts }: DeliveryOverrides = {},
): Promise<Delivery> {
  const world = { ...realWorld, ...parts }
  const { journal, events } = options
  const connected = await connectSpreadsheet(options, world)
  const spreadsheet = wrap(connected.spreadsheet)
  const { clock, random } = world
  const { location } = spreadsheet
  return {
    writer: new Writer({ journal, events, clock, random, ...connected, spreadsheet, ...terms }),
    location,
  }
}

/** The only place that names a concrete provider: how it is reached, and on which terms. */
export async function connectSpreadsheet(
  { spreadsheet: settings, dataDir, privateKey, journal }: Omit<DeliveryOptions, 'events'>,
  world: World,
): Promise<Terms & { readonly spreadsheet: Spreadsheet }> {
  if (settings.kind === 'workbook' || privateKey === undefined) {
    return {
      spreadsheet: createWorkbook({ directory: join(dataDir, 'sheets') }),
      limits: googleLimits,
      bucket: { capacity: Infinity, refillMs: 1 },
      linger: { quietMs: 20, maxMs: 100, burstMaxMs: 100 },
      markersMax: Infinity,
    }
  }
  const { credentials, spreadsheetId, apiUrl, tokenUrl, quota } = settings
  return {
    spreadsheet: createGoogleSheets({
      account: { email: credentials.email, spreadsheetId },
      sign: world.signWith(privateKey),
      apiUrl,
      tokenUrl,
      http: world.http,
      clock: world.clock,
      random: world.random,
      gate: await openCallGate(journal, quota, world.clock),
    }),
    limits: googleLimits,
    bucket: batchBucket(quota),
    linger: { quietMs: 100, maxMs: 800, burstMaxMs: 3000 },
    markersMax: 300,
  }
}
