import type { FrozenBatch, Marked } from '../../signup/batch.ts'
import type { Millis, Signup } from '../../signup/signup.ts'
import type { AsideTab, DeliveryHealth, Warning } from '../../signup/trouble.ts'
import type { Reader } from './reader.ts'

/**
 * The journal's interface for delivery: which signups of one site wait, its frozen batch, and the
 * markers of ended batches.
 *
 * Calls that freeze or end a batch, or are about a frozen one, reject with `Overtaken` when another writer
 * was faster. Where nothing else is said, no cost grows with the number of signups.
 */
export interface DeliveryLog {
  /**
   * Calls `listener` with the number of added signups after each commit of this process. Returns a
   * function that removes the listener. Commits of other processes show only in `pending`.
   */
  onAppend(listener: (added: number) => void): () => void

  /** The number and marker of the frozen batch, if there is one. */
  frozen(): Promise<BatchRef | undefined>

  /** The frozen batch with its signups; undefined when there is none. */
  frozenBatch(): Promise<FrozenBatch | undefined>

  /**
   * The tabs with signups that are not in the spreadsheet yet, the one with the oldest signup first. A
   * tab comes a second time, at the end, when it has signups that are to be delivered once more.
   */
  pending(): Promise<readonly PendingTab[]>

  /**
   * The next waiting signups of a tab, in order: those after the position `after`, or the first ones.
   * One slice holds so few that reading it delays no request: about a hundred where the event loop reads
   * them, and up to 2,000 where a server does.
   *
   * Reads of several tabs that are asked for at the same time may share a round trip.
   *
   * @param wanted how many the caller can use, at least 1; an engine need not read more
   */
  waiting(tab: PendingTab, after?: number, wanted?: number): Promise<WaitingSlice>

  /**
   * Freezes these signups into the next batch. Of each tab they must be the first ones that `waiting`
   * gave, without a gap. The batch gets a marker with an id of 1 to `markerIdMax`. Rejects with
   * `Overtaken` when a batch is frozen already, and when another writer has settled some of the signups
   * meanwhile.
   */
  freeze(shares: readonly TabShare[], markerIdMax: number): Promise<FrozenBatch>

  /** Marks the signups of the frozen batch as written at this time. `Overtaken` when it is not frozen. */
  settle(batch: number, at: Millis): Promise<void>

  /**
   * Ends a frozen batch that was not applied and never will be. Its signups wait again. `Overtaken` when
   * the batch has another marker now, because it may be applied under that one.
   */
  release(batch: BatchRef): Promise<void>

  /**
   * Gives the frozen batch and all later ones new marker ids, because somebody else uses its id.
   * `Overtaken` when the batch already has another marker.
   */
  remark(batch: BatchRef, markerIdMax: number): Promise<FrozenBatch>

  /**
   * Notes that a writer that did not freeze this batch is about to send it. `Overtaken` when the batch
   * is no longer frozen or has another marker.
   */
  noteFound(batch: BatchRef): Promise<void>

  /** Markers of settled and released batches that are not pruned yet, the oldest first. */
  endedMarkers(): Promise<readonly EndedMarker[]>

  /**
   * Adds to the running time, and returns it: how long processes have worked with this journal, never
   * more than the time that has really passed. The time is added when `seen`, this process's last note,
   * is still the latest note of all. Otherwise nothing is added, and this note becomes the latest one;
   * but a note without `keepMs` leaves another process's note as it is. docs/decisions/exactly-once.md
   * explains the rule and why it holds.
   */
  noteRunningTime(note: RunningTimeNote): Promise<RunningTime>

  /** How many markers are not pruned yet. */
  markerCount(): Promise<number>

  /** Whether a batch with this fingerprint is of this journal, or of one that it has replaced. */
  isOwn(fingerprint: string): Promise<boolean>

  /**
   * Takes in those of these markers that are of `isOwn` batches and not known here: a replaced journal has
   * made them, or an earlier version of the spreadsheet has brought them back. They count as ended, and
   * as found, because an unknown process may still send their batches.
   */
  adoptMarkers(standing: readonly Marked[]): Promise<void>

  /** Forgets markers that were removed from the spreadsheet. */
  forgetMarkers(markers: readonly number[]): Promise<void>

  /** The value that `noteFact` noted under this name; undefined when there is none. */
  fact(name: string): Promise<string | undefined>

