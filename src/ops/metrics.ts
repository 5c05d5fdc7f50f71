import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import { signalPoints } from '../signup/suspicion.ts'

type Labels = Readonly<Record<string, readonly string[]>>

/** Stands for the name of the site whose events count. */
const site = ['']

/**
 * What events count, and the values of each label: a closed list, so that no visitor can make a new series.
 *
 * @param reason why signups may be refused
 */
const countersOf = (reason: readonly string[]) =>
  ({
    signups_accepted_total: ['Signups that were accepted.', { site }],
    signups_unconfirmed_total: [
      'Signups that came and wait for their person to confirm them. They are not accepted until then.',
      { site },
    ],
    signups_refused_total: [
      'Signups that were refused. Those of a bulk request count each, once they are known.',
      { reason },
    ],
    signups_duplicate_total: [
      'Accepted signups that get no row, as their address is in the tab (DUPLICATES=ignore).',
      {},
    ],
    suspect_signups_total: [
      'Suspect signups, each once for every sign of spam that it has.',
      { site, signal: Object.keys(signalPoints) },
    ],
    replays_total: [
      'Requests that got the answer of an earlier one with the same Idempotency-Key.',
      {},
    ],
    provider_calls_total: [
      'Calls to the API of the spreadsheet. Calls for tokens do not count.',
      // Done, or as in `Outcome` of the spreadsheet.
      { outcome: ['ok', 'refused', 'retryable', 'unknown'] },
    ],
    challenge_verdicts_total: [
      'Verdicts on the tokens of the challenge.',
      { verdict: ['passed', 'rejected', 'misconfigured', 'unavailable'] },
    ],
    mails_total: [
      'Mails that were sent, and those that nobody tries again.',
      { site, kind: ['confirm', 'welcome', 'report'], outcome: ['sent', 'failed'] },
    ],
    webhook_messages_total: [
      'Tries to send a message to a webhook: sent, delayed until a next try, or failed for good. Tries of an endpoint that takes nothing are not counted.',
      { site, outcome: ['sent', 'delayed', 'failed'] },
    ],
  }) satisfies Readonly<Record<string, readonly [help: string, labels: Labels]>>

