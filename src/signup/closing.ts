import { type Millis, tabKey } from './signup.ts'

/** When a site takes no more signups, or where it puts those beyond its seats. Without members, it stays open. */
export interface Closing {
  /** From when on it takes none. */
  readonly at?: Millis | undefined
  /** How many seats it has. */
  readonly after?: number | undefined
  /** The tab of those that come when all seats are taken. Nobody can name it. */
  readonly overflowTab?: string | undefined
}

/** The key of the overflow tab; undefined when there is none. */
export function overflowKeyOf({ overflowTab }: Closing = {}): string | undefined {
  return overflowTab === undefined ? undefined : tabKey(overflowTab)
}

/** The problem of a signup that comes too late. */
export const closedProblem = { field: '', message: 'This site takes no more signups.' } as const

/** Whether a site closes, or gets a waiting list, some day. */
export const closes = ({ at, after }: Closing): boolean => at !== undefined || after !== undefined

/** What becomes of a new signup: it gets a seat, it goes to the overflow tab, or it is refused. */
export type Openness = 'open' | 'overflow' | 'closed'

/** @param isFull whether all seats are taken */
export function opennessOf(
  { at = Infinity, overflowTab }: Closing,
  { now, isFull }: { readonly now: Millis; readonly isFull: boolean },
): Openness {
  if (now >= at) return 'closed'
  if (!isFull) return 'open'
  return overflowTab === undefined ? 'closed' : 'overflow'
}
