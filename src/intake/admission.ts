import type { Attempt, Challenge } from '../challenge/challenge.ts'
import type { Idempotency } from '../journal/journal.ts'
import type { Events } from '../ops/events.ts'
import type { Clock } from '../platform/clock.ts'
import type { ParsedSignup } from '../signup/parse.ts'
import { contentOf, fingerprintOf, Turns } from './idempotency.ts'
import { refuse } from './respond.ts'
import type { Visit } from './visit.ts'

export interface AdmissionOptions {
  /** Undefined: everybody is let in. */
  readonly challenge: Challenge | undefined
  readonly events: Events
  readonly clock: Clock
}

/** Who asks to be let in, with what, and for what. */
export interface Applicant {
  readonly challengeToken: string | undefined
  readonly visit: Pick<Visit, 'requestId' | 'remoteAddress'>
  readonly parsed: readonly ParsedSignup[]
  readonly idempotency: Idempotency | undefined
}

/** Longer than any token lives. */
const rememberedMs = 10 * 60 * 1000
/** About 20 MB. Beyond that only the provider knows that an old token was used. */
const rememberedMax = 100_000

/**
 * Lets those in who pass the challenge. The provider lets a token pass again for the same content,
 * so that a request that is repeated after a crash does not fail; that a token is good for one
 * signup only is therefore remembered here, from the moment the signup is stored.
 */
export class Admission {
  readonly #options: AdmissionOptions
  readonly #turns = new Turns()
  /** When each may be forgotten, by the digest of submission and token; the oldest first. */
  readonly #used = new Map<string, number>()

  constructor(options: AdmissionOptions) {
    this.#options = options
  }

  /** @throws RequestRefused for a visitor who does not pass; `store` is not called then. */
  admit<T>(applicant: Applicant, store: () => Promise<T>): Promise<T> {
    const { challenge } = this.#options
    return challenge ? this.#admitPassed(challenge, applicant, store) : store()
  }

  async #admitPassed<T>(
    challenge: Challenge,
    applicant: Applicant,
    store: () => Promise<T>,
  ): Promise<T> {
    const { challengeToken: token } = applicant
    const submissionId = submissionIdOf(applicant)
    const use = fingerprintOf(submissionId, [token])
    return this.#turns.take(use, async () => {
      if (this.#used.has(use)) throw refuse.challenge()
      const { remoteAddress, requestId } = applicant.visit
      await this.#verify(challenge, { token, submissionId, remoteAddress }, requestId)
      const stored = await store()
      this.#remember(use)
      return stored
    })
  }

  async #verify(challenge: Challenge, attempt: Attempt, requestId: string): Promise<void> {
    const verdict = await challenge.verify(attempt)
    this.#options.events.challengeAnswered(verdict, requestId)
    switch (verdict.kind) {
      case 'passed':
        return
      case 'rejected':
        throw refuse.challenge()
      case 'misconfigured':
      case 'unavailable':
        throw refuse.challengeUnavailable(verdict.retryAfterSeconds)
    }
  }

  #remember(use: string): void {
    const now = this.#options.clock.elapsed()
    for (const [oldest, until] of this.#used) {
      if (until > now && this.#used.size < rememberedMax) break
      this.#used.delete(oldest)
    }
    this.#used.set(use, now + rememberedMs)
  }
}

/** The same for a request that is sent again: with its key and content, or without one by content. */
function submissionIdOf({ parsed, idempotency }: Applicant): string {
  return idempotency
    ? fingerprintOf('keyed', [idempotency.key, idempotency.fingerprint])
    : fingerprintOf('unkeyed', parsed.map(contentOf))
}
