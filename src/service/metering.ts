import { metricsHandler } from '../api/metrics.ts'
import type { Config } from '../config/config.ts'
import type { Secrets } from '../config/secrets.ts'
import type { SiteConfig } from '../config/sites/site.ts'
import { ApiKeys } from '../http/api-keys.ts'
import { signupRefusals } from '../http/problem.ts'
import type { Handler } from '../http/router.ts'
import type { Reader } from '../journal/contracts/reader.ts'
import type { Metrics, Readings } from '../ops/metrics.ts'
import { quotaLeft } from '../operations/status.ts'
import { second } from '../platform/clock.ts'
import type { RunningSites } from './running-site.ts'
import { endpointsOf } from './webhooks.ts'
import type { World } from './world.ts'

/** What counts for `/metrics`; undefined without `METRICS_TOKEN`: then nothing of it is even loaded. */
export async function createMetrics(
  { sites }: Pick<Config, 'sites'>,
  { metricsToken }: Pick<Secrets, 'metricsToken'>,
): Promise<Metrics | undefined> {
  if (metricsToken === undefined) return undefined
  const { Metrics } = await import('../ops/metrics.ts')
  return new Metrics({ sites: sites.map(({ name }) => name), reasons: signupRefusals })
}

/** What quota figures need of a site. One journal has the calls of all accounts. */
interface AccountSite {
  readonly config: Pick<SiteConfig, 'spreadsheet'>
  readonly journal: { readonly reader: Pick<Reader, 'callsSince'> }
}

/** `GET /metrics`. */
export function metricsRoute(
  metrics: Metrics,
  sites: RunningSites,
  secrets: Pick<Secrets, 'metricsToken' | 'sites'>,
  { clock, digest }: Pick<World, 'clock' | 'digest'>,
): Handler {
  const now = () => (sites[0].journal.time ?? clock).now()
  return metricsHandler({
    tokens: new ApiKeys([secrets.metricsToken ?? ''], digest),
    metrics,
    sites: sites.map(({ config, journal: { reader, outbox }, health }) => ({
      ...{ name: config.name, reader, health },
      outbox: async () => {
        const mails = await outbox.figures(['confirm', 'welcome', 'report'])
        const notices = await outbox.figures(['notice'])
        const messages = { mail: mails.waiting, notice: notices.waiting }
        const endpoints = endpointsOf(secrets, config)
        const found = await Promise.all(endpoints.map(({ key }) => reader.webhooks(key)))
        const ages = found.map((it) => Math.max(0, now() - (it?.oldest ?? now())) / second)
        const backlog = Math.max(...found.map((it) => it?.backlog ?? 0))
        const webhooks = { backlog, oldestSeconds: Math.max(...ages) }
        return { messages, webhooks: endpoints.length === 0 ? undefined : webhooks }
      },
    })),
    quota: () => fewestLeft(sites, now),
    clock: { now, sleep: (ms, signal) => clock.sleep(ms, signal) },
  })
}

/** The calls that are left of the account that has the fewest, in each window. */
export async function fewestLeft(
  sites: readonly [AccountSite, ...AccountSite[]],
  now: () => number,
): Promise<Readings['quota']> {
  const [{ journal }] = sites
  const accounts = new Map(
    sites.flatMap(({ config: { spreadsheet } }) =>
      spreadsheet.kind === 'google' ? [[spreadsheet.credentials.email, spreadsheet] as const] : [],
    ),
  )
  let fewest: Readings['quota']
  for (const account of accounts.values()) {
    const { perMinute, perDay } = await quotaLeft(account, journal.reader, now())
    const { minute, day } = fewest ?? { minute: Infinity, day: Infinity }
    fewest = { minute: Math.min(minute, perMinute.left), day: Math.min(day, perDay.left) }
  }
  return fewest
}
