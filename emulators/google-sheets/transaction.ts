/**
 * Records how to undo each change of a batch, so that an invalid request can undo the whole batch. The cost
 * depends on the batch and not on the size of the spreadsheet.
 */
export class Transaction {
  readonly #undo: (() => void)[] = []

  /** Sets a property. A rollback restores the old value. */
  assign<T extends object, K extends keyof T>(target: T, key: K, value: T[K]): void {
    const before = target[key]
    this.#undo.push(() => {
      target[key] = before
    })
    target[key] = value
  }

  mapSet<K, V>(map: Map<K, V>, key: K, value: V): void {
    const before = map.get(key)
    const existed = map.has(key)
    this.#undo.push(() => {
      if (existed && before !== undefined) map.set(key, before)
      else map.delete(key)
    })
    map.set(key, value)
  }

  /** Removes an entry. A rollback puts it back in its place. */
  mapDelete<K, V>(map: Map<K, V>, key: K): void {
    const before = [...map]
    this.#undo.push(() => {
      map.clear()
      for (const [oldKey, value] of before) map.set(oldKey, value)
    })
    map.delete(key)
  }

  /** Writes one element, which can be beyond the end of the list. */
  setAt<T>(list: (T | undefined)[], index: number, value: T | undefined): void {
    const length = list.length
    const before = list[index]
    this.#undo.push(() => {
      if (index < length) list[index] = before
      else list.length = length
    })
    while (list.length < index) list.push(undefined)
    list[index] = value
  }

  rollback(): void {
    for (let undo = this.#undo.pop(); undo; undo = this.#undo.pop()) undo()
  }
}
