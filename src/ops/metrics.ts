import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'

import { type Signal, signalPoints } from '../signup/suspicion.ts'
import { type DeliveryState, deliveryStates } from '../signup/trouble.ts'

/** How a call to the provider ended: done, or as in `Outcome` of the spreadsheet. */
export type CallOutcome = (typeof callOutcomes)[number]

const callOutcomes = ['ok', 'refused', 'retryable', 'unknown'] as const
const mailKinds = ['confirm', 'welcome', 'report'] as const
const webhookOutcomes = ['sent', 'set_aside', 'failed'] as const
const verdicts = ['passed', 'rejected', 'misconfigured', 'unavailable'] as const

/** What is read when somebody asks for the metrics. */
export interface Readings {
  /** By the name of the site. */
  readonly sites: ReadonlyMap<string, SiteReading>
  /** The calls that are left of the account that has the fewest; undefined when no site has an account. */
  readonly quota: { readonly minute: number; readonly day: number } | undefined
}

export interface SiteReading {
  readonly state: DeliveryState
  readonly pending: number
  /** 0 when none waits. */
  readonly oldestPendingAgeSeconds: number
  /** Since the Unix epoch; 0 before the first one. */
  readonly lastSuccessSeconds: number
  /** How many messages wait. */
  readonly messages: Readonly<Record<'mail' | 'notice', number>>
  /** The greatest figures of the site's webhooks; undefined when it has none. */
  readonly webhooks: { readonly backlog: number; readonly oldestSeconds: number } | undefined
}

/** What the events of one site count. */
export type SiteMetrics = ReturnType<Metrics['ofSite']>

type Adder = Counter.Internal

/**
 * The metrics in the text format of Prometheus. Only events feed counters and histograms. Each label has
 * a closed list of values, so that no visitor can make a new series.
 */
