import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import type { Challenge } from '../challenge/challenge.ts'
import { isTestSecret, widgetOf } from '../challenge/providers.ts'
import { createSiteverify } from '../challenge/siteverify.ts'
import type { Config } from '../config/config.ts'
import { startNotes } from '../config/notes.ts'
import type { Secrets } from '../config/secrets.ts'
import { openCallGate } from '../delivery/call-gate.ts'
import { batchBucket } from '../delivery/pace.ts'
import { Writer, type WriterOptions } from '../delivery/writer.ts'
import { Admission } from '../intake/admission.ts'
import { ApiKeys } from '../http/api-keys.ts'
import { ArrivingBodies } from '../http/body.ts'
import { Turns } from '../intake/idempotency.ts'
import { accentStyles } from '../pages/accent.ts'
import { stylesheetPath } from '../pages/document.ts'
import { withConsent } from '../pages/embed-consent.ts'
import { createIntake } from './routes.ts'
import { connectionShare } from '../http/share.ts'
import { Waiting } from '../intake/waiting.ts'
import type { Journal } from '../journal/journal.ts'
import { openSqliteJournal } from '../journal/sqlite/sqlite-journal.ts'
import { createEvents, type Events } from '../ops/events.ts'
import { createHealth } from '../ops/health.ts'
import { createLog, type Logger } from '../ops/log.ts'
import { systemClock } from '../platform/clock.ts'
import { type DirectoryLock, lockDirectory } from '../platform/node/directory-lock.ts'
import { httpClient } from '../platform/node/http-client.ts'
import { listen } from '../platform/node/http-server.ts'
import { keepToOwner, sum } from '../platform/node/owner-only.ts'
import { readStaticFiles, type StaticFile, staticFile } from '../platform/node/static-files.ts'
import { signupIds } from '../signup/id.ts'
import { tabsByKey } from '../signup/tab.ts'
import { createGoogleSheets } from '../spreadsheet/google/google-sheets.ts'
import { signWith } from '../spreadsheet/google/sign-assertion.ts'
import { createWorkbook } from '../spreadsheet/workbook/workbook.ts'

/** A running service. Disposing drains it: no new request, one batch in flight settles, then it ends. */
export interface Service extends AsyncDisposable {
  /** Where it listens. */
  readonly url: string
  /** Where the rows go: a URL or a folder. */
  readonly location: string
  /** Resolves when it cannot go on, which the log has told by then: dispose of it. */
  readonly failed: Promise<void>
}

/** How long a stop waits for requests that are being answered, and for the batch in flight. */
const stopGraceMs = 10_000

const journalFile = 'journal.db'

/** Google recommends at most 2 MB a call; the rows are the contract's. */
const googleLimits = { rowsMax: 5000, bytesMax: 2 * 1024 * 1024 }

