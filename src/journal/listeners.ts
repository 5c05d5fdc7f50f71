import type { Millis } from '../signup/signup.ts'
import type { Commit } from './contracts/journal.ts'

/** A list of listeners to one kind of event. */
export class Listeners<T> {
  readonly #listeners = new Set<(news: T) => void>()

  /** Returns a function that removes the listener. */
  add(listener: (news: T) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  get hasAny(): boolean {
    return this.#listeners.size > 0
  }

  tell(news: T): void {
    for (const listener of this.#listeners) listener(news)
  }
}

/** What became of a request to append signups. */
export interface AppendOutcome {
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