export class Metrics {
  readonly #registry = new Registry()
  readonly #accepted = this.#counter(
    'signups_accepted_total',
    'Signups that were accepted.',
    'site',
  )
  readonly #unconfirmed = this.#counter(
    'signups_unconfirmed_total',
    'Signups that came and wait for their person to confirm them. They are not accepted until then.',
    'site',
  )
  readonly #refused: ReadonlyMap<string, Adder>
  readonly #duplicates = this.#counter(
    'signups_duplicate_total',
    'Accepted signups that get no row, as their address is in the tab (DUPLICATES=ignore).',
  )
  readonly #suspects = this.#counter(
    'suspect_signups_total',
    'Suspect signups, each once for every sign of spam that it has.',
    'site',
    'signal',
  )
  readonly #replays = this.#counter(
    'replays_total',
    'Requests that got the answer of an earlier one with the same Idempotency-Key.',
  )
  readonly #commitSignups = this.#histogram(
    'commit_signups',
    'Signups in one commit of the journal.',
    [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000],
  )
  readonly #commitSeconds = this.#histogram(
    'commit_duration_seconds',
    'How long a commit of the journal took, until it was on disk.',
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
  )
  readonly #pending = this.#gauge('pending_signups', 'Signups that wait for their row.', 'site')
  readonly #oldest = this.#gauge(
    'oldest_pending_age_seconds',
    'How long the oldest signup has waited for its row; 0 when none waits.',
    'site',
  )
  readonly #state = this.#gauge(
    'delivery_state',
    'How delivery fares: 1 for the state that it is in, and 0 for the others.',
    'site',
    'state',
  )
  readonly #lastSuccess = this.#gauge(
    'delivery_last_success_timestamp_seconds',
    'When a batch was written last, since the Unix epoch; 0 before the first one.',
    'site',
  )
  readonly #calls: ReadonlyMap<string, Adder>
  readonly #batchRows = this.#histogram(
    'batch_rows',
    'Rows in one batch that was written.',
    [1, 10, 50, 100, 500, 1000, 2500, 5000],
  )
  readonly #quota = this.#gauge(
    'quota_remaining',
    'Calls to the provider that are left in the window; of several accounts, of the one with the fewest.',
    'window',
  )
  readonly #verdicts: ReadonlyMap<string, Adder>
  readonly #challengeSeconds = this.#histogram(
    'challenge_duration_seconds',
    'How long the provider of the challenge took for a verdict, two tries included.',
    [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  )
  readonly #mails = this.#counter(
    'mails_total',
    'Mails that were sent, and those that nobody tries again.',
    'site',
    'kind',
    'outcome',
  )
  readonly #webhooks = this.#counter(
    'webhook_messages_total',
    'Tries to send a message to a webhook: sent, set aside for a next try, or failed for the last time.',
    'site',
    'outcome',
  )
  readonly #webhookBacklog = this.#gauge(
    'webhook_backlog',
    'Messages that wait for the webhook for which most wait.',
    'site',
  )
  readonly #webhookOldest = this.#gauge(
    'webhook_oldest_seconds',
    'How long the oldest message has waited for its webhook; 0 when none waits.',
    'site',
  )
  readonly #waiting = this.#gauge(
    'messages_waiting',
    'Mails and notices that wait to be sent; at most 100,000 are counted.',
    'site',
    'kind',
  )
  readonly #requestSeconds = new Histogram({
    name: 'rollcall_http_request_duration_seconds',
    help: 'From the headers of a request until its answer was ready to be sent.',
    labelNames: ['route', 'method', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [this.#registry],
  })
  /** By status, method and route. Finding labels by a text is much faster than by an object. */
  readonly #requests = new Map<string, Histogram.Internal<string>>()

  /** @param options the names of all sites, and why signups may be refused */
  constructor({ sites, reasons }: { sites: readonly string[]; reasons: readonly string[] }) {
    // Series that begin at 0 show their first event as an increase.
    for (const site of sites) {
      this.#accepted.labels(site).inc(0)
      this.#unconfirmed.labels(site).inc(0)
    }
    const refused =
      'Signups that were refused. Those of a bulk request count each, once they are known.'
    this.#refused = this.#counters('signups_refused_total', refused, 'reason', reasons)
    const calls = 'Calls to the API of the spreadsheet. Calls for tokens do not count.'
    this.#calls = this.#counters('provider_calls_total', calls, 'outcome', callOutcomes)
    const judged = 'Verdicts on the tokens of the challenge.'
    this.#verdicts = this.#counters('challenge_verdicts_total', judged, 'verdict', verdicts)
    collectDefaultMetrics({ register: this.#registry })
  }

  /** What the events of this site count. */
  ofSite(site: string) {
    const accepted: Adder = this.#accepted.labels(site)
    for (const signal of Object.keys(signalPoints)) this.#suspects.labels(site, signal).inc(0)
    for (const kind of mailKinds) {
      for (const outcome of ['sent', 'failed']) this.#mails.labels(site, kind, outcome).inc(0)
    }
    for (const outcome of webhookOutcomes) this.#webhooks.labels(site, outcome).inc(0)
    return {
      webhookTried: (outcome: (typeof webhookOutcomes)[number]): void =>
        this.#webhooks.labels(site, outcome).inc(1),
      mailEnded: (kind: string, outcome: 'sent' | 'failed'): void =>
        this.#mails.labels(site, kind, outcome).inc(1),
      signupsAccepted: (count: number, duplicates: number): void => {
        accepted.inc(count)
        if (duplicates > 0) this.#duplicates.inc(duplicates)
      },
      signupsPending: (count: number): void => this.#unconfirmed.labels(site).inc(count),
      signupSuspected: (signals: readonly Signal[]): void => {
        for (const signal of signals) this.#suspects.labels(site, signal).inc(1)
      },
      signupsRefused: (reason: string, count: number): void =>
        this.#refused.get(reason)?.inc(count),
      requestReplayed: (): void => this.#replays.inc(),
      signupsCommitted: (commit: { readonly signups: number; readonly ms: number }): void => {
        this.#commitSignups.observe(commit.signups)
        this.#commitSeconds.observe(commit.ms / 1000)
      },
      providerCalled: (outcome: CallOutcome): void => this.#calls.get(outcome)?.inc(1),
      batchWritten: (rows: number): void => this.#batchRows.observe(rows),
      challengeAnswered: (verdict: string, askedMs: number | undefined): void => {
        this.#verdicts.get(verdict)?.inc(1)
        if (askedMs !== undefined) this.#challengeSeconds.observe(askedMs / 1000)
      },
    }
  }

  /** @param route of a closed list, as is `method` */
  requestAnswered(route: string, method: string, status: number, ms: number): void {
    const key = `${status} ${method} ${route}`
    let observer = this.#requests.get(key)
    if (!observer) {
      observer = this.#requestSeconds.labels(route, method, String(status))
      this.#requests.set(key, observer)
    }
    observer.observe(ms / 1000)
  }

  /** All metrics as text. Without readings, the gauges of the journal are left out. */
  async text(readings: Readings | undefined): Promise<string> {
    const gauges = [this.#pending, this.#oldest, this.#state, this.#lastSuccess, this.#quota]
    const more = [this.#waiting, this.#webhookBacklog, this.#webhookOldest]
    for (const gauge of [...gauges, ...more]) gauge.reset()
    for (const [site, reading] of readings?.sites ?? []) {
      this.#pending.set({ site }, reading.pending)
      this.#oldest.set({ site }, reading.oldestPendingAgeSeconds)
      for (const state of deliveryStates) {
        this.#state.set({ site, state }, state === reading.state ? 1 : 0)
      }
      this.#lastSuccess.set({ site }, reading.lastSuccessSeconds)
      for (const [kind, count] of Object.entries(reading.messages)) {
        this.#waiting.set({ site, kind }, count)
      }
      if (!reading.webhooks) continue
      this.#webhookBacklog.set({ site }, reading.webhooks.backlog)
      this.#webhookOldest.set({ site }, reading.webhooks.oldestSeconds)
    }
    for (const [window, left] of Object.entries(readings?.quota ?? {})) {
      this.#quota.set({ window }, left)
    }
    return this.#registry.metrics()
  }

  #counter(name: string, help: string, ...labelNames: string[]): Counter {
    return new Counter({ name: `rollcall_${name}`, help, labelNames, registers: [this.#registry] })
  }

  /** A counter with one label, and the adder of each of its values. */
  #counters(name: string, help: string, label: string, values: readonly string[]) {
    const counter = this.#counter(name, help, label)
    const adders = values.map((value): [string, Adder] => [value, counter.labels(value)])
    for (const [, adder] of adders) adder.inc(0)
    return new Map(adders)
  }

  #gauge(name: string, help: string, ...labelNames: string[]): Gauge {
    return new Gauge({ name: `rollcall_${name}`, help, labelNames, registers: [this.#registry] })
  }

  #histogram(name: string, help: string, buckets: number[]): Histogram {
    return new Histogram({ name: `rollcall_${name}`, help, buckets, registers: [this.#registry] })
  }
}
