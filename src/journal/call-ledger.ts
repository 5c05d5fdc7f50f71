import type { Millis } from '../signup/signup.ts'

/** What delivery needs of the journal to keep the provider's quota. */
export interface CallLedger {
  /** Notes one call to the provider, before it is made. */
  recordCall(at: Millis): Promise<void>

  /** When the provider was called since then, in the order of the calls. Older notes may be gone. */
  callsSince(at: Millis): Promise<readonly Millis[]>
}