/** What events measure, and where the buckets end. */
const histograms = {
  commit_signups: [
    'Signups in one commit of the journal.',
    [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000],
  ],
  commit_duration_seconds: [
    'How long a commit of the journal took, until it was on disk.',
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
  ],
  batch_rows: ['Rows in one batch that was written.', [1, 10, 50, 100, 500, 1000, 2500, 5000]],
  challenge_duration_seconds: [
    'How long the provider of the challenge took for a verdict, two tries included.',
    [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  ],
} satisfies Readonly<Record<string, readonly [help: string, buckets: number[]]>>

/** What is read of each site when somebody asks for the metrics, and a label besides that of the site. */
const gauges = {
  pending_signups: ['Signups that wait for their row.'],
  pending_confirmations: ['Signups that wait for their person to confirm them.'],
  oldest_pending_age_seconds: [
    'How long the oldest signup has waited for its row; 0 when none waits.',
  ],
  delivery_state: [
    'How delivery fares: 1 for the state that it is in, and 0 for the others.',
    'state',
  ],
  delivery_last_success_timestamp_seconds: [
    'When a batch was written last, since the Unix epoch; 0 before the first one.',
  ],
  messages_waiting: ['Mails that wait to be sent; at most 10,000 are counted.', 'kind'],
  webhook_backlog: ['Messages that wait for the webhook for which most wait.'],
  webhook_oldest_seconds: [
    'How long the oldest message has waited for its webhook; 0 when none waits.',
  ],
} satisfies Readonly<Record<string, readonly [help: string, label?: string]>>

/** By the value of the other label, where there is one. Undefined for what the site does not have. */
export type SiteReading = Readonly<
  Record<keyof typeof gauges, number | Readonly<Record<string, number>> | undefined>
>

export interface Readings {
  /** By the name of the site. */
  readonly sites: ReadonlyMap<string, SiteReading>
  /** The calls that are left of the account that has the fewest; undefined when no site has an account. */
  readonly quota: { readonly minute: number; readonly day: number } | undefined
}

/** What the events of one site count and measure. */
export interface SiteMetrics {
  /** @param values of the labels besides that of the site. Values that are on no list count nowhere. */
  add(name: keyof ReturnType<typeof countersOf>, by: number, ...values: readonly string[]): void
  measure(name: keyof typeof histograms, value: number): void
}

/** The metrics in the text format of Prometheus. */
export class Metrics {
  readonly #registry = new Registry()
  readonly #counters: readonly { name: string; labels: Labels; counter: Counter }[]
  readonly #histograms = new Map<string, Histogram>(
    Object.entries(histograms).map(([name, [help, buckets]]) => {
      return [name, new Histogram({ ...this.#named(name, help), buckets })]
    }),
  )
  readonly #gauges = Object.entries(gauges).map(([name, [help, ...labels]]) => {
    const gauge = new Gauge({ ...this.#named(name, help), labelNames: ['site', ...labels] })
    return { name: name as keyof typeof gauges, gauge }
  })
  readonly #quota = new Gauge({
    ...this.#named(
      'quota_remaining',
      'Calls to the provider that are left in the window; of several accounts, of the one with the fewest.',
    ),
    labelNames: ['window'],
  })
  readonly #requestSeconds = new Histogram({
    ...this.#named(
      'http_request_duration_seconds',
      'From the headers of a request until its answer was ready to be sent.',
    ),
    labelNames: ['route', 'method', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  })
  /** By status, method and route. Finding labels by a text is much faster than by an object. */
  readonly #requests = new Map<string, Histogram.Internal<string>>()

  /** @param reasons why signups may be refused */
  constructor(reasons: readonly string[]) {
    const rows: Readonly<Record<string, readonly [string, Labels]>> = countersOf(reasons)
    this.#counters = Object.entries(rows).map(([name, [help, labels]]) => {
      const labelNames = Object.keys(labels)
      return { name, labels, counter: new Counter({ ...this.#named(name, help), labelNames }) }
    })
    collectDefaultMetrics({ register: this.#registry })
  }

  /** Series of a site begin at 0, so that their first event is an increase. */
  ofSite(name: string): SiteMetrics {
    const adders = new Map<string, Counter.Internal>()
    for (const { name: counted, labels, counter } of this.#counters) {
      for (const values of combinations(Object.values(labels))) {
        const adder = counter.labels(...values.map((it) => it || name))
        adder.inc(0)
        adders.set([counted, ...values.filter(Boolean)].join(' '), adder)
      }
    }
    return {
      add: (counted, by, ...values) =>
        adders.get(values.length === 0 ? counted : `${counted} ${values.join(' ')}`)?.inc(by),
      measure: (measured, value) => this.#histograms.get(measured)?.observe(value),
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
    for (const { name, gauge } of this.#gauges) {
      gauge.reset()
      for (const [site, { [name]: value = {} }] of readings?.sites ?? []) {
        if (typeof value === 'number') gauge.labels(site).set(value)
        else for (const [of, one] of Object.entries(value)) gauge.labels(site, of).set(one)
      }
    }
    this.#quota.reset()
    for (const [window, left] of Object.entries(readings?.quota ?? {})) {
      this.#quota.labels(window).set(left)
    }
    return this.#registry.metrics()
  }

  #named(name: string, help: string) {
    return { name: `rollcall_${name}`, help, registers: [this.#registry] }
  }
}

/** Each choice of one value from every list. */
function combinations(lists: readonly (readonly string[])[]): readonly (readonly string[])[] {
  return lists.reduce<readonly (readonly string[])[]>(
    (all, list) => all.flatMap((values) => list.map((value) => [...values, value])),
    [[]],
  )
}
