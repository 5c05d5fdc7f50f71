export interface BudgetLimits {
  readonly max: number
  readonly clientMax: number
}

/**
 * What clients hold at the same time, such as places or bytes: so much in all, and so much for each of them.
 * A client that holds nothing takes no memory.
 */
export class Budget {
  readonly max: number
  readonly #clientMax: number
  readonly #byClient = new Map<string, number>()
  #taken = 0

  constructor({ max, clientMax }: BudgetLimits) {
    this.max = max
    this.#clientMax = clientMax
  }

  get taken(): number {
    return this.#taken
  }

  get clients(): number {
    return this.#byClient.size
  }

  /**
   * Takes all of `amount`, or nothing when too little is left.
   *
   * @param client undefined for one that only the limit of all counts
   * @param clientMax for a client that may hold more or less than others
   * @returns whether it was taken; if so, give it back with `free`
   */
  take(client: string | undefined, amount = 1, clientMax = this.#clientMax): boolean {
    if (this.#taken + amount > this.max) return false
    if (client !== undefined && (this.#byClient.get(client) ?? 0) + amount > clientMax) return false
    this.#add(client, amount)
    return true
  }

  free(client: string | undefined, amount = 1): void {
    this.#add(client, -amount)
  }

  #add(client: string | undefined, amount: number): void {
    this.#taken += amount
    if (client === undefined) return
    const held = (this.#byClient.get(client) ?? 0) + amount
    if (held > 0) this.#byClient.set(client, held)
    else this.#byClient.delete(client)
  }
}
