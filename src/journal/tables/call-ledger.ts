import { type Clock, day, minute } from '../../platform/clock.ts'
import type { Millis } from '../../signup/signup.ts'
import type { CallLedger, CallUse, Quota } from '../contracts/call-ledger.ts'
import {
  ask,
  type Database,
  flagOf,
  type Operation,
  rowOf,
  rowReader,
  statementsOf,
  type Step,
} from '../sql.ts'

/**
 * The provider counts a call when it arrives, and we count it when we send it. Our windows are longer
 * than the provider's by this, so that a slow call and a fast one after it do not arrive in one window.
 */
const travelMs = 1000

/** A little longer than the longest window. */
const keptMs = day + 60 * minute

/** Up to this difference, the ledger's time and the wall clock count as equal. */
const agreeMs = 500

const sql = statementsOf('calls', {
  after: `SELECT number, at, is_sure AS "isSure", is_removal AS "isRemoval" FROM provider_call
          WHERE account = $1 AND number > $2 ORDER BY number`,
  add: `INSERT INTO provider_call (account, number, at, is_sure, is_removal)
        VALUES ($1, $2, $3, $4, $5)`,
  // Of all accounts, as the journal does not know whose a site is.
  waiting: `SELECT EXISTS (SELECT 1 FROM removal) AS "some",
              EXISTS (SELECT 1 FROM removal WHERE NOT is_leaving) AS "first"`,
  drop: 'DELETE FROM provider_call WHERE account = $1',
  // Each call deletes up to two that are too old, so the table shrinks as it is used.
  deleteOld: `DELETE FROM provider_call WHERE account = $1 AND at < $2 AND number IN (
                SELECT number FROM provider_call WHERE account = $1 ORDER BY number LIMIT 2)`,
})

/** A call with its number, from 1 in the order of the calls, and whether the clocks agreed. */
const toCall = rowReader({ number: Number, at: Number, isSure: flagOf, isRemoval: flagOf })
type StoredCall = ReturnType<typeof toCall>
type Call = Pick<StoredCall, 'at' | 'isRemoval'>

/** Whether a removal waits, and whether one does whose person has not left by a link. */
const toWaiting = rowReader({ some: flagOf, first: flagOf })

/** What the ledger knows after a reservation. */
interface Known {
  /** Whether it knows the calls of earlier processes. */
  readonly hasBegun: boolean
  /** All calls by the ledger's own time, ascending. */
  readonly calls: readonly Call[]
  /** Number of the last call among them. */
  readonly seen: number
  /** The ledger's time `at` the moment `elapsed` of the elapsed clock. */
  readonly start: { readonly at: Millis; readonly elapsed: Millis }
}

type Clocks = Pick<Clock, 'now' | 'elapsed'>

/** The call ledger of an account: its calls that the journal has noted, and a time of its own. */
export function callLedgerOf(
  db: Pick<Database, 'transact'>,
  account: string,
  clock: Clocks,
): CallLedger {
  const start = { at: clock.now(), elapsed: clock.elapsed() }
  let known: Known = { hasBegun: false, calls: [], seen: 0, start }
  /** The last reservation that was asked for. */
  let last: Promise<unknown> = Promise.resolve()
  const reserve = async (quota: Quota, use: CallUse) => {
    const reserved = await db.transact([{ of: 'account', account }], () =>
      reserving(account, known, { quota, use }, clock),
    )
    // Only now: a transaction that failed or is repeated leaves nothing behind.
    known = reserved.known
    return reserved.wait
  }
  return {
    reserve: (quota, use = 'rows') => {
      // One at a time, because each reservation has to see the call that the one before has noted.
      const reserved = last.then(() => reserve(quota, use))
      last = reserved.catch(() => undefined)
      return reserved
    },
  }
}

