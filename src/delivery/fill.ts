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
  // First round: equal shares. Second round: the rest goes to the tabs that have more signups.
  const unsatisfied = await giveEqually(shares, left, log, options)
  const unfitting = await giveEqually(unsatisfied, left, log, options)
  return {
    shares: shares.filter(({ signups }) => signups.length > 0),
    isFull: unfitting.length > 0,
  }
}

/** The share of a tab while it is being filled. */
interface Filling extends TabShare {
  readonly signups: WaitingSignup[]
}

/** Divides the room that is left among these tabs. Returns the tabs that have more signups than fitted. */
async function giveEqually(
  shares: readonly Filling[],
  left: { rows: number; bytes: number },
  log: Pick<DeliveryLog, 'waiting'>,
  { rowsMax, rowBytes }: FillOptions,
): Promise<readonly Filling[]> {
  const unsatisfied: Filling[] = []
  let slices: ReadonlyMap<Filling, WaitingSlice> = new Map()
  // The oldest signup of all always fits.
  const isEmpty = () => left.rows === rowsMax
  for (const [index, share] of shares.entries()) {
    const sharers = shares.length - index
    const floor = {
      rows: left.rows - Math.floor(left.rows / sharers),
      bytes: left.bytes - left.bytes / sharers,
    }
    if (left.rows <= floor.rows && !isEmpty()) {
      // It has more, or it would not be here.
      unsatisfied.push(share)
      continue
    }
    // One more than fits tells whether the tab has more.
    const wanted = () => Math.max(1, left.rows - floor.rows + 1)
    const read = ({ tab, signups }: Filling) => log.waiting(tab, signups.at(-1)?.position, wanted())
    if (!slices.has(share)) {
      const next = shares.slice(index, index + Math.ceil(readAtOnce / wanted()))
      slices = new Map(await Promise.all(next.map(async (one) => [one, await read(one)] as const)))
    }
    const take = (next: WaitingSignup): boolean => {
      const bytes = rowBytes(next.signup, next.textBytes)
      const fits = left.rows > floor.rows && left.bytes - bytes >= floor.bytes
      if (!fits && !isEmpty()) return false
      share.signups.push(next)
      left.rows -= 1
      left.bytes -= bytes
      return true
    }
    let slice = slices.get(share)
    while (slice?.signups.every(take)) slice = slice.hasMore ? await read(share) : undefined
    if (slice) unsatisfied.push(share)
  }
  return unsatisfied
}
