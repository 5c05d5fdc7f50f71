import { numbersIn } from './fuzz-requests.ts'

/** The answers of the service to signups, by the number in the address. */
export class Ledger {
  /** The number of each accepted signup, by its id. */
  readonly #accepted = new Map<string, number>()
  /** Numbers that were accepted by an answer without an id. */
  readonly #unnamed = new Set<number>()
  /** Numbers whose answer was lost: each may be one row. */
  readonly #unknown = new Set<number>()
  readonly #disorder: string[] = []
  #latest = ''

  get size(): number {
    return this.#accepted.size
  }

  /** The greatest id so far. Signups that are sent from now on get greater ones. */
  get latest(): string {
    return this.#latest
  }

  /** @param after the greatest id that was known when the request was sent */
  accept(id: string, number: number, after: string, isReplay = false): void {
    if (!isReplay && id <= after) this.#disorder.push(`${id} was given after ${after}`)
    this.#accepted.set(id, number)
    if (id > this.#latest) this.#latest = id
  }

  /** Accepts signups of forms, whose answer is a redirect without an id. */
  acceptUnnamed(numbers: readonly number[]): void {
    for (const number of numbers) this.#unnamed.add(number)
  }

  lose(numbers: readonly number[]): void {
    for (const number of numbers) this.#unknown.add(number)
  }

  /** Where these tabs differ from the answers: rows that are missing, there twice, or in the wrong order. */
  differences(tabs: readonly (readonly string[][])[]): string[] {
    const expected = new Map([...this.#unnamed].map((number) => [number, 0]))
    for (const number of this.#accepted.values()) {
      expected.set(number, (expected.get(number) ?? 0) + 1)
    }
    for (const number of this.#unnamed) {
      if (expected.get(number) === 0) expected.set(number, 1)
    }
    const place = new Map([...this.#accepted].map(([id, number]) => [number, id]))
    const found = new Map<number, number>()
    const problems = [...this.#disorder]
    for (const rows of tabs) {
      let before = ''
      for (const [address = ''] of rows) {
        const number = numbersIn(address)[0] ?? -1
        found.set(number, (found.get(number) ?? 0) + 1)
        const id = place.get(number) ?? before
        if (id < before) problems.push(`the row of ${number} stands below a later one`)
        before = id
      }
    }
    for (const number of new Set([...expected.keys(), ...found.keys()])) {
      const rows = found.get(number) ?? 0
      const wanted = expected.get(number) ?? 0
      const isLost = this.#unknown.has(number) && rows === 1
      if (rows !== wanted && !isLost) problems.push(`${number}: ${rows} rows instead of ${wanted}`)
    }
    return problems
  }
}
