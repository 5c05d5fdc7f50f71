import type { State } from './world.ts'

/** The service waits for a minute at most before it tries again. */
const comesWithinMs = 90_000

/** Whether rows that are missing will not come by themselves any more. */
export function isLost({ missing, unanswered, quietMs }: State): boolean {
  return missing > 0 && unanswered === 0 && quietMs >= comesWithinMs
}

/** A sentence about the numbers, and its class on the page. */
export function verdictOf(state: State): readonly [sentence: string, kind: string] {
  const { made, answered, unanswered, missing, double } = state
  const all = Object.values(made)
  if (double > 0) return ['It is broken: somebody has two rows.', 'bad']
  if (all.length === 0) return ['Nothing was pressed yet.', '']
  if (unanswered > 0 || all.some(({ isRunning }) => isRunning)) return ['Breaking it …', 'waits']
  if (isLost(state)) {
    const reason = 'Somebody deleted them in the sheet, or it is broken.'
    return [`Rows are missing: ${missing}. ${reason}`, 'bad']
  }
  if (missing > 0) {
    const backoff = 'After each failure the service waits longer, for a minute at most.'
    return [`Rows to come: ${missing}. ${backoff}`, 'waits']
  }
  return [`Each of the ${answered.toLocaleString('en')} who were answered has one row.`, 'good']
}
