/** How much of something each client holds. A client that holds nothing takes no memory. */
export class HeldByClient {
  readonly #held = new Map<string, number>()

  /** How much this client holds. */
  of(client: string): number {
    return this.#held.get(client) ?? 0
  }

  /** @param more negative when the client gives back */
  add(client: string, more: number): void {
    const held = this.of(client) + more
    if (held > 0) this.#held.set(client, held)
    else this.#held.delete(client)
  }

  /** How many clients hold something. */
  get clients(): number {
    return this.#held.size
  }
}
