import type { Clock } from '../platform/clock.ts'
import { environmentNames, type SettingNames } from '../signup/setting-names.ts'
import { type Millis, tabKey } from '../signup/signup.ts'
import { challengeEvents, type ChallengeVerdict } from './challenge-events.ts'
import type { AsideTab, RefusalReason, Warning } from '../signup/trouble.ts'
import type { Health } from './health.ts'
import type { Logger } from './log.ts'
import type { CallOutcome, SiteMetrics } from './metrics.ts'
import { ToldLines } from './told-lines.ts'
import { refusalEvents, type RefusedRequest } from './refusal-events.ts'

/** A problem that only a person can fix. The message comes from the provider. */
interface DeliveryProblem {
  readonly reason: RefusalReason
  readonly message: string
  readonly hint: string
}

/**
 * The business events, one function each. A function writes the log line and updates the health that
 * `/api/ready` shows, and counts for `/metrics`. No function ever gets an address, a name, a token or a
 * key.
 */
export interface Events {
  /** Signups are on disk. @param duplicates how many of them get no row */
  signupsAccepted(count: number, duplicates?: number): void
  /** Signups were refused, for a reason of a closed list. */
  signupsRefused(reason: string, count: number): void
  /** A request got the answer of an earlier one with the same idempotency key. */
  requestReplayed(): void
  /** A commit of the journal put signups on disk. */
  signupsCommitted(commit: { readonly signups: number; readonly ms: Millis }): void
  /** A request was refused. */
  requestRefused(refused: RefusedRequest, requestId: string): void
  /** A handler threw an error that is not a refusal. */
  requestFailed(error: unknown, requestId: string): void
  /** A page of an origin that is not allowed asked for a signup. Logged once for each origin. */
  originRefused(origin: string | undefined, requestId: string): void
  /** A request came with an unknown API key. Logged once, counted each time. */
  apiKeyRefused(): void
  /** A form's `redirect` is not allowed, so the visitor got the thank-you page. Logged once for each origin. */
  redirectNotFollowed(origin: string, requestId: string): void
  /** The journal failed and the visitor got a 503. Logged when an outage begins. */
  journalUnavailable(error: unknown, requestId: string): void
  /** The journal can be written again. */
  journalRecovered(): void
  challengeStarted(provider: string, isForTests: boolean): void
  /** The challenge judged a token. Logged when the challenge's state changes. */
  challengeAnswered(verdict: ChallengeVerdict, requestId: string): void
  deliveryStarted(location: string, defaultTab: string): void
  /** Another instance of this site delivers. This one takes over when that one ends. */
  deliveryElsewhere(): void
  /** This instance could not renew its lease in time, and has stopped to deliver. */
  leaseLost(): void
  /** A call to the provider was answered, or was not. */
  providerCalled(outcome: CallOutcome): void
  batchWritten(batch: number, rows: number, tries: number): void
  /** A try failed; the next one follows in `waitMs`. */
  deliveryDelayed(message: string, waitMs: number): void
  /** Our own code failed. Delivery tries again after a while. */
  deliveryFailed(error: unknown): void
  /** Delivery is blocked until the operator acts. Logged again when the reason changes. */
  deliveryBlocked(problem: DeliveryProblem): void
  /** Delivery works again after it was delayed or blocked. */
  deliveryResumed(): void
  tabSetAside(tab: Pick<AsideTab, 'name' | 'place'>, problem: DeliveryProblem): void
  tabResumed(tab: string): void
  /** Receives the spreadsheet's warnings after each call. Logs only new ones. */
  spreadsheetWarnings(warnings: readonly Warning[]): void
  /** Rows may be in the wrong columns, because somebody changed a tab's columns during a write. */
  rowsMisplaced(notice: string): void
  /** Rows of forgotten people are gone, or were not there. */
  rowsRemoved(counts: { readonly removed: number; readonly missing: number }): void
  /** Rows of forgotten people cannot be removed now. They are tried again. */
  removalDelayed(reason: string): void
  /** Delivery worked around a defect of the spreadsheet or of our own. */
  deliveryOddity(message: string): void
}

interface EventOptions {
  /** What all sites together may tell about refused requests. */
  readonly lines?: ToldLines
  readonly names?: SettingNames
  /** Counts what happens; left out when nobody wants to know. */
  readonly metrics?: SiteMetrics | undefined
}