/** Builds every stage and starts them. Rejects when one cannot start; nothing is left running then. */
export async function startService(config: Config, secrets: Secrets): Promise<Service> {
  await using started = new AsyncDisposableStack()
  const lock = started.use(await lockDirectory(config.dataDir, journalFile, systemClock))

  const log = createLog(config.logLevel)
  await keepDataPrivate(config, log)
  const health = createHealth()
  const events = createEvents(log, health, systemClock)
  const clock = systemClock
  const journal = started.use(
    openSqliteJournal(join(config.dataDir, journalFile), policyOf(config), clock),
  )

  const delivery = await createDelivery(config, secrets, journal)
  const writer = new Writer({ ...delivery, journal, clock, random: Math.random, events })
  let graceMs = stopGraceMs
  started.defer(() => writer.stop(graceMs))

  const challenge = createChallenge(config, secrets, events)
  const waiting = new Waiting({ journal, health, clock })
  const { bodyBytesMax, bulkItemsMax, listen: address } = config
  const { allowedOrigins, allowedHosts, trustedProxies, signupsPerMinute } = config
  const intake = createIntake({
    journal,
    events,
    health,
    log,
    clock,
    newId: signupIds(),
    tabs: tabsOf(config, journal),
    turns: new Turns(),
    admission: new Admission({ challenge, events }),
    widget: widgetOf(config.challenge ?? { provider: 'turnstile', siteKey: null }),
    waiting,
    apiKeys: new ApiKeys(secrets.apiKeys, () => events.apiKeyRefused()),
    bodyBytesMax,
    arriving: new ArrivingBodies(),
    bulkItemsMax,
    allowedOrigins,
    allowedHosts,
    trustedProxies,
    signupsPerMinute,
    pages: config.pages,
    assets: [...(await browserFiles(config, log)), await stylesheet(config)],
  })
  const shareOf = (remoteAddress: string) => connectionShare(remoteAddress, trustedProxies)
  const server = await listen({ ...intake, ...address, bodyBytesMax, shareOf })
  started.defer(() => {
    waiting.stop()
    return server.close(graceMs)
  })

  tellFromTheStart(config, log)
  const failed = new Promise<void>((resolve) => {
    watchLock(lock, config, log, () => {
      graceMs = 0
      void writer.stop(graceMs)
      resolve()
    })
  })
  writer.start()
  const running = started.move()
  return {
    url: server.url,
    location: delivery.spreadsheet.location,
    failed,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

/** Once nothing can stop the start any more: a start that fails tells why it does, and nothing else. */
function tellFromTheStart(config: Config, log: Logger): void {
  for (const warning of config.warnings) log.warn(warning)
  for (const note of startNotes(config)) log.info(note)
}

/** Says what happens to the lock, and calls back when another process has it. */
function watchLock(lock: DirectoryLock, { dataDir }: Config, log: Logger, lost: () => void): void {
  const folder = dataDir
  lock.watch({
    remade() {
      const hint = 'Leave the file lock in DATA_DIR alone: it keeps a second process out.'
      log.warn({ folder, hint }, 'the file lock was deleted or replaced: it was made again')
    },
    unmade(error) {
      const hint = 'Start no second process on this DATA_DIR, and mend what the error says.'
      log.error({ folder, error, hint }, 'the file lock is gone, and cannot be made again')
    },
    lost() {
      const hint =
        'Let one process run for each DATA_DIR. Stop all before you delete the file lock, or leave it alone.'
      log.error(
        { folder, hint },
        'the file lock was deleted, and another process uses DATA_DIR now: this one stops',
      )
      lost()
    },
  })
}

/** What is ours in DATA_DIR, which may hold other things. */
async function keepDataPrivate({ dataDir }: Config, log: Logger): Promise<void> {
  const names = (await readdir(dataDir)).filter((name) => /^(lock|journal\.db|sheets$)/.test(name))
  const kept = await Array.fromAsync(names, (name) => keepToOwner(join(dataDir, name)))
  const folder = await keepToOwner(dataDir, { below: false })
  const { corrected, failed } = sum([folder, ...kept])
  if (corrected > 0) {
    log.warn({ folder: dataDir, corrected }, 'others could read the data: now only its owner can')
  }
  if (failed > 0) {
    const hint = `Run: chown -R $(id -u) ${dataDir} && chmod -R go= ${dataDir}`
    log.error({ folder: dataDir, failed, hint }, 'others may read a part of the data')
  }
}

/** What `scripts/build-browser.js` has built; the set-up script sees to it. */
async function browserFiles({ pages }: Config, log: Logger) {
  const files = await readStaticFiles(fileURLToPath(new URL('../../dist', import.meta.url)))
  if (files.length === 0) {
    log.warn(
      '/embed.js is not there, as it was not built: run node scripts/setup.js and start again',
    )
  }
  return Promise.all(
    files.map(async (file) => {
      if (file.path !== 'embed.js' || !pages.consent) return file
      const embed = withConsent(new TextDecoder().decode(file.bodies.identity), pages)
      return staticFile(file.path, new TextEncoder().encode(embed))
    }),
  )
}

/** Of the pages, with the accent colour of the settings. */
async function stylesheet({ pages: { accent } }: Config): Promise<StaticFile> {
  const styles = await readFile(new URL('../pages/page.css', import.meta.url), 'utf8')
  const content = accent === undefined ? styles : styles + accentStyles(accent)
  return staticFile(stylesheetPath, new TextEncoder().encode(content))
}

/** Of one client address: more than a person needs, and nobody can use up all the new tabs at once. */
const newTabsPerHourMax = 10

function policyOf(config: Config) {
  const { defaultSheetTab, defaultTabOf, sheetTabs = [], newTabsMax, duplicates } = config
  const defaultTab = { name: defaultSheetTab, of: defaultTabOf }
  const namedTabs = defaultTabOf === undefined ? [defaultSheetTab, ...sheetTabs] : sheetTabs
  return { defaultTab, namedTabs, newTabsMax, newTabsPerHourMax, duplicates }
}

function tabsOf({ defaultTabOf, sheetTabs }: Config, journal: Journal) {
  return {
    /** It may get its name while we run. */
    get defaultTab() {
      return journal.defaultTab.name
    },
    // The same before and after, so that a request that is repeated is the same.
    absentTab: defaultTabOf === undefined ? undefined : '',
    knownTabs: tabsByKey(sheetTabs ?? []),
    onlyKnownTabs: sheetTabs !== undefined,
  }
}

function createChallenge(
  { challenge }: Config,
  { challengeSecret: secret }: Secrets,
  events: Events,
): Challenge | undefined {
  if (!challenge || secret === undefined) return undefined
  events.challengeStarted(challenge.provider, isTestSecret(challenge.provider, secret))
  return createSiteverify({ ...challenge, secret, http: httpClient, clock: systemClock })
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
      linger: { quietMs: 20, maxMs: 100, burstMaxMs: 100 },
      markersMax: Infinity,
    }
  }
  const { credentials, spreadsheetId, apiUrl, tokenUrl, quota } = spreadsheet
  return {
    spreadsheet: createGoogleSheets({
      account: { email: credentials.email, spreadsheetId },
      sign: signWith(privateKey),
      apiUrl,
      tokenUrl,
      http: httpClient,
      clock: systemClock,
      random: Math.random,
      gate: await openCallGate(journal, quota, systemClock),
    }),
    limits: googleLimits,
    bucket: batchBucket(quota),
    linger: { quietMs: 100, maxMs: 800, burstMaxMs: 3000 },
    markersMax: 300,
  }
}
