import type { Signup } from '../../signup/signup.ts'
import type { AppendTerms } from '../contracts/intake-log.ts'

export interface AppendRequest {
  readonly signups: readonly Signup[]
  readonly terms: AppendTerms
}

/** A request as the database gets it: with hashes, because a key may be an address. */
export interface HashedRequest extends AppendRequest {
  readonly key: string | undefined
  readonly fingerprint: string | undefined
  /** The tabs of its signups. */
  readonly tabs: readonly NamedTab[]
}

/** A tab as a signup names it. */
export interface NamedTab {
  readonly key: string
  readonly name: string
}
