import { type Clock, second } from '../platform/clock.ts'
import { environmentNames, type SettingNames } from '../platform/setting-names.ts'
import { type Millis, type SignupId, tabKey } from '../signup/signup.ts'
import type { Signal } from '../signup/suspicion.ts'
import type { AsideTab, Trouble, Warning } from '../signup/trouble.ts'
import { challengeEvents } from './challenge-events.ts'
import type { Health } from './health.ts'
import type { Logger } from './log.ts'
import { mailEvents } from './mail-events.ts'
import type { SiteMetrics } from './metrics.ts'
import { refusalEvents, ToldLines } from './refusal-events.ts'
import { webhookEvents } from './webhook-events.ts'

/** What `ToldLines` of suspect signups are about. */
export const suspected = 'signups were suspected'

/** A problem that only a person can fix. The message comes from the provider. */
type DeliveryProblem = Omit<Trouble, 'error'> & { readonly message: string }

interface EventOptions {
  /** What all sites together may tell about refused requests. */
  readonly lines?: ToldLines
  /** What they may tell about suspect signups. */
  readonly suspectLines?: ToldLines
  readonly names?: SettingNames
  /** Counts what happens; left out when nobody wants to know. */
  readonly metrics?: SiteMetrics | undefined
}

/**
 * The business events, one function each. A function writes the log line and updates the health that
 * `/api/ready` shows, and counts for `/metrics`. No function ever gets an address, a name, a token or a
 * key.
 */
export type Events = ReturnType<typeof createEvents>

export function createEvents(
  log: Logger,
  health: Health,
  clock: Clock,
  {
    lines = new ToldLines(clock),
    suspectLines = new ToldLines(clock, suspected),
    names = environmentNames,
    metrics = uncounted,
  }: EventOptions = {},
) {
  return {
    ...refusalEvents(log, health, lines, names),
    ...challengeEvents(log, health, names, metrics),
    ...intakeEvents(log, health, suspectLines, metrics),
    ...leaseEvents(log),
    ...deliveryEvents(log, health, metrics),
    ...tabEvents(log, health),
    ...spreadsheetEvents(log, health),
    /** Of the sender of mails. */
    mail: mailEvents(log, health, clock, metrics),
    ...webhookEvents(log, health, metrics),
  }
}

/** For events that nobody counts. */
const uncounted: SiteMetrics = { add() {}, measure() {} }

/** Events about signups that come in, and about the journal. */
function intakeEvents(log: Logger, health: Health, suspectLines: ToldLines, metrics: SiteMetrics) {
  const journalRecovered = (): void => {
    health.journal.state = 'ok'
    log.info('signups can be stored again')
  }
  return {
    journalRecovered,
    /** The journal failed and the visitor got a 503. Logged when an outage begins: the disk may be full. */
    journalUnavailable(error: unknown, requestId: string): void {
      if (health.journal.state === 'ok') {
        log.error({ requestId, err: error }, 'signups cannot be stored: visitors get a 503')
      }
      health.journal.state = 'unavailable'
    },
    /** Signups are on disk. @param duplicates how many of them get no row */
    signupsAccepted(count: number, duplicates = 0): void {
      metrics.add('signups_accepted_total', count)
      if (duplicates > 0) metrics.add('signups_duplicate_total', duplicates)
      if (health.journal.state !== 'ok') journalRecovered()
    },
    /** Signups are on disk, and wait for their confirmation. */
    signupsPending(count: number): void {
      metrics.add('signups_unconfirmed_total', count)
      if (health.journal.state !== 'ok') journalRecovered()
    },
    /** A suspect signup is on disk. */
    signupSuspected(id: SignupId, signals: readonly Signal[]): void {
      for (const signal of signals) metrics.add('suspect_signups_total', 1, signal)
      const isTold = suspectLines.takes(log)
      log[isTold ? 'info' : 'debug']({ signup: id, signals }, 'a signup looks like spam')
    },
    /** @param reason of a closed list */
    signupsRefused: (reason: string, count: number): void =>
      metrics.add('signups_refused_total', count, reason),
    /** A request got the answer of an earlier one with the same idempotency key. */
    requestReplayed: (): void => metrics.add('replays_total', 1),
    signupsCommitted({ signups, ms }: { readonly signups: number; readonly ms: number }): void {
      metrics.measure('commit_signups', signups)
      metrics.measure('commit_duration_seconds', ms / second)
    },
  }
}

