import type { Challenge } from '../challenge/challenge.ts'
import type { Client } from '../http/client.ts'
import { refuse } from '../http/refuse.ts'
import type { Idempotency } from '../journal/contracts/intake-log.ts'
import type { Events } from '../ops/events.ts'
import type { Digest } from '../platform/digest.ts'
import type { ParsedSignup } from '../signup/parse.ts'
import { contentOf, fingerprintOf } from './idempotency.ts'

export interface AdmissionParts {
  /** Undefined when there is no challenge and everybody is admitted. */
  readonly challenge: Challenge | undefined
  readonly events: Pick<Events, 'challengeAnswered'>
  readonly digest: Digest
}

/** What a request wants to be stored together. */
export interface Submission {
  readonly signups: readonly ParsedSignup[]
  readonly challengeToken: string | undefined
  readonly idempotency: Idempotency | undefined
}

/**
 * Admits visitors who pass the challenge. The provider accepts a token again for the same content, so
 * that a request can be repeated after a crash. The journal makes sure that a token is used for one
 * append only: it stores the token together with the signups.
 *
 * @returns the fingerprint of the token for the journal; undefined when there is no challenge
 * @throws Refusal when the visitor does not pass
 */
export async function admit(
  submission: Submission,
  {
    client,
    requestId,
  }: { readonly client: Pick<Client, 'visitorAddress'>; readonly requestId: string },
  { challenge, events, digest }: AdmissionParts,
): Promise<string | undefined> {
  if (!challenge) return undefined
  const { challengeToken: token } = submission
  const submissionId = submissionIdOf(submission, digest)
  const remoteAddress = client.visitorAddress
  const verdict = await challenge.verify({ token, submissionId, remoteAddress })
  events.challengeAnswered(verdict, requestId)
  if (verdict.kind === 'rejected') throw refuse.challenge()
  if (verdict.kind !== 'passed') throw refuse.challengeUnavailable(verdict.retryAfterSeconds)
  // Test keys give everybody the same token, so there the fingerprint also depends on the content.
  return fingerprintOf('token', [token, challenge.isForTests ? submissionId : ''], digest)
}

/** Identifies the request, so that a repeated one is recognised: by its key and content, or by content alone. */
function submissionIdOf({ signups, idempotency }: Submission, digest: Digest): string {
  if (!idempotency) return fingerprintOf('unkeyed', signups.map(contentOf), digest)
  const { space, key, fingerprint } = idempotency
  return fingerprintOf('keyed', [space, key, fingerprint], digest)
}
