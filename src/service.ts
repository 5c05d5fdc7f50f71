import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { v7 as uuidv7 } from 'uuid'

import type { Config } from './config/config.ts'
import type { Secrets } from './config/secrets.ts'
import { openCallGate } from './delivery/call-gate.ts'
import { batchBucket } from './delivery/pace.ts'
import { Writer, type WriterOptions } from './delivery/writer.ts'
import { createIntake } from './intake/routes.ts'
import type { Journal } from './journal/journal.ts'
import { openSqliteJournal } from './journal/sqlite.ts'
import { createEvents } from './ops/events.ts'
import { createHealth } from './ops/health.ts'
import { createLog } from './ops/log.ts'
import { systemClock } from './platform/clock.ts'
import { lockDirectory } from './platform/directory-lock.ts'
import { httpClient } from './platform/http-client.ts'
import { listen } from './platform/http-server.ts'
import type { SignupId } from './signup/signup.ts'
import { createGoogleSheets } from './spreadsheet/google/google-sheets.ts'
import { createWorkbook } from './spreadsheet/workbook/workbook.ts'

/** A running service. Disposing drains it: no new request, one batch in flight settles, then it ends. */
export interface Service extends AsyncDisposable {
  /** Where it listens. */
  readonly url: string
  /** Where the rows go: a URL or a folder. */
  readonly location: string
}

/** How long a stop waits for requests that are being answered, and for the batch in flight. */
const graceMs = 10_000

/** Google recommends at most 2 MB a call; the rows are the contract's. */
const googleLimits = { rowsMax: 5000, bytesMax: 2_000_000 }

/** Builds every stage and starts them. Rejects when one cannot start; nothing is left running then. */
export async function startService(config: Config, secrets: Secrets): Promise<Service> {
  await using started = new AsyncDisposableStack()
  await mkdir(config.dataDir, { recursive: true })
  started.use(lockDirectory(config.dataDir))

  const log = createLog(config.logLevel)
  const health = createHealth()
  const events = createEvents(log, health)
  const clock = systemClock
  const journal = started.use(openSqliteJournal(join(config.dataDir, 'journal.db')))

  const delivery = await createDelivery(config, secrets, journal)
  const writer = new Writer({ ...delivery, journal, clock, random: Math.random, events })
  started.defer(() => writer.stop(graceMs))

  const newId = () => uuidv7() as SignupId
  const { defaultSheetTab: defaultTab, bodyBytesMax, listen: address } = config
  const intake = createIntake({
    journal,
    events,
    health,
    log,
    clock,
    newId,
    defaultTab,
    bodyBytesMax,
  })
  const server = await listen({ fetch: (request) => intake.fetch(request), ...address })
  started.defer(() => server.close(graceMs))

  writer.start()
  const running = started.move()
  return {
    url: server.url,
    location: delivery.spreadsheet.location,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

type Delivery = Pick<WriterOptions, 'spreadsheet' | 'limits' | 'bucket' | 'linger' | 'markersMax'>

/** The only place that names a concrete provider: how it is reached, and how fast. */
async function createDelivery(
  { spreadsheet, dataDir }: Config,
  { privateKey }: Secrets,
  journal: Journal,
): Promise<Delivery> {
  if (spreadsheet.kind === 'workbook' || privateKey === undefined) {
    return {
      spreadsheet: createWorkbook({ directory: join(dataDir, 'sheets') }),
      limits: googleLimits,
      bucket: { capacity: Infinity, refillMs: 1 },
      linger: { quietMs: 20, maxMs: 100 },
      markersMax: Infinity,
    }
  }
  const { credentials, spreadsheetId, apiUrl, tokenUrl, quota } = spreadsheet
  return {
    spreadsheet: createGoogleSheets({
      account: { email: credentials.email, spreadsheetId },
      privateKey,
      apiUrl,
      tokenUrl,
      http: httpClient,
      clock: systemClock,
      random: Math.random,
      gate: await openCallGate(journal, quota, systemClock),
    }),
    limits: googleLimits,
    bucket: batchBucket(quota),
    linger: { quietMs: 100, maxMs: 800 },
    markersMax: 100,
  }
}
