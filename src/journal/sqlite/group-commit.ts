import type { Clock } from '../../platform/clock.ts'
import type { Millis } from '../../signup/signup.ts'
import { busy, JournalBusy, OutcomeUnknown } from '../contracts/errors.ts'

interface Waiting<In, Out> {
  readonly item: In
  readonly resolve: (result: Out) => void
  readonly reject: (reason: unknown) => void
}

/**
 * Group commit: items that arrive together share one commit, and each caller waits for it. A group
 * takes in the items of one turn of the event loop, and of the following turns as long as each brings
 * more, but for no longer than a commit takes, or its first turn took. So a slow disk gets larger commits,
 * and newcomers get in during a rush: Node accepts one connection a turn.
 *
 * `commit` gets the items in order of arrival and returns one result for each. When it throws, it must
 * have changed nothing, or it throws `OutcomeUnknown`. Each item is then committed alone, so that a bad item
 * fails alone. When it throws `JournalBusy`, as another process is writing, the group waits and may grow.
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
      if (this.#waiting.length === 1) this.#gather(0, this.#clock.elapsed())
    })
  }

  /** Commits after the first turn that adds nothing to the `seen` items, or at the time `until`. */
  #gather(seen: number, begun: Millis, until?: Millis): void {
    // setImmediate runs after the poll phase, so the group gets every request that is readable now.
    setImmediate(() => {
      const now = this.#clock.elapsed()
      const end = until ?? now + Math.max(Math.min(...this.#took), now - begun)
      const count = this.#waiting.length
      if (count > seen && now < end) this.#gather(count, begun, end)
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
    const failure = this.#failureOf(group)
    if (failure instanceof JournalBusy) this.#putBack(group, began, failure)
    else {
      this.#busySince = undefined
      if (failure !== undefined) this.#commitEach(group, failure)
    }
    this.#took = [this.#took[1], this.#clock.elapsed() - began]
  }

  /** Tries the group again after a moment. Rejects it when another process has been writing for too long. */
  #putBack(group: readonly Waiting<In, Out>[], now: Millis, error: JournalBusy): void {
    this.#busySince ??= now
    if (now - this.#busySince >= busy.maxMs) {
      this.#busySince = undefined
      for (const { reject } of group) reject(error)
      return
    }
    this.#waiting = [...group, ...this.#waiting]
    void this.#clock.sleep(busy.retryMs).then(() => this.#flush())
  }

  /** @param before why the commit of all of them failed */
  #commitEach(group: readonly Waiting<In, Out>[], before: unknown): void {
    for (const waiting of group) {
      const failure = group.length === 1 ? before : this.#failureOf([waiting])
      if (failure === undefined) continue
      // What the first commit may have stored, a second one that fails does not take back.
      waiting.reject(before instanceof OutcomeUnknown ? before : failure)
    }
  }

  /** Commits these items. Returns why that has failed; undefined when it has not. */
  #failureOf(group: readonly Waiting<In, Out>[]): unknown {
    try {
      const results = this.#commit(group.map(({ item }) => item))
      group.forEach(({ resolve }, index) => resolve(results[index] as Out))
      return undefined
    } catch (error) {
      return error
    }
  }
}
