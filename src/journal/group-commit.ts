import type { Clock } from '../platform/clock.ts'
import type { Millis } from '../signup/signup.ts'
import { busy, JournalBusy, OutcomeUnknown } from './contracts/unavailable.ts'

interface Waiting<In, Out> {
  readonly item: In
  readonly resolve: (result: Out) => void
  readonly reject: (reason: unknown) => void
}

/**
 * Group commit: items that arrive together share one commit, and each caller waits for it. A group
 * takes in the items of one turn of the event loop, and of the following turns as long as each brings
 * more, but for no longer than a commit takes. So a slow disk gets fewer and larger commits.
 *
 * `commit` gets the items in order of arrival and returns one result for each. When it throws, it must
 * have changed nothing, or `OutcomeUnknown`; each item of the group is then committed alone, so that a bad item fails alone.
 * When it throws `JournalBusy`, because another process is writing, the group waits and may grow.
 */
export class GroupCommit<In, Out> {
  readonly #commit: (items: readonly In[]) => readonly Out[]
  readonly #clock: Pick<Clock, 'elapsed' | 'sleep'>
  #waiting: Waiting<In, Out>[] = []
  /** How long the last two commits took. The shorter one counts, because a commit may hang once. */
  #took: readonly [Millis, Millis] = [0, 0]
  /** Since when another process has kept this one from committing. */
  #busySince: Millis | undefined

  constructor(
    commit: (items: readonly In[]) => readonly Out[],
    clock: Pick<Clock, 'elapsed' | 'sleep'>,
  ) {
    this.#commit = commit
    this.#clock = clock
  }

  add(item: In): Promise<Out> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject })
      if (this.#waiting.length === 1)
        this.#gather(0, this.#clock.elapsed() + Math.min(...this.#took))
    })
  }

  /** Commits after the first turn that adds nothing to the `seen` items, or at the time `until`. */
  #gather(seen: number, until: Millis): void {
    // setImmediate runs after the poll phase, so the group gets every request that is readable now.
    setImmediate(() => {
      const count = this.#waiting.length
      if (count > seen && this.#clock.elapsed() < until) this.#gather(count, until)
      else this.#flush()
    })
  }

  /** Commits all waiting items, as soon as no other process is writing. */
  async drain(): Promise<void> {
    this.#flush()
    while (this.#waiting.length > 0) {
      await this.#clock.sleep(busy.retryMs)
      this.#flush()
    }
  }

  #flush(): void {
    const group = this.#waiting
    this.#waiting = []
    if (group.length === 0) return
    const began = this.#clock.elapsed()
    try {
      this.#commitGroup(group)
      this.#busySince = undefined
    } catch (error) {
      this.#putBack(group, began, error)
    }
    this.#took = [this.#took[1], this.#clock.elapsed() - began]
  }

  /** Tries the group again after a moment. Rejects it when another process has been writing for too long. */
  #putBack(group: readonly Waiting<In, Out>[], now: Millis, error: unknown): void {
    this.#busySince ??= now
    if (now - this.#busySince >= busy.maxMs) {
      this.#busySince = undefined
      for (const { reject } of group) reject(error)
      return
    }
    this.#waiting = [...group, ...this.#waiting]
    void this.#clock.sleep(busy.retryMs).then(() => this.#flush())
  }

  /**
   * @param before why the commit of more items failed that had these among them
   * @throws JournalBusy when no item was committed
   */
  #commitGroup(group: readonly Waiting<In, Out>[], before?: unknown): void {
    try {
      const results = this.#commit(group.map(({ item }) => item))
      group.forEach(({ resolve }, index) => resolve(results[index] as Out))
    } catch (error) {
      if (error instanceof JournalBusy) throw error
      if (group.length > 1) for (const waiting of group) this.#commitAlone(waiting, error)
      else group[0]?.reject(reasonAfter(before, error))
    }
  }

  #commitAlone(waiting: Waiting<In, Out>, before: unknown): void {
    try {
      this.#commitGroup([waiting], before)
    } catch (error) {
      waiting.reject(reasonAfter(before, error))
    }
  }
}

/** What the first commit may have stored, a second one that fails does not take back. */
function reasonAfter(before: unknown, error: unknown): unknown {
  return before instanceof OutcomeUnknown ? before : error
}
