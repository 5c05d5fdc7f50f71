import type { Signup } from '../../signup/signup.ts'
import type { BatchLimits } from '../delivery-log.ts'

/** A tab with signups that wait. */
export interface PendingTab {
  readonly id: number
  readonly name: string
  /** Position of its last signup in the spreadsheet. */
  readonly writtenTo: number
}

export interface StoredSignup {
  readonly position: number
  /** Size of its texts, UTF-8. */
  readonly bytes: number
  readonly signup: Signup
  /** A duplicate that gets no row. */
  readonly isIgnored: boolean
}

/** A tab's waiting signups after a position, in order, in slices that are read one after the other. */
export type PendingSlices = (
  tab: PendingTab,
  after: number,
) => AsyncIterable<readonly StoredSignup[]>

/** What a tab puts into the batch: a run of its waiting signups, the oldest first. */
export interface Share {
  readonly tab: PendingTab
  readonly stored: StoredSignup[]
}

/** `{"values":[]},` around a row, and the timestamp in it. */
const rowBytes = 15 + 24
/** `{"userEnteredValue":{"stringValue":""}},` around the text of a cell; an empty cell is `{},`. */
const cellBytes = 41
const emptyCellBytes = 3

/**
 * Fills one batch from several tabs: each gets an equal share of the rows and bytes, and what some
 * leave over goes to the others, so that a tab with a long backlog cannot hold the others back.
 *
 * `tabs` begins with the one that has waited longest; its oldest signup always goes, whatever its
 * size. `pending` is read no further than needed.
 */
export async function fillShares(
  tabs: readonly PendingTab[],
  limits: BatchLimits,
  pending: PendingSlices,
): Promise<readonly Share[]> {
  const shares: readonly Share[] = tabs.map((tab) => ({ tab, stored: [] }))
  const left = { rows: limits.rowsMax, bytes: limits.bytesMax }
  // Two rounds: equal shares first, then the rest to those that want more.
  const unsatisfied = await giveEqually(shares, left, pending)
  await giveEqually(unsatisfied, left, pending)
  return shares.filter(({ stored }) => stored.length > 0)
}

/** Divides what is left among these tabs; returns those that have more than they got. */
async function giveEqually(
  shares: readonly Share[],
  left: Left,
  pending: PendingSlices,
): Promise<readonly Share[]> {
  const unsatisfied: Share[] = []
  for (const [index, share] of shares.entries()) {
    const sharers = shares.length - index
    const floor = {
      rows: left.rows - Math.floor(left.rows / sharers),
      bytes: left.bytes - left.bytes / sharers,
    }
    const slices = pending(share.tab, share.stored.at(-1)?.position ?? share.tab.writtenTo)
    for await (const slice of slices) {
      if (give(share, slice, { left, floor, isFirst: index === 0 })) continue
      unsatisfied.push(share)
      break
    }
  }
  return unsatisfied
}

interface Left {
  rows: number
  bytes: number
}

/** Whether all of the slice fitted. The oldest of all signups does, whatever its size. */
function give(
  { stored }: Share,
  slice: readonly StoredSignup[],
  { left, floor, isFirst }: { left: Left; floor: Readonly<Left>; isFirst: boolean },
): boolean {
  for (const next of slice) {
    const bytes = requestBytes(next)
    const fits = left.rows > floor.rows && left.bytes - bytes >= floor.bytes
    const isOldestOfAll = isFirst && stored.length === 0 && left.rows > 0
    if (!fits && !isOldestOfAll) return false
    stored.push(next)
    left.rows -= 1
    left.bytes -= bytes
  }
  return true
}

/** What a row takes in a request; quotes in metadata take a little more. */
function requestBytes({ bytes, signup }: StoredSignup): number {
  const { sheetTab, name, tags, metadata } = signup
  const empty = Number(name === '') + Number(tags.length === 0) + Number(metadata === '')
  const cells = (7 - empty) * cellBytes + empty * emptyCellBytes
  return rowBytes + cells + Buffer.byteLength(sheetTab) + bytes
}
