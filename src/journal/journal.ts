import type { FrozenBatch } from '../signup/batch.ts'
import type { Millis, Receipt, Signup, SignupId } from '../signup/signup.ts'

/** What the operator decides about signups; fixed when the journal is opened. */
export interface JournalPolicy {
  /** How many tabs signups may bring into being. */
  readonly newTabsMax: number
  /** How many of these one opener may make in an hour. */
  readonly newTabsPerHourMax: number
  /** Tabs that the settings name: they do not count. */
  readonly namedTabs: readonly string[]
  /**
   * With `ignore`, a second signup for an address in a tab (letter case aside) is kept like any other
   * and becomes written with its batch, but its batch holds no row for it.
   */
  readonly duplicates: 'append' | 'ignore'
  /**
   * The default tab's name; with `of`, a spreadsheet's id, only until `resolveDefaultTab` gives it one
   * for that spreadsheet. Then it does not count either, whatever its name.
   */
  readonly defaultTab: { readonly name: string; readonly of?: string | undefined }
}

export const defaultPolicy: JournalPolicy = {
  newTabsMax: Infinity,
  newTabsPerHourMax: Infinity,
  namedTabs: [],
  duplicates: 'append',
  defaultTab: { name: 'Sheet1' },
}

/**
 * The durable list of signups, and how far they are delivered. The comments here are the contract;
 * the suites `test/journal-*contract.ts` hold every engine to it. Every promise resolves after the change is
 * on disk and rejects with `JournalUnavailable` when it could not be made (nothing was changed
 * then, and a later call may succeed).
 *
 * No cost here grows with the number of signups.
 */
export interface Journal extends AsyncDisposable {
  /**
   * Adds signups in this order, all or none, but for those whose tab would be one too many: these
   * leave nothing behind. With an idempotency key that is known, or else with a used token, nothing
   * is added. Otherwise both are kept in the same transaction, unless nothing was added: the key for
   * at least 24 hours from `receivedAt`, the token for at least ten minutes.
   */
  append(signups: readonly Signup[], terms?: AppendTerms): Promise<Appended>

  /** What `append` would answer to a known key; undefined when it is not known. */
  recall(idempotency: Idempotency): Promise<Recalled | undefined>

  /** The tab that a signup is for whose `sheetTab` is empty, as far as this process knows. */
  readonly defaultTab: DefaultTab

  /**
   * Gives the default tab its name, once for each spreadsheet: another writer may have given one
   * before. What came without a tab until then is from now on among what named that tab, in the order
   * in which it came. Costs time with the number of these where somebody has named the tab before.
   */
  resolveDefaultTab(name: string): Promise<DefaultTab>

  /** Whether the key is known, with whatever content. */
  knows(key: OwnedKey): Promise<boolean>

  /** Whether `append` would take a signup for this tab, received at this time. */
  takesTab(name: string, at: Millis, opener?: string): Promise<boolean>

  /** What became of a signup, or undefined when there is no such id. */
  find(id: SignupId): Promise<SignupStatus | undefined>

  /** Calls `listener` after each commit with how many signups it added. Returns the function that stops this. */
  onAppend(listener: (added: number) => void): () => void

  /**
   * Calls `listener` after each settled batch with how far it brought its tabs. Returns the function
   * that stops this.
   */
  onSettle(listener: (cursors: readonly TabCursor[]) => void): () => void

  /** Number of accepted signups that are not in the spreadsheet yet. */
  backlog(): Promise<number>

  /**
   * Since when nothing was written although signups wait in the tabs that `wanted` accepts: the later
   * of when the last batch was settled and when the first of them was received. Undefined when none
   * waits.
   */
  waitingSince(wanted: (tab: string) => boolean): Promise<Millis | undefined>

  /** Which batch is frozen, if one is. */
  frozen(): Promise<Fenced | undefined>

