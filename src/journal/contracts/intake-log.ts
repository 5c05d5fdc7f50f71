import type { Openness } from '../../signup/closing.ts'
import type { Millis, Receipt, Signup, SignupId } from '../../signup/signup.ts'

/**
 * The journal's interface for intake: the durable list of one site's signups, to which intake appends. No
 * cost grows with the number of signups.
 */
export interface IntakeLog {
  /**
   * Adds signups in this order, all or none, except those that would make one tab too many. When the
   * idempotency key is known, or else the token is used, it adds nothing. When it adds a signup, it
   * stores key and token in the same transaction: the key for at least 24 hours from `receivedAt`, the
   * token for at least ten minutes.
   *
   * When the policy says that the site is closed, it adds nothing, unless the key is known. Of the signups that
   * count outside of the overflow tab, from the first one on, as many get a seat as there are. Those beyond go to
   * the overflow tab, where who is on the list already counts as a duplicate; without one, they are left out.
   */
  append(signups: readonly Signup[], terms?: AppendTerms): Promise<Appended>

  /**
   * Stores signups beside the list, where they wait for their person to confirm them, and adds a mail where
   * the limits allow one (docs/decisions/mail-and-webhooks.md). All or none, with the key and the token, as
   * `append` does it. It opens no tab, and gives no position; a new tab counts for the client as if it was
   * made. A suspect one gets no mail where suspect ones are held. When all seats are taken, it asks for the overflow
   * tab, or is left out.
   */
  ask(signups: readonly Signup[], terms: AskTerms): Promise<Appended>

  /** The result that `append` would return for a known key; undefined when the key is unknown. */
  recall(idempotency: Idempotency): Promise<Recalled | undefined>

  /** Whether the key is known, with any fingerprint. */
  knows(key: OwnedKey): Promise<boolean>

  /** Whether `append` would take a signup for this tab, received at this time. */
  takesTab(name: string, at: Millis, client?: string): Promise<boolean>

  /** What would become of a signup now, as far as this process knows. Exact for what it has appended itself. */
  openness(now: Millis): Openness

  /** Learns whether all seats are taken, whoever has taken them. */
  lookAtSeats(): Promise<void>

  /** The status of a signup of this site; undefined when the site has none with this id. */
  find(id: SignupId): Promise<SignupStatus | undefined>

  /**
   * Calls `listener` with the cursors of the tabs of each batch that this process settles. Returns a
   * function that removes the listener. Batches that other processes settle show only in `cursors`.
   */
  onSettle(listener: (cursors: readonly TabCursor[]) => void): () => void

  /**
   * How far these tabs are written, by any process. Tabs that do not exist are left out.
   */
  cursors(tabs: readonly string[]): Promise<readonly TabCursor[]>
}

/** The conditions of one append, besides the operator's policy. */
export interface AppendTerms {
  readonly idempotency?: Idempotency | undefined
  /** A digest of the challenge token that the signups came with. The journal stores it as given. */
  readonly token?: string | undefined
  /**
   * The client who would make new tabs: an address. The journal stores a digest of it, and deletes that
   * with the first new tab after an hour. Undefined: no limit an hour.
   */
  readonly client?: string | undefined
  /** Who is greeted when the site sends welcome mails: nobody when it is left out. */
  readonly greeting?: Addressing | undefined
}

/** The conditions of one request for signups that are to be confirmed. */
export type AskTerms = AppendTerms & { readonly addressing: Addressing }

/** What a mail needs to know of the request that leads to it. */
export interface Addressing {
  /** The part of the clients by which mails take turns. The journal stores a digest of it. */
  readonly share: string
  /** The language of the mail: a `Language`. */
  readonly language: string
}

/** An idempotency key. */
export interface OwnedKey {
  /** The same key in two name spaces is two keys. */
  readonly space: string
  /** The journal stores space, key and fingerprint as keyed hashes only. */
  readonly key: string
}

/** A request that its sender may repeat. */
export interface Idempotency extends OwnedKey {
  /** Tells requests with different contents apart. */
  readonly fingerprint: string
}

/**
 * One result for each signup, in the order of the request; undefined when its tab was one too many. Signups behind the
 * last result were left out, as the site is closed.
 */
export type AppendResults = readonly (SignupStatus | undefined)[]

/** The signups are in the journal now. */
interface AppendedNew {
  readonly kind: 'appended'
  readonly results: AppendResults
  /** How many of them get no row, as their address is there. Left out when none does, or nobody knows. */
  readonly duplicates?: number
}

export type Appended =
  | AppendedNew
  /** Earlier signups came with this token. */
  | { readonly kind: 'tokenUsed' }
  | Recalled

export type Recalled =
  /** The signups of the first request, each with its current status. */
  | { readonly kind: 'replayed'; readonly results: AppendResults }
  /** The key belongs to a request with another fingerprint. */
  | { readonly kind: 'mismatch' }

/** Every signup of the tab up to this position is in the spreadsheet. */
export interface TabCursor {
  /** The tab's name as it was first used. */
  readonly tab: string
  readonly upto: number
}

export interface SignupStatus extends Receipt {
  /** Its number in the journal. Later signups have higher ones. 0 while it is beside the list. */
  readonly position: number
  /** Set while it is beside the list: it waits for its confirmation, or did so for too long. */
  readonly beside?: 'pending' | 'expired'
  /** When the spreadsheet confirmed the row; absent until then. */
  readonly writtenAt?: Millis
}
