import { type Clock, day, minute } from '../../platform/clock.ts'
import type { Millis } from '../../signup/signup.ts'
import type { CallLedger, Quota } from '../contracts/call-ledger.ts'
import {
  ask,
  type Database,
  flagOf,
  type Operation,
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
  after: `SELECT number, at, is_sure AS "isSure" FROM provider_call
          WHERE account = $1 AND number > $2 ORDER BY number`,
  add: 'INSERT INTO provider_call (account, number, at, is_sure) VALUES ($1, $2, $3, $4)',
  drop: 'DELETE FROM provider_call WHERE account = $1',
  // Each call deletes up to two that are too old, so the table shrinks as it is used.
  deleteOld: `DELETE FROM provider_call WHERE account = $1 AND at < $2 AND number IN (
                SELECT number FROM provider_call WHERE account = $1 ORDER BY number LIMIT 2)`,
})

/** A call with its number, from 1 in the order of the calls, and whether the clocks agreed. */
const toCall = rowReader({ number: Number, at: Number, isSure: flagOf })
type StoredCall = ReturnType<typeof toCall>

/** What the ledger knows after a reservation. */
interface Known {
  /** Whether it knows the calls of earlier processes. */
  readonly hasBegun: boolean
  /** The times of all calls by the ledger's own time, ascending. */
  readonly calls: readonly Millis[]
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
  const reserve = async (quota: Quota) => {
    const reserved = await db.transact([{ of: 'account', account }], () =>
      reserving(account, known, quota, clock),
    )
    // Only now: a transaction that failed or is repeated leaves nothing behind.
    known = reserved.known
    return reserved.wait
  }
  return {
    reserve: (quota) => {
      // One at a time, because each reservation has to see the call that the one before has noted.
      const reserved = last.then(() => reserve(quota))
      last = reserved.catch(() => undefined)
      return reserved
    },
  }
}

function* reserving(
  account: string,
  before: Known,
  quota: Quota,
  clock: Clocks,
): Operation<{ known: Known; wait: Millis }> {
  const others = yield* callsAfter(account, before.seen)
  const known = before.hasBegun
    ? withOthers(before, others, clock)
    : begun(before, others, quota, clock)
  const now = timeOf(known, clock)
  const wait = waitBeforeCall(known.calls, quota, now)
  if (wait > 0) return { known, wait }
  const [number, at] = [known.seen + 1, Math.ceil(now)]
  yield* ask(
    [sql.add, account, number, at, agreesWithWall(now, clock)],
    [sql.deleteOld, account, at - keptMs],
  )
  const calls = [...known.calls, at].slice(-quota.perDay)
  return { known: { ...known, calls, seen: number }, wait }
}

/** The calls with a number greater than `after`, in the order of their numbers. */
export function* callsAfter(account: string, after: number): Operation<readonly StoredCall[]> {
  const [{ rows }] = yield* ask([sql.after, account, after])
  return rows.map(toCall)
}

/** Makes these the only calls of an account. @param times ascending */
export function replacingCalls(account: string, times: readonly Millis[]): readonly Step[] {
  const added = times.map((at, index): Step => [sql.add, account, index + 1, at, true])
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
  const calls = others.map(({ at }) => at).sort((a, b) => a - b)
  const last = calls.at(-1) ?? now
  const at = Math.max(now, last)
  const lastMinute = calls.splice(-perMinute).map((call) => call + at - last)
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
  const times = others.map(({ at, isSure }) => (areClocksOne && isSure ? at : now))
  const calls = [...before.calls, ...times].sort((a, b) => a - b)
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
