import type { ChallengeHealth, Health, SetupProblem } from './health.ts'
import type { Logger } from './log.ts'

/** What became of a visitor's token. Holds neither the token nor anything else of the visitor. */
export type ChallengeVerdict =
  | { readonly kind: 'passed' }
  /** With a hint when the settings may be at fault. */
  | { readonly kind: 'rejected'; readonly reason: string; readonly hint?: string }
  | {
      readonly kind: 'misconfigured'
      readonly reason: SetupProblem
      readonly message: string
      readonly hint: string
    }
  | { readonly kind: 'unavailable'; readonly message: string; readonly cause?: unknown }

/** Kinds of refusals that are told; bots must not fill the log. */
const reasonsMax = 20

/** Told when it changes: with every signup refused, one line says it all. */
export function challengeEvents(log: Logger, health: Health) {
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
        log.warn({ provider, hint }, 'CHALLENGE_SECRET_KEY is for tests: it keeps no bot away')
      }
    },
    challengeAnswered(verdict: ChallengeVerdict, requestId: string): void {
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
          // An outage has many faces: one line for all of them.
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
