import type {
  DeliveryLog,
  PendingTab,
  TabShare,
  WaitingSignup,
  WaitingSlice,
} from '../journal/contracts/delivery-log.ts'
import type { Profile } from '../spreadsheet/spreadsheet.ts'

export type FillOptions = Pick<Profile, 'rowsMax' | 'bytesMax' | 'rowBytes'>

/** How many signups are asked for at once, of several tabs from which few are wanted. */
const readAtOnce = 2000

/** What the next batch would hold. */
export interface Filled {
  readonly shares: readonly TabShare[]
  /** Whether more signups wait than fit, so that waiting would not make the batch larger. */
  readonly isFull: boolean
}

/**
 * Fills one batch from several tabs. Each tab gets an equal share of the rows and bytes, and unused
 * shares go to the other tabs, so that a tab with a long backlog cannot hold the others back.
 *
 * `tabs` begins with the tab that has waited longest. Its oldest signup always goes in, whatever its
 * size. The log is read little further than needed.
 */
export async function fillBatch(
  log: Pick<DeliveryLog, 'waiting'>,
  tabs: readonly PendingTab[],
  options: FillOptions,
): Promise<Filled> {
  const shares = tabs.map((tab): Filling => ({ tab, signups: [] }))
  const left = { rows: options.rowsMax, bytes: options.bytesMax }
  const giving = { log, left, options, first: shares[0] }
  // First round: equal shares. Second round: the rest goes to the tabs that have more signups.
  const unsatisfied = await giveEqually(shares, giving)
  const unfitting = await giveEqually(unsatisfied, giving)
  return {
    shares: shares.filter(({ signups }) => signups.length > 0),
    isFull: unfitting.length > 0,
  }
}

/** The share of a tab while it is being filled. */
interface Filling extends TabShare {
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
  /** Of the tab that has waited longest. */
  readonly first: Filling | undefined
}

/** Divides the remaining room among these tabs. Returns the tabs that have more signups than fitted. */
async function giveEqually(
  shares: readonly Filling[],
  giving: Giving,
): Promise<readonly Filling[]> {
  const { log, left, first } = giving
  const unsatisfied: Filling[] = []
  let slices: ReadonlyMap<Filling, WaitingSlice> = new Map()
  for (const [index, share] of shares.entries()) {
    const sharers = shares.length - index
    const floor = {
      rows: left.rows - Math.floor(left.rows / sharers),
      bytes: left.bytes - left.bytes / sharers,
    }
    const isOldestOfAll = share === first && share.signups.length === 0
    if (left.rows <= floor.rows && !isOldestOfAll) {
      // It has more, or it would not be here.
      unsatisfied.push(share)
      continue
    }
    // One more than fits tells whether the tab has more.
    const wanted = () => Math.max(1, left.rows - floor.rows + 1)
    if (!slices.has(share)) {
      const next = shares.slice(index, index + Math.ceil(readAtOnce / wanted()))
      slices = await readTogether(log, next, wanted())
    }
    const more = () => log.waiting(share.tab, share.signups.at(-1)?.position, wanted())
    for (let slice = slices.get(share); slice; slice = slice.hasMore ? await more() : undefined) {
      if (give(share, slice.signups, floor, giving)) continue
      unsatisfied.push(share)
      break
    }
  }
  return unsatisfied
}

/** The next slice of each of these tabs. */
async function readTogether(
  log: Pick<DeliveryLog, 'waiting'>,
  shares: readonly Filling[],
  wanted: number,
): Promise<ReadonlyMap<Filling, WaitingSlice>> {
  const slices = shares.map(async (share) => {
    const slice = await log.waiting(share.tab, share.signups.at(-1)?.position, wanted)
    return [share, slice] as const
  })
  return new Map(await Promise.all(slices))
}

/** Adds a slice. Returns whether all of it fitted. The oldest of all signups always fits. */
function give(
  share: Filling,
  slice: readonly WaitingSignup[],
  floor: Readonly<Left>,
  { left, options, first }: Giving,
): boolean {
  const { signups } = share
  for (const next of slice) {
    const bytes = options.rowBytes(next.signup, next.textBytes)
    const fits = left.rows > floor.rows && left.bytes - bytes >= floor.bytes
    const isOldestOfAll = share === first && signups.length === 0
    if (!fits && !isOldestOfAll) return false
    signups.push(next)
    left.rows -= 1
    left.bytes -= bytes
  }
  return true
}
