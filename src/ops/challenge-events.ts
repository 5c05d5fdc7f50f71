import type { Verdict } from '../challenge/challenge.ts'
import { second } from '../platform/clock.ts'
import type { SettingNames } from '../platform/setting-names.ts'
import type { Health } from './health.ts'
import type { Logger } from './log.ts'
import type { SiteMetrics } from './metrics.ts'

/** How many different reasons are logged as warnings, so that bots cannot fill the log. */
const reasonsMax = 20

/** Logs changes of the challenge's state only: one line is enough when every signup is refused. */
export function challengeEvents(
  log: Logger,
  health: Health,
  names: SettingNames,
  metrics: SiteMetrics,
) {
  /** Why nobody can pass, as it was last told; empty while tokens can be verified. */
  let trouble = ''
  const reasonsTold = new Set<string>()

  const rejected = (reason: string, hint: string | undefined, requestId: string) => {
    const isTold = hint === undefined || reasonsTold.has(reason) || reasonsTold.size >= reasonsMax
    reasonsTold.add(reason)
    log[isTold ? 'debug' : 'warn']({ requestId, reason, hint }, 'a challenge token was refused')
  }

  return {
    challengeStarted(provider: string, isForTests: boolean): void {
      health.challenge = { state: 'ok' }
      if (!isForTests) log.info({ provider }, 'the challenge is on')
      else {
        const hint = 'Set both keys of a site of your own.'
        log.warn(
          { provider, hint },
          `${names.CHALLENGE_SECRET_KEY} is a test key: it keeps no bot away`,
        )
      }
    },
    /** The challenge judged a token. Logged when the challenge's state changes. */
    challengeAnswered(verdict: Verdict, requestId: string): void {
      const { askedMs } = verdict
      metrics.add('challenge_verdicts_total', 1, verdict.kind)
      if (askedMs !== undefined) metrics.measure('challenge_duration_seconds', askedMs / second)
      const before = health.challenge.state
      switch (verdict.kind) {
        case 'passed':
          health.challenge = { state: 'ok' }
          if (trouble !== '') log.info('challenge tokens can be verified again')
          trouble = ''
          break
        case 'rejected':
          rejected(verdict.reason, verdict.hint, requestId)
          break
        case 'misconfigured': {
          const { kind: state, reason, message, hint } = verdict
          health.challenge = { state, reason }
          const line = { requestId, reason: message, hint }
          if (message !== trouble) log.error(line, 'nobody can pass the challenge')
          trouble = message
          break
        }
        case 'unavailable': {
          const { kind: state, message, cause } = verdict
          health.challenge = { state }
          const line = { requestId, reason: message, err: cause }
          // An outage causes different errors. Log only the first.
          if (before !== state) log.warn(line, 'challenge tokens cannot be verified')
          trouble = message
        }
      }
    },
  }
}
