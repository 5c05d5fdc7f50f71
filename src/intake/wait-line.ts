/** Those who wait for a tab to be written up to some position, in the order of these positions. */
export class WaitLine<Visitor> {
  readonly #entries: { readonly position: number; readonly visitor: Visitor }[] = []

  join(visitor: Visitor, position: number): void {
    this.#entries.splice(this.#countUpTo(position), 0, { position, visitor })
  }

  /** @param position the one that the visitor has joined with */
  leave(visitor: Visitor, position: number): void {
    for (let at = this.#countUpTo(position - 1); at < this.#entries.length; at++) {
      if (this.#entries[at]?.visitor === visitor) return void this.#entries.splice(at, 1)
    }
  }

  /** Takes those out who wait for no later position: what others wait for costs nothing. */
  takeUpTo(position: number): readonly Visitor[] {
    return this.#entries.splice(0, this.#countUpTo(position)).map(({ visitor }) => visitor)
  }

  /** How many stand at this position or before it, by halving. */
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
