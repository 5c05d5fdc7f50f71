import type { Clock } from '../platform/clock.ts'
import { environmentNames, type SettingNames } from '../signup/setting-names.ts'
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
    metrics,
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

/** What stands for an event that is only counted, when nobody counts. */
const uncounted = () => {}

/** Events about signups that come in, and about the journal. */
function intakeEvents(
  log: Logger,
  health: Health,
  suspectLines: ToldLines,
  metrics: SiteMetrics | undefined,
) {
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
      metrics?.signupsAccepted(count, duplicates)
      if (health.journal.state !== 'ok') journalRecovered()
    },
    /** Signups are on disk, and wait for their confirmation. */
    signupsPending(count: number): void {
      metrics?.signupsPending(count)
      if (health.journal.state !== 'ok') journalRecovered()
    },
    /** A suspect signup is on disk. */
    signupSuspected(id: SignupId, signals: readonly Signal[]): void {
      metrics?.signupSuspected(signals)
      const isTold = suspectLines.takes(log)
      log[isTold ? 'info' : 'debug']({ signup: id, signals }, 'a signup looks like spam')
    },
    /** @param reason of a closed list */
    signupsRefused: metrics?.signupsRefused ?? uncounted,
    /** A request got the answer of an earlier one with the same idempotency key. */
    requestReplayed: metrics?.requestReplayed ?? uncounted,
    signupsCommitted: metrics?.signupsCommitted ?? uncounted,
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
function deliveryEvents(log: Logger, health: Health, metrics: SiteMetrics | undefined) {
  return {
    deliveryStarted(location: string, defaultTab: string): void {
      // What an instance before has noted is over.
      health.delivery = { state: 'ok' }
      health.tabs.clear()
      log.info({ location, defaultTab }, 'delivery started')
    },
    providerCalled: metrics?.providerCalled ?? uncounted,
    batchWritten(batch: number, rows: number, tries: number): void {
      metrics?.batchWritten(rows)
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
    /** Rows may be in the wrong columns, because somebody changed a tab's columns during a write. */
    rowsMisplaced(notice: string): void {
      log.warn({ reason: notice }, 'rows may be in the wrong columns')
    },
    rowsRemoved(counts: { readonly removed: number; readonly missing: number }): void {
      const what = counts.removed > 0 ? 'were removed' : 'were gone already'
      log.info(counts, `rows of forgotten people ${what}`)
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
