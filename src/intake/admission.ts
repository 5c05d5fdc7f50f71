import type { Attempt, Challenge } from '../challenge/challenge.ts'
import type { Idempotency } from '../journal/intake-log.ts'
import type { Events } from '../ops/events.ts'
import type { ParsedSignup } from '../signup/parse.ts'
import { contentOf, fingerprintOf } from './idempotency.ts'
import { refuse } from '../http/refuse.ts'
import type { Exchange } from '../http/exchange.ts'

export interface AdmissionOptions {
  /** Undefined: everybody is let in. */
  readonly challenge: Challenge | undefined
  readonly events: Events
}

/** Who asks to be let in, with what, and for what. */
export interface Applicant {
  readonly challengeToken: string | undefined
  readonly exchange: Pick<Exchange, 'requestId' | 'remoteAddress'>
  readonly parsed: readonly ParsedSignup[]
  readonly idempotency: Idempotency | undefined
}

/**
 * Lets those in who pass the challenge. The provider lets a token pass again for the same content,
 * so that a request that is repeated after a crash does not fail; that a token is good for one
 * append only is up to the journal, which remembers it together with what it was stored with.
 */
export class Admission {
  readonly #options: AdmissionOptions

  constructor(options: AdmissionOptions) {
    this.#options = options
  }

  /**
   * @returns what the journal is to remember of the token; undefined while everybody is let in
   * @throws Refusal for a visitor who does not pass
   */
  async admit(applicant: Applicant): Promise<string | undefined> {
    const { challenge } = this.#options
    if (!challenge) return undefined
    const { challengeToken: token, exchange } = applicant
    const submissionId = submissionIdOf(applicant)
    const { remoteAddress, requestId } = exchange
    await this.#verify(challenge, { token, submissionId, remoteAddress }, requestId)
    // Keys for tests give everybody the same token: there it is used for one content only.
    return fingerprintOf('token', [token, challenge.isForTests ? submissionId : ''])
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
}

/** The same for a request that is sent again: with its key and content, or without one by content. */
function submissionIdOf({ parsed, idempotency }: Applicant): string {
  if (!idempotency) return fingerprintOf('unkeyed', parsed.map(contentOf))
  const { space, key, fingerprint } = idempotency
  return fingerprintOf('keyed', [space, key, fingerprint])
}
