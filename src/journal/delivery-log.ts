import type { FrozenBatch } from '../signup/batch.ts'
import type { Millis, Signup } from '../signup/signup.ts'
import type { DefaultTab } from './intake-log.ts'

/**
 * What delivery needs of the journal: how far one site's signups have come, its frozen batch, and the
 * markers of those that ended. The comments here are the contract;
 * `test/journal/delivery-log-contract.ts` holds every engine to it, with
 * `delivery-log-markers-contract.ts` and `-default-tab-` beside it.
 *
 * Any number of processes may have one journal open, and each sees what the others have committed.
 * Every promise resolves after the change is on disk. It rejects with `JournalUnavailable` when the
 * change could not be made: then nothing was changed, and a later call may succeed. No cost grows with
 * the number of signups.
 */
export interface DeliveryLog {
  /** The tab that a signup is for whose `sheetTab` is empty, as far as this process knows. */
  readonly defaultTab: DefaultTab

  /**
   * Gives the default tab its name, once for each spreadsheet: another writer may have given one
   * before. What came without a tab until then is from now on among what named that tab, in the order
   * in which it came. Costs time with the number of these where somebody has named the tab before.
   */
  resolveDefaultTab(name: string): Promise<DefaultTab>

  /**
   * Calls `listener` after each commit with how many signups it added. Returns the function that stops
   * this. That is a hint: it does not come when another process has added them. Whoever waits looks at
   * `pending`, too.
   */
  onAppend(listener: (added: number) => void): () => void

  /** The number and marker of the frozen batch, if there is one. */
  frozen(): Promise<Fenced | undefined>

  /** The frozen batch with its signups; undefined when there is none. */
  frozenBatch(): Promise<FrozenBatch | undefined>

  /** The tabs with signups that are not in the spreadsheet yet. The tab that has waited longest is first. */
  pending(): Promise<readonly PendingTab[]>

  /**
   * The next signups of a tab that wait, in order: those behind the position `after`, or the first
   * ones. As many as are read while nothing else has its turn, some hundred.
   */
  waiting(tab: PendingTab, after?: number): Promise<WaitingSlice>

  /**
   * Freezes these signups into the next batch: of each tab a run of what `waiting` gave, from its first
   * one on. The batch gets a marker with an id of 1 to `markerIdMax`. Rejects when a batch is frozen
   * already, as there is one at a time; when another writer has settled some of the signups meanwhile;
   * and while the default tab is not resolved, so that what waits for its name comes in order.
   */
  freeze(shares: readonly Share[], markerIdMax: number): Promise<FrozenBatch>

  /** Marks the signups of the frozen batch as written: the batch is in the spreadsheet. */
  settle(batch: number, at: Millis): Promise<void>

  /**
   * Ends a frozen batch that was not applied and never will be. Its signups wait to be frozen again.
   * Rejects when the batch has another marker now, because the batch may be applied under that one.
   */
  release(batch: Fenced): Promise<void>

  /**
   * Gives the frozen batch and all later ones new marker ids, because somebody else uses its id.
   * Rejects when the batch already has another marker.
   */
  remark(batch: Fenced, markerIdMax: number): Promise<FrozenBatch>

  /**
   * Notes that a writer that did not freeze this batch is about to send it. Rejects when the batch is no
   * longer frozen or has another marker.
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

  /** Forgets markers that were removed from the spreadsheet. */
  forgetMarkers(markers: readonly number[]): Promise<void>

  /** A small fact that was noted, undefined when it was not. */
  fact(name: string): Promise<string | undefined>

  noteFact(name: string, value: string): Promise<void>
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

/** A tab with signups that wait. */
export interface PendingTab {
  readonly id: number
  /** As it was first used. */
  readonly name: string
  /** Position of its last signup in the spreadsheet. */
  readonly writtenTo: number
}

export interface WaitingSlice {
  readonly signups: readonly WaitingSignup[]
  /** Whether more may wait behind them. */
  readonly hasMore: boolean
}

export interface WaitingSignup {
  readonly position: number
  /** With the tab's name as it was first used. */
  readonly signup: Signup
  /** Size of its texts in UTF-8, without the tab's name. */
  readonly textBytes: number
  /** A duplicate that gets no row. */
  readonly isIgnored: boolean
}

/** What a tab puts into a batch. */
export interface Share {
  readonly tab: PendingTab
  readonly signups: readonly WaitingSignup[]
}