  /** The batch that was frozen and not settled or released, with its contents as they were frozen. */
  frozenBatch(): Promise<FrozenBatch | undefined>

  /**
   * Freezes the oldest undelivered signups of the tabs that `wanted` accepts into the next batch.
   * Undefined when there are none. Throws when a batch is frozen already: one at a time; and while the
   * default tab is not resolved, so that what waits for its name comes in order.
   */
  freeze(limits: BatchLimits, wanted: (tab: string) => boolean): Promise<FrozenBatch | undefined>

  /** The frozen batch is in the spreadsheet: its signups are written. */
  settle(batch: number, at: Millis): Promise<void>

  /**
   * The frozen batch was not applied and never will be: its signups wait to be frozen anew. Rejects
   * when it has another marker by now: what is known of the old one says nothing of that.
   */
  release(batch: Fenced): Promise<void>

  /**
   * The frozen batch's marker id belongs to somebody else: gives it, and all later ones, another.
   * Rejects when it has another one already.
   */
  remark(batch: Fenced): Promise<FrozenBatch>

  /**
   * A writer that did not freeze this batch is about to send it. Rejects when it is not frozen any
   * more, or has another marker.
   */
  noteFound(batch: Fenced): Promise<void>

  /** Markers of settled and released batches that are not pruned yet, the oldest first. */
  endedMarkers(): Promise<readonly EndedMarker[]>

  /**
   * Counts running time: how long processes have worked with this journal, one at a time and never
   * more than has really passed. Returns the count. docs/decisions/exactly-once.md has the rule and
   * its proof: the time is added when nobody has noted any since `seen`, which is this process's own.
   * Otherwise nothing is added and the process becomes the last one to note; only a note without
   * lives that finds another process at work leaves everything as it is.
   */
  noteRunningTime(note: RunningTimeNote): Promise<RunningTime>

  /** How many markers are not pruned yet. */
  markerCount(): Promise<number>

  /** These markers are gone from the spreadsheet. */
  forgetMarkers(markers: readonly number[]): Promise<void>

  /** A small fact that was noted, undefined when it was not. */
  fact(name: string): Promise<string | undefined>

  noteFact(name: string, value: string): Promise<void>

  /** Notes one call to the provider, before it is made. */
  recordCall(at: Millis): Promise<void>

  /** When the provider was called since then, in the order of the calls. Older notes may be gone. */
  callsSince(at: Millis): Promise<readonly Millis[]>
}

export interface DefaultTab {
  readonly name: string
  /** Whether that is its name for good. */
  readonly isResolved: boolean
}

/** The marker of a batch that was settled or released. */
export interface EndedMarker {
  readonly id: number
  /** Whether a writer has sent the batch, or may have, that did not freeze it. */
  readonly isFound: boolean
  /** The running time from which it may be pruned; undefined until a life was noted for it. */
  readonly ripeAt: Millis | undefined
}

/** What a process has measured. */
export interface RunningTimeNote {
  /** Names the process: no two have the same name, be they on two machines or one after the other. */
  readonly by: string
  /** By the elapsed clock, since its last note was answered. Whole milliseconds. */
  readonly ms: Millis
  /** What the last note of this process came to. */
  readonly seen: RunningTime | undefined
  /** For ended markers by id: how long they stand from now on, unless that was noted before. */
  readonly lives: ReadonlyMap<number, Millis>
}

export interface RunningTime {
  readonly ms: Millis
  /** Who noted it. */
  readonly by: string
}

/** A batch and the marker that it had when something became known of it. */
export type Fenced = Pick<FrozenBatch, 'number' | 'marker'>

export interface BatchLimits {
  readonly rowsMax: number
  /** Estimated size of the request that carries the rows. A single larger row still goes alone. */
  readonly bytesMax: number
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

/** The journal cannot be read or written just now: disk full, database gone. */
export class JournalUnavailable extends Error {
  override readonly name = 'JournalUnavailable'
}
