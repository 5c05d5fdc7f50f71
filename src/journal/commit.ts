import type { Millis } from '../signup/signup.ts'
import type { Listeners } from './listeners.ts'

/** A commit that put signups on disk. */
export interface Commit {
  /** At least 1. */
  readonly signups: number
  /** From its begin until it was on disk. */
  readonly ms: Millis
}

/** What became of a request to append signups. */
interface AppendOutcome {
  readonly kind: string
  readonly results?: readonly unknown[]
}

/** How many signups the requests with these outcomes have added. */
export function addedBy(outcomes: readonly AppendOutcome[]): number {
  let added = 0
  for (const { kind, results = [] } of outcomes) {
    if (kind !== 'appended') continue
    for (const result of results) if (result !== undefined) added += 1
  }
  return added
}

/** Tells of a commit with these outcomes, unless it added nothing. */
export function tellCommit(
  committed: Listeners<Commit>,
  outcomes: readonly AppendOutcome[],
  ms: Millis,
): void {
  if (!committed.hasAny) return
  const signups = addedBy(outcomes)
  if (signups > 0) committed.tell({ signups, ms })
}
