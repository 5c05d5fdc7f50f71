import { answer, type Answer } from '../http/answer.ts'
import type { ApiKeys } from '../http/api-keys.ts'
import type { Exchange } from '../http/exchange.ts'
import { refuse } from '../http/refuse.ts'
import { unlessUnavailable } from '../journal/contracts/errors.ts'
import type { Reader } from '../journal/contracts/reader.ts'
import type { Health } from '../ops/health.ts'
import type { Metrics, Readings, SiteReading } from '../ops/metrics.ts'
import { type Clock, second } from '../platform/clock.ts'
import { deliveryState, deliveryStates } from '../signup/trouble.ts'

type OutboxReading = Pick<
  SiteReading,
  'messages_waiting' | 'webhook_backlog' | 'webhook_oldest_seconds'
>

export interface MetricsOptions {
  /** The one token that `GET /metrics` needs. */
  readonly tokens: ApiKeys
  readonly metrics: Pick<Metrics, 'text'>
  readonly sites: readonly {
    readonly name: string
    readonly reader: Pick<Reader, 'figures'>
    readonly health: Pick<Health, 'delivery' | 'tabs'>
    /** As in `SiteReading`. */
    readonly outbox: () => Promise<OutboxReading>
  }[]
  /** As in `Readings`. */
  readonly quota: () => Promise<Readings['quota']>
  readonly clock: Pick<Clock, 'now' | 'sleep'>
}

/** How long the journal may take. Prometheus gives a scrape ten seconds. */
const readingMaxMs = 3_000

const contentType = ['content-type', 'text/plain; version=0.0.4; charset=utf-8']

/**
 * `GET /metrics`. What the journal tells is left out while the journal cannot be read, or is too slow.
 * Requests that come at the same time share one reading.
 */
export function metricsHandler(options: MetricsOptions): (exchange: Exchange) => Promise<Answer> {
  const { tokens, metrics, clock } = options
  let reading: Promise<Readings | undefined> | undefined
  const readings = async () => {
    reading ??= unlessUnavailable(read(options)).finally(() => (reading = undefined))
    const ended = new AbortController()
    const late = clock.sleep(readingMaxMs, ended.signal).then(() => undefined)
    try {
      return await Promise.race([reading, late])
    } finally {
      ended.abort()
    }
  }
  return async (exchange) => {
    if (tokens.digestIn(exchange) === undefined) throw refuse.metricsToken()
    return answer(200, await metrics.text(await readings()), { headers: contentType })
  }
}

/** Reads one site after the other, so that visitors share the journal with one reader at most. */
async function read({ sites, quota, clock }: MetricsOptions): Promise<Readings> {
  const read = new Map<string, SiteReading>()
  for (const { name, reader, health, outbox } of sites) {
    const now = clock.now()
    const state = deliveryState(health)
    const { all, waiting, oldestWaiting = now, lastWritten = 0 } = await reader.figures()
    read.set(name, {
      pending_signups: waiting,
      pending_confirmations: all.pending,
      oldest_pending_age_seconds: Math.max(0, now - oldestWaiting) / second,
      delivery_state: Object.fromEntries(deliveryStates.map((it) => [it, Number(it === state)])),
      delivery_last_success_timestamp_seconds: lastWritten / second,
      ...(await outbox()),
    })
  }
  return { sites: read, quota: await quota() }
}
