export interface PlacesOptions {
  /** Of all together. */
  readonly max: number
  /** Of one client address. */
  readonly addressMax: number
}

/** A bounded number of places, of which no client address gets more than its share. */
export class Places {
  readonly #max: number
  readonly #addressMax: number
  readonly #byAddress = new Map<string, number>()
  #taken = 0

  constructor({ max, addressMax }: PlacesOptions) {
    this.#max = max
    this.#addressMax = addressMax
  }

  /** How many are taken. */
  get taken(): number {
    return this.#taken
  }

  /**
   * Takes so many places, or none when there are not so many left.
   *
   * @param address undefined: of a client that is not told apart from others, and has no share
   * @returns whether they were taken; `free` as many then
   */
  take(address: string | undefined, count = 1): boolean {
    if (this.#taken + count > this.#max) return false
    if (address !== undefined) {
      const held = (this.#byAddress.get(address) ?? 0) + count
      if (held > this.#addressMax) return false
      this.#byAddress.set(address, held)
    }
    this.#taken += count
    return true
  }

  free(address: string | undefined, count = 1): void {
    this.#taken -= count
    if (address === undefined) return
    const held = (this.#byAddress.get(address) ?? 0) - count
    if (held > 0) this.#byAddress.set(address, held)
    else this.#byAddress.delete(address)
  }
}
