import type { DeliveryLog, PendingTab, Share, WaitingSignup } from '../journal/delivery-log.ts'
import type { Profile } from '../spreadsheet/spreadsheet.ts'

export type FillOptions = Pick<Profile, 'rowsMax' | 'bytesMax' | 'rowBytes'>

/**
 * Fills one batch from several tabs: each gets an equal share of the rows and bytes, and what some
 * leave over goes to the others, so that a tab with a long backlog cannot hold the others back.
 *
 * `tabs` begins with the one that has waited longest; its oldest signup always goes, whatever its
 * size. The log is read no further than needed.
 */
export async function fillBatch(
  log: Pick<DeliveryLog, 'waiting'>,
  tabs: readonly PendingTab[],
  options: FillOptions,
): Promise<readonly Share[]> {
  const shares = tabs.map((tab): Filling => ({ tab, signups: [] }))
  const left = { rows: options.rowsMax, bytes: options.bytesMax }
  const giving = { log, left, options }
  // Two rounds: equal shares first, then the rest to those that want more.
  const unsatisfied = await giveEqually(shares, giving)
  await giveEqually(unsatisfied, giving)
  return shares.filter(({ signups }) => signups.length > 0)
}

/** A share that still grows. */
interface Filling extends Share {
  readonly signups: WaitingSignup[]
}

interface Left {
  rows: number
  bytes: number
}

interface Giving {
  readonly log: Pick<DeliveryLog, 'waiting'>
  readonly left: Left
  readonly options: FillOptions
}

/** Divides what is left among these tabs; returns those that have more than they got. */
async function giveEqually(
  shares: readonly Filling[],
  { log, left, options }: Giving,
): Promise<readonly Filling[]> {
  const unsatisfied: Filling[] = []
  for (const [index, share] of shares.entries()) {
    const sharers = shares.length - index
    const floor = {
      rows: left.rows - Math.floor(left.rows / sharers),
      bytes: left.bytes - left.bytes / sharers,
    }
    const room = { left, floor, isFirst: index === 0, options }
    for (let hasMore = true; hasMore;) {
      const slice = await log.waiting(share.tab, share.signups.at(-1)?.position)
      hasMore = slice.hasMore
      if (give(share, slice.signups, room)) continue
      unsatisfied.push(share)
      break
    }
  }
  return unsatisfied
}

/** Whether all of the slice fitted. The oldest of all signups does, whatever its size. */
function give(
  { signups }: Filling,
  slice: readonly WaitingSignup[],
  { left, floor, isFirst, options }: Room,
): boolean {
  for (const next of slice) {
    const bytes = options.rowBytes(next.signup, next.textBytes)
    const fits = left.rows > floor.rows && left.bytes - bytes >= floor.bytes
    const isOldestOfAll = isFirst && signups.length === 0 && left.rows > 0
    if (!fits && !isOldestOfAll) return false
    signups.push(next)
    left.rows -= 1
    left.bytes -= bytes
  }
  return true
}

interface Room extends Pick<Giving, 'left' | 'options'> {
  readonly floor: Readonly<Left>
  /** Whether the tab has waited longest. */
  readonly isFirst: boolean
}
