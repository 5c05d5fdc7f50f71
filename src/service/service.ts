import { type Config, startNotes } from '../config/config.ts'
import { type Secrets, secretsOf } from '../config/secrets.ts'
import type { Application } from '../http/edge.ts'
import { unlessUnavailable } from '../journal/contracts/errors.ts'
import { connectionShare } from '../http/client.ts'
import { createLog, type Logger, standardError } from '../ops/log.ts'
import { type HttpLimits, listen } from '../platform/node/http-server.ts'
import { journalHomeOf } from './journal-home.ts'
import { createSiteDelivery, type DeliveryOverrides } from './site-delivery.ts'
import { accountsOf, connectSpreadsheet, destinationOf } from './spreadsheets.ts'
import { createMetrics } from './metering.ts'
import { startRetention } from '../operations/retention.ts'
import { type RunningSite, runningSites } from './running-site.ts'
import type { MessageOptions } from './site-messages.ts'
import { createWeb } from './web.ts'
import { endpointsOf } from './webhooks.ts'
import { realWorld, type World } from './world.ts'

/** A running service. Disposing of it stops new requests, lets one batch in flight settle, then closes. */
export interface Service extends AsyncDisposable {
  /** The address where the service listens. */
  readonly url: string
  /** The HTTP application, for use with another server. */
  readonly application: Application
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
  const hold = started.use(await home.hold())
  await hold.keepPrivate(log)

  const journal = started.use(await home.open({ log, stop }))
  const left = await journal.backlogs()
  const metrics = await createMetrics(config, secrets)
  const sites = runningSites(config, journal, log, clock, metrics)

  let graceMs = stopGraceMs
  const failing = Promise.withResolvers<undefined>()
  const fail = () => {
    graceMs = 0
    void stopDelivering()
    failing.resolve(undefined)
  }
  const replaced = ({ message }: Error) => {
    // All sites hear of it.
    if (graceMs === 0) return
    log.error(message)
    fail()
  }
  const accounts = accountsOf(sites, clock)
  const mails = await mailsOf(config, secrets, world)
  const deliveries = sites.map((site) => {
    const own = { replaced, account: accounts.get(site.config.name) }
    return createSiteDelivery({ ...deliveryOf(site, config, secrets, mails(site)), ...own }, parts)
  })
  const stopDelivering = async () => {
    await Promise.all(deliveries.map((it) => it.stop(graceMs)))
  }
  for (const site of sites) {
    started.use(startRetention(site.journal, config.retentionDays, clock, site.log))
  }
  started.defer(stopDelivering)

  await followWebhooks(sites, secrets, clock)
  const about = { config, sites, secrets, journal, home, started, log, metrics }
  const web = await createWeb(about, world)
  const { host, port, bodyBytesMax, trustedProxies } = config
  const shareOf = (remoteAddress: string) => connectionShare(remoteAddress, trustedProxies)
  const server = await listen({ ...web.application, host, port, bodyBytesMax, shareOf, limits })
  started.defer(() => {
    web.stopWaiting()
    return server.close(graceMs)
  })

  // Nothing can fail any more, so that a failed start logs only its reason.
  logNotes(config, left, log)
  hold.watch(log, fail)
  for (const it of deliveries) it.start()
  const running = started.move()
  return {
    url: server.url,
    application: web.application,
    locations: sites.map((site) => locationOf(site, config, secrets, world)),
    failed: failing.promise,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

/** Before the first signup, so that it is among the messages of a new webhook. */
async function followWebhooks(
  sites: readonly RunningSite[],
  secrets: Secrets,
  clock: World['clock'],
): Promise<void> {
  for (const { config: site, journal } of sites) {
    const keys = endpointsOf(secrets, site).map(({ key }) => key)
    if (keys.length === 0) continue
    await unlessUnavailable(journal.webhooks.follow(keys, (journal.time ?? clock).now()))
  }
}

/** Where the rows of a site go: a URL or a folder. */
function locationOf(
  { config: site, journal }: RunningSite,
  config: Config,
  secrets: Secrets,
  world: World,
) {
  return connectSpreadsheet({ ...destinationOf(site, config, secrets), journal }, world).location
}

type Mails = Partial<Pick<MessageOptions, 'mail' | 'report'>>

/** What the delivery of a site works with. */
function deliveryOf(site: RunningSite, config: Config, secrets: Secrets, mails: Mails) {
  const { name } = site.config
  const { webhooks: endpoints } = secretsOf(secrets, site.config)
  const messages = {
    site: name,
    receiver: secrets.alertWebhook,
    endpoints,
    log: site.log,
    ...mails,
  }
  return { ...destinationOf(site.config, config, secrets), ...site, messages }
}

/** Tells what sends the mails of a site, and when its owner gets one. */
async function mailsOf(
  config: Config,
  secrets: Secrets,
  world: World,
): Promise<(site: RunningSite) => Mails> {
  const { mail } = config
  if (!mail || secrets.mailUrl === undefined) return () => ({})
  const { mailing } = await import('./mailing.ts')
  const mailOf = mailing(config, mail, secrets.mailUrl, world)
  return (site) => {
    site.health.mail = { state: 'ok' }
    const location = locationOf(site, config, secrets, world)
    const report = mail.owner === undefined ? undefined : { when: mail.ownerWhen, location }
    return { mail: mailOf(site), report }
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
