import type { ConfigAnswer } from '../signup/wire.ts'

/** Tells people from bots: whether the token that a visitor's browser earned is a good one. */
export interface Challenge {
  /** With keys for tests, by which everybody passes, or nobody. */
  readonly isForTests: boolean

  /**
   * Spends the token. Within about nine seconds; never rejects. It is not called off when the
   * visitor leaves: the token would be spent for nothing.
   *
   * Call it last before the durable write, when nothing of the request can be wrong any more. The
   * same token for the same `submissionId` passes again as long as the provider remembers it
   * (Turnstile does), so that a request that is sent again after a crash need not fail.
   */
  verify(attempt: Attempt): Promise<Verdict>
}

/** What pages need to show the widget. Nothing of it is secret. */
export interface ChallengeWidget {
  readonly provider: ConfigAnswer['challengeProvider']
  /** Null: the challenge is off. */
  readonly siteKey: string | null
  readonly scriptUrl: string
  /** From where script, frames, styles and calls of the widget come, for a page's CSP; none when off. */
  readonly origins: readonly string[]
}

export interface Attempt {
  /** As it was sent; undefined when there was none. */
  readonly token: string | undefined
  /** The same for a request that is sent again, and for no other one. Any text. */
  readonly submissionId: string
  /** The visitor's own address, not a proxy's; undefined when that is not known. */
  readonly remoteAddress?: string | undefined
}

export type Verdict = Passed | Rejected | Misconfigured | Unavailable

export interface Passed {
  readonly kind: 'passed'
}

/** The token is missing, too long, forged, too old, already spent, or from another host. */
export interface Rejected {
  readonly kind: 'rejected'
  /** For the operator: a code such as `timeout-or-duplicate`. Never holds the token. */
  readonly reason: string
  /** When it may be the settings' fault after all: what to look at. */
  readonly hint?: string
}

/** Nobody can pass until the operator mends it; no fault of the visitor's. */
export interface Misconfigured {
  readonly kind: 'misconfigured'
  /** `mismatch`: the keys are of different sites. */
  readonly reason: 'mismatch' | 'refused'
  readonly message: string
  /** What the operator should do. */
  readonly hint: string
  readonly retryAfterSeconds: number
}

/** The provider gave no verdict. The token may be spent all the same. */
export interface Unavailable {
  readonly kind: 'unavailable'
  readonly message: string
  readonly retryAfterSeconds: number
  readonly cause?: unknown
}
