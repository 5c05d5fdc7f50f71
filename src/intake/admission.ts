import type { Attempt, Challenge } from '../challenge/challenge.ts'
import type { Events } from '../ops/events.ts'
import type { Idempotency } from '../journal/contracts/intake-log.ts'
import type { Digest } from '../platform/digest.ts'
import type { ParsedSignup } from '../signup/parse.ts'
import { contentOf, fingerprintOf } from './idempotency.ts'
import { refuse } from '../http/refuse.ts'
import type { Client } from '../http/client.ts'

export interface AdmissionOptions {
  /** Undefined when there is no challenge and everybody is admitted. */
  readonly challenge: Challenge | undefined
  readonly events: Events
  readonly digest: Digest
}

/** What a request wants to be stored together. */
export interface Submission {
  readonly signups: readonly ParsedSignup[]
  readonly challengeToken: string | undefined
  readonly idempotency: Idempotency | undefined
}

/** Who asks for admission. */
export interface Applicant {
  readonly requestId: string
  readonly client: Pick<Client, 'visitorAddress'>
}

/**
 * Admits visitors who pass the challenge. The provider accepts a token again for the same content, so
 * that a request can be repeated after a crash. The journal makes sure that a token is used for one
 * append only: it stores the token together with the signups.
 */
export class Admission {
  readonly #options: AdmissionOptions

  constructor(options: AdmissionOptions) {
    this.#options = options
  }

  /**
   * @returns the fingerprint of the token for the journal; undefined when there is no challenge
   * @throws Refusal when the visitor does not pass
   */
  async admit(
    submission: Submission,
    { client, requestId }: Applicant,
  ): Promise<string | undefined> {
    const { challenge, digest } = this.#options
    if (!challenge) return undefined
    const { challengeToken: token } = submission
    const submissionId = submissionIdOf(submission, digest)
    const attempt = { token, submissionId, remoteAddress: client.visitorAddress }
    await this.#verify(challenge, attempt, requestId)
    // Test keys give everybody the same token, so there the fingerprint also depends on the content.
    return fingerprintOf('token', [token, challenge.isForTests ? submissionId : ''], digest)
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

/** Identifies the request, so that a repeated one is recognised: by its key and content, or by content alone. */
function submissionIdOf({ signups, idempotency }: Submission, digest: Digest): string {
  if (!idempotency) return fingerprintOf('unkeyed', signups.map(contentOf), digest)
  const { space, key, fingerprint } = idempotency
  return fingerprintOf('keyed', [space, key, fingerprint], digest)
}
