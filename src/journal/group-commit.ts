interface Waiting<In, Out> {
  readonly item: In
  readonly resolve: (result: Out) => void
  readonly reject: (reason: unknown) => void
}

/**
 * Group commit: what arrives in one turn of the event loop is committed together, and each caller
 * waits for that one commit. `commit` is given the items in order of arrival and returns one result
 * for each; it changes nothing when it throws. Then each item is tried alone, so that one that cannot
 * be committed does not take the others with it.
 */
export class GroupCommit<In, Out> {
  readonly #commit: (items: readonly In[]) => readonly Out[]
  #waiting: Waiting<In, Out>[] = []

  constructor(commit: (items: readonly In[]) => readonly Out[]) {
    this.#commit = commit
  }

  add(item: In): Promise<Out> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject })
      // setImmediate runs after the poll phase: after every request that is readable now.
      if (this.#waiting.length === 1) setImmediate(() => this.flush())
    })
  }

  /** Commits what waits, now. */
  flush(): void {
    const group = this.#waiting
    this.#waiting = []
    if (group.length > 0) this.#commitGroup(group)
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
