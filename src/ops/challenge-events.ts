import type { Verdict } from '../challenge/challenge.ts'
import { environmentNames } from '../signup/setting-names.ts'
import type { ChallengeHealth, Health } from './health.ts'
import type { Logger } from './log.ts'
import type { SiteMetrics } from './metrics.ts'

/** How many different reasons are logged as warnings, so that bots cannot fill the log. */
const reasonsMax = 20

/** Logs changes of the challenge's state only: one line is enough when every signup is refused. */
export function challengeEvents(
  log: Logger,
  health: Health,
  { challenge: names } = environmentNames,
  metrics?: SiteMetrics,
) {
  const reasonsTold = new Set<string>()

  const set = (state: ChallengeHealth): boolean => {
    const isNew = JSON.stringify(state) !== JSON.stringify(health.challenge)
    const wasBad = health.challenge.state !== 'ok' && health.challenge.state !== 'off'
    health.challenge = state
    if (state.state === 'ok' && wasBad) log.info('challenge tokens can be verified again')
    return isNew
  }

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
        log.warn({ provider, hint }, `${names.secretKey} is a test key: it keeps no bot away`)
      }
    },
    /** The challenge judged a token. Logged when the challenge's state changes. */
    challengeAnswered(verdict: Verdict, requestId: string): void {
      metrics?.challengeAnswered(verdict.kind, verdict.askedMs)
      switch (verdict.kind) {
        case 'passed':
          set({ state: 'ok' })
          break
        case 'rejected':
          rejected(verdict.reason, verdict.hint, requestId)
          break
        case 'misconfigured': {
          const { reason, message: error, hint } = verdict
          const isNew = set({ state: 'misconfigured', reason, error, hint })
          if (isNew) log.error({ requestId, reason: error, hint }, 'nobody can pass the challenge')
          break
        }
        case 'unavailable': {
          const { message: error, cause } = verdict
          // An outage causes different errors. Log only the first.
          const isNew = health.challenge.state !== 'unavailable'
          set({ state: 'unavailable', error })
          if (isNew)
            log.warn(
              { requestId, reason: error, err: cause },
              'challenge tokens cannot be verified',
            )
          break
        }
      }
    },
  }
}
