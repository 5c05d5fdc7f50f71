/** The visitors who wait until a tab is written up to a position, ordered by that position. */
export class WaitLine<Visitor> {
  readonly #entries: { readonly position: number; readonly visitor: Visitor }[] = []

  join(visitor: Visitor, position: number): void {
    this.#entries.splice(this.#countUpTo(position), 0, { position, visitor })
  }

  /** @param position the position that the visitor joined with */
  leave(visitor: Visitor, position: number): void {
    for (let at = this.#countUpTo(position - 1); at < this.#entries.length; at++) {
      if (this.#entries[at]?.visitor === visitor) return void this.#entries.splice(at, 1)
    }
  }

  /** Removes and returns the visitors who wait for this position or an earlier one. */
  takeUpTo(position: number): readonly Visitor[] {
    return this.#entries.splice(0, this.#countUpTo(position)).map(({ visitor }) => visitor)
  }

  /** How many visitors wait for this position or an earlier one. A binary search. */
  #countUpTo(position: number): number {
    let low = 0
    let high = this.#entries.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#entries[middle]?.position ?? 0) <= position) low = middle + 1
      else high = middle
    }
    return low
  }
}
