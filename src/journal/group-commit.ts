import type { Clock } from '../platform/clock.ts'
import type { Millis } from '../signup/signup.ts'

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
 * others with it.
 */
export class GroupCommit<In, Out> {
  readonly #commit: (items: readonly In[]) => readonly Out[]
  readonly #clock: Pick<Clock, 'elapsed'>
  #waiting: Waiting<In, Out>[] = []
  /** How long the last two commits took: one that hung says nothing of the disk. */
  #took: readonly [Millis, Millis] = [0, 0]

  constructor(commit: (items: readonly In[]) => readonly Out[], clock: Pick<Clock, 'elapsed'>) {
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
      else this.flush()
    })
  }

  /** Commits what waits, now. */
  flush(): void {
    const group = this.#waiting
    this.#waiting = []
    if (group.length === 0) return
    const began = this.#clock.elapsed()
    this.#commitGroup(group)
    this.#took = [this.#took[1], this.#clock.elapsed() - began]
  }

  #commitGroup(group: readonly Waiting<In, Out>[]): void {
    try {
      const results = this.#commit(group.map(({ item }) => item))
      group.forEach(({ resolve }, index) => resolve(results[index] as Out))
    } catch (error) {
      if (group.length > 1) for (const waiting of group) this.#commitGroup([waiting])
      else group[0]?.reject(error)
    }
  }
}