  noteFact(name: string, value: string): Promise<void>
}

/**
 * The name of a fact: the last position of a backup that was restored. Its waiting signups may have rows
 * already, so no batch is frozen before they were compared with the spreadsheet. Empty after that.
 */
export const restoredFact = 'restored'

/** The name of a fact: the codes of the journals that this one has replaced, with spaces between them. */
export const replacedCodesFact = 'replaced codes'

/** The name of a fact: the outage of delivery of which the operator was told. */
export const noticesFact = 'notices'

/** The name of a fact: when and why the last notice was not taken, and after how many tries; empty when it was. */
export const noticeFailureFact = 'notice failure'

/** The name of a fact: since when mails cannot be sent, and why. Made by the notices about it. */
export const mailFact = 'mail'

export interface MailNote {
  readonly since: Millis
  /** A fixed sentence. */
  readonly reason: string
}

/** Why mails cannot be sent, as the delivering instance has noted it; undefined when they can. */
export async function readMailNote(reader: Pick<Reader, 'fact'>): Promise<MailNote | undefined> {
  const text = await reader.fact(mailFact)
  const note =
    text === undefined
      ? {}
      : (JSON.parse(text) as { outage?: { since: Millis } } & Partial<MailNote>)
  return note.outage && { since: note.outage.since, reason: note.reason ?? '' }
}

/** The marker of a batch that was settled or released. */
export interface EndedMarker {
  readonly id: number
  /** Whether a writer that did not freeze the batch may have sent it. */
  readonly isFound: boolean
  /** The running time from which it may be pruned; undefined until somebody notes a life for it. */
  readonly prunableAt: Millis | undefined
}

/** What one process tells of its time. */
export interface RunningTimeNote {
  /** A name that no other process has, on any machine and at any time. */
  readonly by: string
  /** Whole milliseconds by the elapsed clock since the last note of this process was answered. */
  readonly ms: Millis
  /** The answer to the last note of this process. */
  readonly seen: RunningTime | undefined
  /** How long ended markers stand from now on, by marker id. The first life of a marker stays. */
  readonly keepMs: ReadonlyMap<number, Millis>
}

export interface RunningTime {
  readonly ms: Millis
  /** The process that made the latest note. */
  readonly by: string
}

/** A batch, and the marker that it had when the writer looked. */
export type BatchRef = Pick<FrozenBatch, 'number' | 'marker'>

/** A tab with waiting signups. */
export interface PendingTab {
  readonly id: number
  /** The name as it was first used. */
  readonly name: string
  /** Position of its last signup that is in the spreadsheet. */
  readonly writtenTo: number
  /** Whether these are signups that are delivered once more. Then `writtenTo` is 0. */
  readonly isAgain: boolean
}

export interface WaitingSlice {
  readonly signups: readonly WaitingSignup[]
  /** Whether more may follow. */
  readonly hasMore: boolean
}

export interface WaitingSignup {
  readonly position: number
  /** With the tab's name as it was first used. */
  readonly signup: Signup
  /** Bytes of its texts in UTF-8, without the tab's name. */
  readonly textBytes: number
  /** Whether the batch has no row of it: a duplicate, one that is held or was erased, or one whose row is there. */
  readonly hasNoRow: boolean
  /** Whether it is in quarantine, or was erased there. */
  readonly isHeld: boolean
}

/** The signups of one tab that go into a batch. */
export interface TabShare {
  readonly tab: PendingTab
  readonly signups: readonly WaitingSignup[]
}

/**
 * How delivery fares, noted in the journal when it changes, so that commands and other instances can
 * tell. It is as the writer saw it last, which may not run any more.
 */
export interface DeliveryNote {
  readonly delivery: DeliveryHealth
  readonly tabs: readonly AsideTab[]
  readonly warnings: readonly Warning[]
  /** When it became so. ISO 8601. */
  readonly since: string
}

/** The name of the fact that holds the note. */
export const deliveryFact = 'delivery'

/** The name of the fact that changes when an operator wants tabs that are set aside to be tried at once. */
export const retryFact = 'retry'

/** The last note; undefined when delivery has never run. */
export async function readDeliveryNote(
  reader: Pick<Reader, 'fact'>,
): Promise<DeliveryNote | undefined> {
  const text = await reader.fact(deliveryFact)
  return text === undefined ? undefined : (JSON.parse(text) as DeliveryNote)
}
