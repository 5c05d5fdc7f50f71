/** The amounts of everything that a run measures. */
export interface Sizes {
  readonly rounds: number
  /** The length of one slice under load, in whole seconds, because wrk takes no fractions. */
  readonly sliceSeconds: number
  readonly warmUpSeconds: number
  /** The number of signups in a large journal. */
  readonly large: number
  /** The number of signups in a very large journal. */
  readonly huge: number
  /** The number of signups in a small journal. */
  readonly small: number
  /** The number of rows in the smaller backlog. */
  readonly backlog: number
  readonly bulkItems: number
}

export const fullSizes: Sizes = {
  rounds: 7,
  sliceSeconds: 2,
  warmUpSeconds: 3,
  large: 1_000_000,
  huge: 10_000_000,
  small: 1_000,
  backlog: 100_000,
  bulkItems: 1_000,
}

/** These take seconds in all. They show that everything runs, and say nothing about speed. */
export const quickSizes: Sizes = {
  rounds: 1,
  sliceSeconds: 1,
  warmUpSeconds: 0,
  large: 2_000,
  huge: 4_000,
  small: 500,
  backlog: 1_000,
  bulkItems: 100,
}

/** One line of the table. */
export interface Figure {
  /** The name in kebab-case. */
  readonly name: string
  readonly what: string
  readonly unit: string
  /** The value that must be reached. */
  readonly reach: Bound
  /** The value to aim for. */
  readonly aim: Bound
}

/** A figure that is measured by itself. `--only` chooses it by its name. */
export interface Scenario extends Figure {
  run(sizes: Sizes): Promise<Measured>
  /** The name of a scenario that does the same with other amounts. */
  readonly variantOf?: string
  /** Whether a value is what is left of one measurement after another, which noise can take below zero. */
  readonly isDifference?: true
}

export interface Bound {
  readonly isAtLeast: boolean
  readonly value: number
}

export const atLeast = (value: number): Bound => ({ isAtLeast: true, value })
export const atMost = (value: number): Bound => ({ isAtLeast: false, value })

/** One value for each round, and a note that helps to understand them. */
export interface Measured {
  readonly values: readonly number[]
  readonly note: string
  /** Holds the true median, with 95 %. Where it is known, a bound is missed only when all of it misses. */
  readonly interval?: Interval
}

export interface Interval {
  readonly low: number
  readonly high: number
}

/** Whether what was measured is as good as it must be. */
export function isReached({ reach }: Figure, { values, interval }: Measured): boolean {
  const best = interval && (reach.isAtLeast ? interval.high : interval.low)
  return meets(best ?? median(values), reach)
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
