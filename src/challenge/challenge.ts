import type { ConfigAnswer } from '../signup/wire.ts'

/** Tells people from bots by checking the token that the visitor's browser earned. */
export interface Challenge {
  /** Whether the keys are test keys, with which everybody passes, or nobody. */
  readonly isForTests: boolean

  /**
   * Spends the token. Takes up to about nine seconds and never rejects. It is not aborted when the
   * visitor leaves, because the token would be spent for nothing.
   *
   * Call it just before the durable write, after all other checks. The same token with the same
   * `submissionId` passes again while the provider remembers it (Turnstile does), so that a request
   * can be repeated after a crash.
   */
  verify(attempt: Attempt): Promise<Verdict>
}

/** What pages need to show the widget. None of this is secret. */
export interface ChallengeWidget {
  readonly provider: ConfigAnswer['challengeProvider']
  /** Null when the challenge is off. */
  readonly siteKey: string | null
  readonly scriptUrl: string
  /** Where the script gets its puzzles, from our root on; only for the proof of work. */
  readonly challengeUrl?: string
  /** The origins that a page's CSP must allow for the widget; empty when it needs none, or the challenge is off. */
  readonly origins: readonly string[]
}

export interface Attempt {
  /** The token as it was sent; undefined when there was none. */
  readonly token: string | undefined
  /** Identifies the request: a repeated request has the same id, any other request another one. */
  readonly submissionId: string
  /** The visitor's own address, not a proxy's; undefined when it is not known. */
  readonly remoteAddress?: string | undefined
}

/** What the challenge says of a visitor. Never holds the token, nor anything else about the visitor. */
export type Verdict = (Passed | Rejected | Misconfigured | Unavailable) & {
  /** How long the provider was asked, in milliseconds, two tries included. Absent when it was not asked. */
  readonly askedMs?: number
}

export interface Passed {
  readonly kind: 'passed'
  /** What the token has spent, when the same can be written as another token. Otherwise it is the token. */
  readonly spent?: string
}

/** The token is missing, too long, forged, too old, already spent, or from another host. */
export interface Rejected {
  readonly kind: 'rejected'
  /** For the operator: a code such as `timeout-or-duplicate`. */
  readonly reason: string
  /** What the operator should check; present when the settings may be wrong. */
  readonly hint?: string
  /** Whether an earlier call that spent the token cannot be the reason. */
  readonly isFinal?: true
}

/** The settings are wrong: nobody can pass until the operator corrects them. */
export interface Misconfigured {
  readonly kind: 'misconfigured'
  /** `mismatch`: the two keys belong to different sites. */
  readonly reason: 'mismatch' | 'refused'
  readonly message: string
  /** What the operator should do. */
  readonly hint: string
  readonly retryAfterSeconds: number
}

/** The provider gave no verdict. The token may be spent anyway. */
export interface Unavailable {
  readonly kind: 'unavailable'
  readonly message: string
  /** Whether the same call may bring a verdict a moment later. */
  readonly isPassing: boolean
  readonly retryAfterSeconds: number
  readonly cause?: unknown
}
