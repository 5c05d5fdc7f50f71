import { metricsHandler } from '../api/metrics.ts'
import type { Secrets } from '../config/secrets.ts'
import { ApiKeys } from '../http/api-keys.ts'
import { signupRefusals } from '../http/problem.ts'
import type { Handler } from '../http/router.ts'
import type { Reader } from '../journal/contracts/reader.ts'
import type { Metrics, Readings } from '../ops/metrics.ts'
import { quotaLeft } from '../operations/status.ts'
import { second } from '../platform/clock.ts'
import type { RunningSite, ServiceParts } from './site.ts'

/** What counts for `/metrics`; undefined without `METRICS_TOKEN`: then nothing of it is even loaded. */
export async function createMetrics({
  metricsToken,
}: Pick<Secrets, 'metricsToken'>): Promise<Metrics | undefined> {
  if (metricsToken === undefined) return undefined
  const { Metrics } = await import('../ops/metrics.ts')
  return new Metrics(signupRefusals)
}

/** `GET /metrics`. */
export function metricsRoute(
  { sites, secrets, world: { clock } }: Pick<ServiceParts, 'sites' | 'secrets' | 'world'>,
  metrics: Metrics,
): Handler {
  const now = () => (sites[0].journal.time ?? clock).now()
  const outboxOf = async ({ endpoints, journal: { reader, outbox } }: RunningSite) => {
    const { waiting } = await outbox.figures(['confirm', 'welcome', 'report'])
    const found = await Promise.all(endpoints.map(({ key }) => reader.webhooks(key)))
    const ages = found.map((it) => Math.max(0, now() - (it?.oldest ?? now())) / second)
    const most = (values: readonly number[]) =>
      values.length === 0 ? undefined : Math.max(...values)
    return {
      messages_waiting: { mail: waiting },
      webhook_backlog: most(found.map((it) => it?.backlog ?? 0)),
      webhook_oldest_seconds: most(ages),
    }
  }
  return metricsHandler({
    tokens: new ApiKeys([secrets.metricsToken ?? '']),
    metrics,
    sites: sites.map((site) => ({
      ...{ name: site.name, reader: site.journal.reader, health: site.health },
      outbox: () => outboxOf(site),
    })),
    quota: () => fewestLeft(sites, now),
    clock: { now, sleep: (ms, signal) => clock.sleep(ms, signal) },
  })
}

/** What quota figures need of a site. One journal has the calls of all accounts. */
interface AccountSite extends Pick<RunningSite, 'spreadsheet'> {
  readonly journal: { readonly reader: Pick<Reader, 'callsSince'> }
}

/** The calls that are left of the account that has the fewest, in each window. */
export async function fewestLeft(
  sites: readonly [AccountSite, ...AccountSite[]],
  now: () => number,
): Promise<Readings['quota']> {
  const [{ journal }] = sites
  const accounts = new Map(
    sites.flatMap(({ spreadsheet }) =>
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
