import type { Clock } from '../platform/clock.ts'
import { tabKey } from '../signup/signup.ts'
import { challengeEvents, type ChallengeVerdict } from './challenge-events.ts'
import type { RefusalReason, Warning } from '../signup/trouble.ts'
import type { AsideTab, Health } from './health.ts'
import type { Logger } from './log.ts'
import { refusalEvents, type Refused } from './refusal-events.ts'

/** What only a person can mend. The message is the provider's. */
interface Refusal {
  readonly reason: RefusalReason
  readonly message: string
  readonly hint: string
}

/**
 * What happens in the business, one function each: it writes the log line, keeps the health that
 * `/api/ready` shows, and is where metrics will be counted. Never given an address, a name, a token
 * or a key.
 */
export interface Events {
  signupsAccepted(count: number): void
  /** A request is not answered as asked. */
  requestRefused(refused: Refused, requestId: string): void
  /** A handler failed in a way that nobody foresaw. */
  requestFailed(error: unknown, requestId: string): void
  /** A page of this web origin, or of none, is not allowed; told once. */
  originRefused(origin: string | undefined, requestId: string): void
  /** A request came with an API key that is none of ours; told once, and counted. */
  apiKeyRefused(): void
  /** A form's `redirect` leads to an origin that nobody named: told once. Its visitor got the thank-you page. */
  redirectNotFollowed(origin: string, requestId: string): void
  /** A visitor was answered 503; told when it begins. */
  journalUnavailable(error: unknown, requestId: string): void
  /** The journal can be written again, as a probe has shown. */
  journalRecovered(): void
  challengeStarted(provider: string, isForTests: boolean): void
  /** What became of a visitor's token; told when it changes. */
  challengeAnswered(verdict: ChallengeVerdict, requestId: string): void
  deliveryStarted(location: string, defaultTab: string): void
  batchWritten(batch: number, rows: number, tries: number): void
  /** A try did not succeed; the next one comes in `waitMs`. */
  deliveryDelayed(message: string, waitMs: number): void
  /** A defect of ours; delivery goes on after a while. */
  deliveryFailed(error: unknown): void
  /** Only the operator can mend it; told once until the reason changes. */
  deliveryBlocked(refusal: Refusal): void
  /** After it was delayed or blocked. */
  deliveryResumed(): void
  tabSetAside(tab: Pick<AsideTab, 'name' | 'place'>, refusal: Refusal): void
  tabResumed(tab: string): void
  /** What the spreadsheet warns of, after each call; told when it changes. */
  spreadsheetWarnings(warnings: readonly Warning[]): void
  /** Rows went by the columns that a tab had before somebody changed them. */
  rowsMisplaced(notice: string): void
  /** A defect of ours or of the spreadsheet that was worked around. */
  deliveryOddity(message: string): void
}

export function createEvents(log: Logger, health: Health, clock: Clock): Events {
  return {
    ...refusalEvents(log, health, clock),
    ...challengeEvents(log, health),
    ...spreadsheetEvents(log, health),
    signupsAccepted() {
      if (health.journal.state !== 'ok') this.journalRecovered()
    },
    journalUnavailable(error, requestId) {
      // Once, not with every visitor: the disk may be full.
      if (health.journal.state === 'ok') {
        log.error({ requestId, err: error }, 'signups cannot be stored: visitors are answered 503')
      }
      health.journal = { state: 'unavailable' }
    },
    journalRecovered() {
      health.journal = { state: 'ok' }
      log.info('signups can be stored again')
    },
    deliveryStarted(location, defaultTab) {
      log.info({ location, defaultTab }, 'delivery started')
    },
    batchWritten(batch, rows, tries) {
      log.info({ batch, rows, tries }, 'batch written')
    },
    deliveryDelayed(message, waitMs) {
      if (health.delivery.state !== 'blocked') {
        health.delivery = { state: 'delayed', error: message }
      }
      log.warn({ reason: message, waitMs: Math.round(waitMs) }, 'delivery delayed')
    },
    deliveryFailed(error) {
      log.error({ err: error }, 'delivery failed in a way that nobody foresaw')
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
      log.info('delivery goes on')
    },
    // Visitors name tabs: the name stays out.
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

/** What is wrong in the spreadsheet while rows still go in. */
function spreadsheetEvents(
  log: Logger,
  health: Health,
): Pick<Events, 'spreadsheetWarnings' | 'rowsMisplaced' | 'deliveryOddity'> {
  return {
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
