import { type Config, startNotes } from '../config/config.ts'
import type { Secrets } from '../config/secrets.ts'
import { unlessUnavailable } from '../journal/contracts/errors.ts'
import { connectionShare } from '../http/client.ts'
import { everySo, iso, second } from '../platform/clock.ts'
import { createLog, type Logger, standardError } from '../ops/log.ts'
import { type HttpLimits, listen } from '../platform/node/http-server.ts'
import { journalHomeOf } from './journal-home.ts'
import { createSiteDelivery, type DeliveryOverrides } from './site-delivery.ts'
import { accountsOf } from './spreadsheets.ts'
import { createMetrics } from './metering.ts'
import { startCounting } from '../operations/counting.ts'
import { startRetention } from '../operations/retention.ts'
import { type RunningSite, type RunningSites, runningSites } from './site.ts'
import type { MessageOptions } from './site-messages.ts'
import { createWeb } from './web.ts'
import { realWorld, type World } from './world.ts'

/** A running service. Disposing of it stops new requests, lets one batch in flight settle, then closes. */
export interface Service extends AsyncDisposable {
  /** The address where the service listens. */
  readonly url: string
  /** Where the rows of each site go: a URL or a folder. */
  readonly locations: readonly string[]
  /** Resolves when the service cannot go on; the reason is in the log. Dispose of the service then. */
  readonly failed: Promise<void>
}

/** The parts that tests and benches replace. */
export interface Overrides extends DeliveryOverrides {
  readonly log?: Logger | undefined
  /** Logs nothing. */
  readonly isQuiet?: boolean
  /** Of the HTTP server. */
  readonly limits?: Partial<HttpLimits>
  /** Aborts to give the start up. */
  readonly stop?: AbortSignal
}

/** How long a stop waits for requests that are being answered, and for the batch in flight. */
const stopGraceMs = 10_000

/** How often it is looked how many seats are taken. */
const seatsEveryMs = 10 * second

/** Builds and starts every stage. Rejects when one cannot start, and then leaves nothing running. */
export async function startService(
  config: Config,
  secrets: Secrets,
  overrides: Overrides = {},
): Promise<Service> {
  const { limits = {}, stop, isQuiet, ...parts } = overrides
  const { log = createLog(isQuiet ? 'silent' : config.logLevel, standardError(config)) } = overrides
  const world = { ...realWorld, ...parts }
  const { clock } = world
  await using started = new AsyncDisposableStack()
  const home = await journalHomeOf(config, secrets, world)
  const hold = started.use(await home.hold({ log, stop }))
  await hold.keepPrivate(log)

  const journal = started.use(await home.open({ log, stop }))
  const left = await journal.backlogs()
  const metrics = await createMetrics(secrets)
  const sites = runningSites(config, secrets, journal, log, clock, metrics)

  let graceMs = stopGraceMs
  const failing = Promise.withResolvers<undefined>()
  const fail = () => {
    graceMs = 0
    void stopDelivering()
    failing.resolve(undefined)
  }
  const accounts = accountsOf(sites, clock)
  const mails = await mailsOf(config, secrets, world)
  const deliveries = sites.map((site) => {
    const messages = { site, receiver: secrets.alertWebhook, ...mails(site) }
    return createSiteDelivery({ ...site, account: accounts.get(site.name), messages }, parts)
  })
  const stopDelivering = async () => {
    await Promise.all(deliveries.map((it) => it.stop(graceMs)))
  }
  for (const site of sites) {
    started.use(startRetention(site.journal, config.retentionDays, clock, site.log))
  }
  await followSeats(sites, clock, started)
  // The admin page and the owner's report read it.
  const isCounted = secrets.adminToken !== undefined || config.mail?.owner !== undefined
  if (isCounted) started.use(startCounting(journal, clock, log))
  started.defer(stopDelivering)

  await followWebhooks(sites, clock)
  const about = { config, sites, secrets, journal, home, started, log, metrics, world }
  const web = await createWeb(about)
  const { host, port, bodyBytesMax, trustedProxies } = config
  const shareOf = (remoteAddress: string) => connectionShare(remoteAddress, trustedProxies)
  const server = await listen({ ...web.application, host, port, bodyBytesMax, shareOf, limits })
  started.defer(() => {
    web.stopWaiting()
    return server.close(graceMs)
  })

  // Nothing can fail any more, so that a failed start logs only its reason.
  logNotes(config, left, log)
  for (const site of sites) warnIfClosed(site, clock.now())
  hold.watch(log, fail)
  for (const it of deliveries) it.start()
  const running = started.move()
  return {
    url: server.url,
    locations: sites.map(({ location }) => location),
    failed: failing.promise,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

/** Before the first signup, so that it is among the messages of a new webhook. */
async function followWebhooks(sites: RunningSites, clock: World['clock']): Promise<void> {
  for (const { endpoints, journal } of sites) {
    const keys = endpoints.map(({ key }) => key)
    if (keys.length === 0) continue
    await unlessUnavailable(journal.webhooks.follow(keys, (journal.time ?? clock).now()))
  }
}

/** So that pages tell in time that another process has given the last seat away. */
async function followSeats(
  sites: RunningSites,
  clock: World['clock'],
  started: AsyncDisposableStack,
): Promise<void> {
  for (const { closing, journal, log } of sites) {
    if (closing.after === undefined) continue
    const look = () => unlessUnavailable(journal.intake.lookAtSeats())
    await look()
    const failed = (err: unknown) => log.warn({ err }, 'seats were not counted: tried again later')
    started.use(everySo(clock, seatsEveryMs, look, failed))
  }
}

/** Tells what sends the mails of a site, and when its owner gets one. */
async function mailsOf(
  config: Config,
  secrets: Secrets,
  world: World,
): Promise<(site: RunningSite) => Partial<MessageOptions>> {
  const { mail } = config
  if (!mail || secrets.mailUrl === undefined) return () => ({})
  const { mailing } = await import('./mailing.ts')
  const mailOf = mailing(config, mail, secrets.mailUrl, world)
  return (site) => {
    site.health.mail = { state: 'ok' }
    return { mail: mailOf(site), reports: mail.owner === undefined ? undefined : mail.ownerWhen }
  }
}

/** Also names the sites that are not in the settings any more, and have signups that nobody delivers. */
function logNotes(config: Config, backlogs: ReadonlyMap<string, number>, log: Logger): void {
  for (const warning of config.warnings) log.warn(warning)
  for (const note of startNotes(config)) log.info(note)
  for (const [site, waiting] of backlogs) {
    if (waiting === 0 || config.sites.some(({ name }) => name === site)) continue
    const hint = 'Put the site back into the file of ROLLCALL_CONFIG until they are written.'
    log.warn({ site, waiting, hint }, 'signups wait for a site that is not in the settings')
  }
}

function warnIfClosed({ closing: { at = Infinity }, log }: RunningSite, now: number): void {
  if (at > now) return
  const hint = 'Set CLOSES_AT to a later time, or remove it, to take signups.'
  log.warn({ hint }, `signups are closed since ${iso(at)}`)
}
