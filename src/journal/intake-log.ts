import type { Millis, Receipt, Signup, SignupId } from '../signup/signup.ts'

/**
 * What intake needs of the journal: the durable list of one site's signups, to which it appends. The
 * comments here are the contract; `test/journal/intake-log-contract.ts` holds every engine to it, with
 * `intake-log-keys-contract.ts`, `-tabs-` and `-duplicates-` beside it.
 *
 * Any number of processes may have one journal open, and each sees what the others have committed.
 * Every promise resolves after the change is on disk. It rejects with `JournalUnavailable` when the
 * change could not be made: then nothing was changed, and a later call may succeed. No cost grows with
 * the number of signups.
 */
export interface IntakeLog {
  /**
   * Adds signups in this order, all or none, but for those whose tab would be one too many: these
   * leave nothing behind. With an idempotency key that is known, or else with a used token, nothing
   * is added. Otherwise both are kept in the same transaction, unless nothing was added: the key for
   * at least 24 hours from `receivedAt`, the token for at least ten minutes.
   */
  append(signups: readonly Signup[], terms?: AppendTerms): Promise<Appended>

  /** The result that `append` would return for a known key; undefined when the key is unknown. */
  recall(idempotency: Idempotency): Promise<Recalled | undefined>

  /** Whether the key is known, with whatever content. */
  knows(key: OwnedKey): Promise<boolean>

  /** Whether `append` would take a signup for this tab, received at this time. */
  takesTab(name: string, at: Millis, opener?: string): Promise<boolean>

  /** The status of a signup; undefined when the id is unknown. */
  find(id: SignupId): Promise<SignupStatus | undefined>

  /** The tab that a signup is for whose `sheetTab` is empty, as far as this process knows. */
  readonly defaultTab: DefaultTab

  /**
   * Calls `listener` after settled batches with how far they brought their tabs. Returns the function
   * that stops this. That is a hint: it may come late, and not at all when another process has settled
   * the batch. Whoever waits looks at `cursors`, too.
   */
  onSettle(listener: (cursors: readonly TabCursor[]) => void): () => void

  /** How far these tabs are written, by any process. Tabs that do not exist are left out. */
  cursors(tabs: readonly string[]): Promise<readonly TabCursor[]>
}

export interface DefaultTab {
  readonly name: string
  /** Whether that is its name for good. */
  readonly isResolved: boolean
}

/** What signups are added under, besides the operator's policy. */
export interface AppendTerms {
  readonly idempotency?: Idempotency | undefined
  /** Of the challenge token that they came with; kept as it is given, so give a digest. */
  readonly token?: string | undefined
  /**
   * Whose new tabs these would be: a client's address. A digest of it is kept for an hour, until the
   * next new tab. Undefined: their number in an hour is not limited.
   */
  readonly opener?: string | undefined
}

/** An idempotency key. */
export interface OwnedKey {
  /** The same key in two name spaces is two keys. Kept as it is given. */
  readonly space: string
  readonly key: string
}

/** A request that its sender may repeat. */
export interface Idempotency extends OwnedKey {
  /** Tells requests with different contents apart. */
  readonly fingerprint: string
}

/** For each signup in the order of the request: undefined when its tab would be one too many. */
export type AppendResults = readonly (SignupStatus | undefined)[]

export type Appended =
  | { readonly kind: 'appended'; readonly results: AppendResults }
  /** Other signups came with this token before. */
  | { readonly kind: 'tokenUsed' }
  | Recalled

export type Recalled =
  /** The first answer again, each signup with its status of now. */
  | { readonly kind: 'replayed'; readonly results: AppendResults }
  /** The key came with another fingerprint before. */
  | { readonly kind: 'mismatch' }

/** Every signup of the tab up to this position is in the spreadsheet. */
export interface TabCursor {
  /** The tab's name as it was first used; empty for what came before the default tab was resolved. */
  readonly tab: string
  readonly upto: number
}

export interface SignupStatus extends Receipt {
  /** Its place in the journal, rising within a tab. */
  readonly position: number
  /** It came without a tab, and `sheetTab` is only what the default one is called until it is resolved. */
  readonly isTabOpen?: true
  /** When the spreadsheet confirmed the row; absent while it is on its way. */
  readonly writtenAt?: Millis
}
