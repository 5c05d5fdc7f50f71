import type { Clock } from '../platform/clock.ts'
import type { Millis } from '../signup/signup.ts'
import { busy, JournalBusy } from './unavailable.ts'

interface Waiting<In, Out> {
  readonly item: In
  readonly resolve: (result: Out) => void
  readonly reject: (reason: unknown) => void
}

/**
 * Group commit: what arrives together is committed together, and each caller waits for that one
 * commit. Together is one turn of the event loop, and the next ones as long as each brings more, but
 * no longer than a commit takes: where the disk is slow, commits are fewer and larger.
 *
 * `commit` is given the items in order of arrival and returns one result for each; it changes nothing
 * when it throws. Then each item is tried alone, so that one that cannot be committed does not take the
 * others with it. While another process is writing, which is a `JournalBusy`, the group waits and grows.
 */
export class GroupCommit<In, Out> {
  readonly #commit: (items: readonly In[]) => readonly Out[]
  readonly #clock: Pick<Clock, 'elapsed' | 'sleep'>
  #waiting: Waiting<In, Out>[] = []
  /** How long the last two commits took: one that hung says nothing of the disk. */
  #took: readonly [Millis, Millis] = [0, 0]
  /** Since when another process keeps what waits from being committed. */
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

  /** Commits after this turn, or one that brings nothing more than the `seen` ones. */
  #gather(seen: number, until: Millis): void {
    // setImmediate runs after the poll phase: after every request that is readable now.
    setImmediate(() => {
      const count = this.#waiting.length
      if (count > seen && this.#clock.elapsed() < until) this.#gather(count, until)
      else this.#flush()
    })
  }

  /** Commits what waits, as soon as no other process is writing. */
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

  /** Nothing of the group was committed: tries it again in a moment, but not for ever. */
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

  /** @throws JournalBusy when none was committed */
  #commitGroup(group: readonly Waiting<In, Out>[]): void {
    try {
      const results = this.#commit(group.map(({ item }) => item))
      group.forEach(({ resolve }, index) => resolve(results[index] as Out))
    } catch (error) {
      if (error instanceof JournalBusy) throw error
      if (group.length > 1) for (const waiting of group) this.#commitAlone(waiting)
      else group[0]?.reject(error)
    }
  }

  #commitAlone(waiting: Waiting<In, Out>): void {
    try {
      this.#commitGroup([waiting])
    } catch (error) {
      waiting.reject(error)
    }
  }
}