/** Events about which of several instances delivers. */
function leaseEvents(log: Logger) {
  return {
    deliveryElsewhere(): void {
      log.info('another instance delivers: this one takes over when that one ends')
    },
    leaseLost(): void {
      const hint =
        'Look whether the database answers, and whether this machine has enough CPU time.'
      log.warn({ hint }, 'the lease of delivery was not renewed in time: delivery has stopped here')
    },
  }
}

/** Events about batches on their way to the spreadsheet. */
function deliveryEvents(log: Logger, health: Health, metrics: SiteMetrics) {
  return {
    deliveryStarted(location: string): void {
      // What an instance before has noted is over.
      health.delivery = { state: 'ok' }
      health.tabs.clear()
      log.info({ location }, 'delivery started')
    },
    /** @param outcome how it ended: `ok`, or as in `Outcome` of the spreadsheet */
    providerCalled: (outcome: string): void => metrics.add('provider_calls_total', 1, outcome),
    batchWritten(batch: number, rows: number, tries: number): void {
      metrics.measure('batch_rows', rows)
      log.info({ batch, rows, tries }, 'batch written')
    },
    /** A try failed; the next one follows in `waitMs`. */
    deliveryDelayed(message: string, waitMs: Millis): void {
      if (health.delivery.state !== 'blocked') {
        health.delivery = { state: 'delayed', error: message }
      }
      log.warn({ reason: message, waitMs: Math.round(waitMs) }, 'delivery delayed')
    },
    /** Our own code failed. Delivery tries again after a while. */
    deliveryFailed(error: unknown): void {
      log.error({ err: error }, 'delivery failed unexpectedly')
    },
    /** Delivery is blocked until the operator acts. Logged again when the reason changes. */
    deliveryBlocked({ reason, message, hint }: DeliveryProblem): void {
      const before = health.delivery
      health.delivery = { state: 'blocked', reason, error: message, hint }
      if (before.state === 'blocked' && before.error === message && before.hint === hint) return
      log.error({ reason: message, hint }, 'delivery blocked: signups are kept')
    },
    deliveryResumed(): void {
      health.delivery = { state: 'ok' }
      log.info('delivery works again')
    },
  }
}

/** Events about single tabs. The log never has a tab's name, because visitors can choose it. */
function tabEvents(log: Logger, health: Health) {
  return {
    tabSetAside({ name, place }: Pick<AsideTab, 'name' | 'place'>, problem: DeliveryProblem): void {
      const { reason, message, hint } = problem
      const known = health.tabs.get(tabKey(name))
      health.tabs.set(tabKey(name), { name, place, reason, error: message, hint })
      if (known?.error === message) return
      log.error({ tab: place, reason: message, hint }, 'a tab was set aside: its signups are kept')
    },
    tabResumed(tab: string): void {
      health.tabs.delete(tabKey(tab))
      log.info('a tab that was set aside is written again')
    },
  }
}

/** Events about problems of the spreadsheet that do not stop delivery. */
function spreadsheetEvents(log: Logger, health: Health) {
  return {
    /** Receives the spreadsheet's warnings after each call. Logs only new ones. */
    spreadsheetWarnings(warnings: readonly Warning[]): void {
      const known = new Set(health.warnings.map(({ message }) => message))
      health.warnings = warnings
      for (const { message } of warnings) {
        if (!known.has(message)) log.warn({ reason: message }, 'the spreadsheet needs attention')
      }
    },
    rowsRemoved(rows: number): void {
      log.info({ rows }, 'rows of forgotten people are not in the spreadsheet any more')
    },
    /** Who has left signed up so long ago that their row could not be found. */
    leftRowStays(): void {
      const hint =
        'They are asked to tell you. Delete the row in the spreadsheet: RETENTION_DAYS has erased their address here.'
      log.warn({ hint }, 'somebody has left, and their row stays in the spreadsheet')
    },
    /** Rows of forgotten people cannot be removed now. They are tried again. */
    removalDelayed(reason: string): void {
      log.warn({ reason }, 'rows of forgotten people cannot be removed now')
    },
    /** Delivery worked around a defect of the spreadsheet or of our own. */
    deliveryOddity(message: string): void {
      log.warn({ reason: message }, 'delivery worked around a problem')
    },
  }
}
