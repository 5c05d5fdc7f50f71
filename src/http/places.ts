import { HeldByClient } from './held-by-client.ts'

export interface PlacesOptions {
  /** The limit for all clients together. */
  readonly max: number
  /** The limit for one client address. */
  readonly addressMax: number
}

/** A bounded number of places. One client address gets at most `addressMax` of them. */
export class Places {
  readonly #max: number
  readonly #addressMax: number
  readonly #byAddress = new HeldByClient()
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
   * Takes `count` places, or none when too few are left.
   *
   * @param address undefined for a client that is not counted by its address
   * @returns whether the places were taken; if so, give them back with `free`
   */
  take(address: string | undefined, count = 1): boolean {
    if (this.#taken + count > this.#max) return false
    if (address !== undefined) {
      if (this.#byAddress.of(address) + count > this.#addressMax) return false
      this.#byAddress.add(address, count)
    }
    this.#taken += count
    return true
  }

  free(address: string | undefined, count = 1): void {
    this.#taken -= count
    if (address !== undefined) this.#byAddress.add(address, -count)
  }
}
