/** How much of everything a run measures. */
export interface Sizes {
  readonly rounds: number
  /** Of one slice under load, whole seconds: wrk knows no less. */
  readonly sliceSeconds: number
  readonly warmUpSeconds: number
  /** How many signups a large journal holds; the issue speaks of a million. */
  readonly large: number
  /** And a small one. */
  readonly small: number
  /** Of the smaller backlog that is delivered. */
  readonly backlog: number
  readonly bulkItems: number
}

export const fullSizes: Sizes = {
  rounds: 7,
  sliceSeconds: 2,
  warmUpSeconds: 3,
  large: 1_000_000,
  small: 1_000,
  backlog: 100_000,
  bulkItems: 1_000,
}

/** Seconds in all: they show that everything still runs, and say nothing of speed. */
export const quickSizes: Sizes = {
  rounds: 1,
  sliceSeconds: 1,
  warmUpSeconds: 0,
  large: 2_000,
  small: 500,
  backlog: 1_000,
  bulkItems: 100,
}

/** One line of the table. */
export interface Scenario {
  /** By which it is selected: kebab-case. */
  readonly name: string
  readonly what: string
  readonly unit: string
  /** `>= 0.5` or `<= 20`; the aim as well. */
  readonly reach: Bound
  readonly aim: Bound
  run(sizes: Sizes): Promise<Measured>
}

export interface Bound {
  readonly isAtLeast: boolean
  readonly value: number
}

export const atLeast = (value: number): Bound => ({ isAtLeast: true, value })
export const atMost = (value: number): Bound => ({ isAtLeast: false, value })

/** One value for each round, and what helps to understand them. */
export interface Measured {
  readonly values: readonly number[]
  readonly note: string
}

export function meets(value: number, { isAtLeast, value: bound }: Bound): boolean {
  return isAtLeast ? value >= bound : value <= bound
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const [upper = Number.NaN, lower = upper] = [sorted[middle], sorted[middle - 1]]
  return sorted.length % 2 === 1 ? upper : (lower + upper) / 2
}