function* reserving(
  account: string,
  before: Known,
  { quota, use }: { readonly quota: Quota; readonly use: CallUse },
  clock: Clocks,
): Operation<{ known: Known; wait: Millis }> {
  const [added, waiting] = yield* ask([sql.after, account, before.seen], [sql.waiting])
  const others = added.rows.map(toCall)
  const known = before.hasBegun
    ? withOthers(before, others, clock)
    : begun(before, others, quota, clock)
  const now = timeOf(known, clock)
  const isRemoval = use === 'removal'
  const own = known.calls.filter((call) => call.isRemoval === isRemoval)
  const wait = Math.max(
    waitBeforeCall(timesOf(known.calls), quota, now),
    waitBeforeCall(timesOf(own), ownQuota(quota, use, toWaiting(rowOf(waiting))), now),
  )
  if (wait > 0) return { known, wait }
  const [number, at] = [known.seen + 1, Math.ceil(now)]
  yield* ask(
    [sql.add, account, number, at, agreesWithWall(now, clock), isRemoval],
    [sql.deleteOld, account, at - keptMs],
  )
  const calls = [...known.calls, { at, isRemoval }].slice(-quota.perDay)
  return { known: { ...known, calls, seen: number }, wait }
}

/** As `CallUse` says. */
function ownQuota(quota: Quota, use: CallUse, waiting: ReturnType<typeof toWaiting>): Quota {
  const { perMinute, perDay } = quota
  if (use === 'rows') {
    const left = (calls: number) => Math.max(1, calls - Math.ceil(calls / 10))
    return waiting.some ? { perMinute: left(perMinute), perDay: left(perDay) } : quota
  }
  const half = Math.ceil(perMinute / 2)
  return { perMinute: half, perDay: waiting.first ? perDay : Math.ceil(perDay / 10) }
}

function timesOf(calls: readonly Call[]): readonly Millis[] {
  return calls.map(({ at }) => at)
}

/** The calls with a number greater than `after`, in the order of their numbers. */
export function* callsAfter(account: string, after: number): Operation<readonly StoredCall[]> {
  const [{ rows }] = yield* ask([sql.after, account, after])
  return rows.map(toCall)
}

/** Makes these the only calls of an account. @param times ascending */
export function replacingCalls(account: string, times: readonly Millis[]): readonly Step[] {
  const added = times.map((at, index): Step => [sql.add, account, index + 1, at, true, false])
  return [[sql.drop, account], ...added]
}

/**
 * Sets the ledger's time to the last call of an earlier process if that is later. Then moves the calls of
 * the last minute forward, as if the last one had been made just now.
 */
function begun(
  before: Known,
  others: readonly StoredCall[],
  { perMinute }: Quota,
  clock: Clocks,
): Known {
  const now = timeOf(before, clock)
  const calls: Call[] = others.toSorted((a, b) => a.at - b.at)
  const last = calls.at(-1)?.at ?? now
  const at = Math.max(now, last)
  const lastMinute = calls.splice(-perMinute).map((call) => {
    return { ...call, at: call.at + at - last }
  })
  return {
    hasBegun: true,
    calls: [...calls, ...lastMinute],
    seen: others.at(-1)?.number ?? 0,
    start: { at, elapsed: clock.elapsed() },
  }
}

/** Adds the calls that other processes have made since the last reservation. */
function withOthers(before: Known, others: readonly StoredCall[], clock: Clocks): Known {
  const last = others.at(-1)
  if (!last) return before
  const now = timeOf(before, clock)
  const areClocksOne = agreesWithWall(now, clock)
  const known = others.map(({ at, isSure, isRemoval }) => {
    return { at: areClocksOne && isSure ? at : now, isRemoval }
  })
  const calls = [...before.calls, ...known].sort((a, b) => a.at - b.at)
  return { ...before, calls, seen: last.number }
}

/** The ledger's own time. */
function timeOf({ start }: Known, clock: Clocks): Millis {
  return start.at + clock.elapsed() - start.elapsed
}

function agreesWithWall(now: Millis, clock: Clocks): boolean {
  return Math.abs(now - clock.now()) <= agreeMs
}

/**
 * Returns the milliseconds until one more call fits into both windows; 0 when it fits now.
 *
 * @param calls the times of the calls, ascending; at least those of the last day and a second
 */
export function waitBeforeCall(calls: readonly Millis[], quota: Quota, now: Millis): Millis {
  const waitFor = (max: number, windowMs: Millis) => {
    const oldest = calls.at(-max)
    return oldest === undefined ? 0 : Math.max(0, oldest + windowMs + travelMs - now)
  }
  return Math.max(waitFor(quota.perMinute, minute), waitFor(quota.perDay, day))
}