export function createEvents(
  log: Logger,
  health: Health,
  clock: Clock,
  { lines = new ToldLines(clock), names = environmentNames, metrics }: EventOptions = {},
): Events {
  return {
    ...refusalEvents(log, health, lines, names),
    ...challengeEvents(log, health, names, metrics),
    ...leaseEvents(log),
    ...intakeEvents(log, health, metrics),
    ...spreadsheetEvents(log, health),
    deliveryStarted(location, defaultTab) {
      // What an instance before has noted is over.
      health.delivery = { state: 'ok' }
      health.tabs.clear()
      log.info({ location, defaultTab }, 'delivery started')
    },
    providerCalled(outcome) {
      metrics?.providerCalled(outcome)
    },
    batchWritten(batch, rows, tries) {
      metrics?.batchWritten(rows)
      log.info({ batch, rows, tries }, 'batch written')
    },
    deliveryDelayed(message, waitMs) {
      if (health.delivery.state !== 'blocked') {
        health.delivery = { state: 'delayed', error: message }
      }
      log.warn({ reason: message, waitMs: Math.round(waitMs) }, 'delivery delayed')
    },
    deliveryFailed(error) {
      log.error({ err: error }, 'delivery failed unexpectedly')
    },
    deliveryBlocked({ reason, message, hint }) {
      const isNew =
        health.delivery.state !== 'blocked' ||
        health.delivery.error !== message ||
        health.delivery.hint !== hint
      health.delivery = { state: 'blocked', reason, error: message, hint }
      if (isNew) log.error({ reason: message, hint }, 'delivery blocked: signups are kept')
    },
    deliveryResumed() {
      health.delivery = { state: 'ok' }
      log.info('delivery works again')
    },
    // Never log a tab's name, because visitors can choose it.
    tabSetAside({ name, place }, { reason, message, hint }) {
      const known = health.tabs.get(tabKey(name))
      health.tabs.set(tabKey(name), { name, place, reason, error: message, hint })
      if (known?.error === message) return
      log.error({ tab: place, reason: message, hint }, 'a tab was set aside: its signups are kept')
    },
    tabResumed(tab) {
      health.tabs.delete(tabKey(tab))
      log.info('a tab that was set aside is written again')
    },
  }
}

/** Events about which of several instances delivers. */
function leaseEvents(log: Logger): Pick<Events, 'deliveryElsewhere' | 'leaseLost'> {
  return {
    deliveryElsewhere() {
      log.info('another instance delivers: this one takes over when that one ends')
    },
    leaseLost() {
      const hint =
        'Look whether the database answers, and whether this machine has enough CPU time.'
      log.warn({ hint }, 'the lease of delivery was not renewed in time: delivery has stopped here')
    },
  }
}

/** Events about signups that come in, and about the journal. */
function intakeEvents(
  log: Logger,
  health: Health,
  metrics: SiteMetrics | undefined,
): Pick<
  Events,
  | 'signupsAccepted'
  | 'signupsRefused'
  | 'requestReplayed'
  | 'signupsCommitted'
  | 'journalUnavailable'
  | 'journalRecovered'
> {
  const recovered = () => {
    health.journal = { state: 'ok' }
    log.info('signups can be stored again')
  }
  return {
    signupsAccepted(count, duplicates = 0) {
      metrics?.signupsAccepted(count, duplicates)
      if (health.journal.state !== 'ok') recovered()
    },
    signupsRefused(reason, count) {
      metrics?.signupsRefused(reason, count)
    },
    requestReplayed() {
      metrics?.requestReplayed()
    },
    signupsCommitted(commit) {
      metrics?.signupsCommitted(commit)
    },
    journalUnavailable(error, requestId) {
      // Log once and not for every visitor: the disk may be full.
      if (health.journal.state === 'ok') {
        log.error({ requestId, err: error }, 'signups cannot be stored: visitors get a 503')
      }
      health.journal = { state: 'unavailable' }
    },
    journalRecovered: recovered,
  }
}

/** Events about problems of the spreadsheet that do not stop delivery. */
function spreadsheetEvents(
  log: Logger,
  health: Health,
): Pick<
  Events,
  'spreadsheetWarnings' | 'rowsMisplaced' | 'rowsRemoved' | 'removalDelayed' | 'deliveryOddity'
> {
  return {
    rowsRemoved(counts) {
      log.info(counts, 'rows of forgotten people were removed')
    },
    removalDelayed(reason) {
      log.warn({ reason }, 'rows of forgotten people cannot be removed now')
    },
    spreadsheetWarnings(warnings) {
      const known = new Set(health.warnings.map(({ message }) => message))
      health.warnings = warnings
      for (const { message } of warnings) {
        if (!known.has(message)) log.warn({ reason: message }, 'the spreadsheet needs attention')
      }
    },
    rowsMisplaced(notice) {
      log.warn({ reason: notice }, 'rows may be in the wrong columns')
    },
    deliveryOddity(message) {
      log.warn({ reason: message }, 'delivery worked around a problem')
    },
  }
}
