/** Decides which of the matching calls a fault meets. */
export interface PlannedFault {
  /** The number of matching calls that pass before. Default 0. */
  readonly skip?: number
  /** The number of calls that it meets; 0 means all until `clear`. Default 1. */
  readonly times?: number
  /** The probability, from 0 to 1, that it meets a matching call. Default 1. */
  readonly probability?: number
}

/** The planned faults, in the order in which they were added. */
export class FaultPlan<Fault extends PlannedFault, Target> {
  #planned: { readonly fault: Fault; skipLeft: number; timesLeft: number }[] = []
  readonly #matches: (fault: Fault, target: Target) => boolean
  readonly #random: () => number

  constructor(
    matches: (fault: Fault, target: Target) => boolean,
    random: () => number = Math.random,
  ) {
    this.#matches = matches
    this.#random = random
  }

  add(...faults: readonly Fault[]): void {
    for (const fault of faults) {
      const timesLeft = fault.times === 0 ? Infinity : (fault.times ?? 1)
      this.#planned.push({ fault, skipLeft: fault.skip ?? 0, timesLeft })
    }
  }

  remove(fault: Fault): void {
    this.#planned = this.#planned.filter((it) => it.fault !== fault)
  }

  clear(): void {
    this.#planned = []
  }

  /** The faults that have not met all their calls yet. */
  get pending(): readonly Fault[] {
    return this.#planned.map(({ fault }) => fault)
  }

  /** Returns the fault that meets this call, if any, and counts the call. */
  take(target: Target): Fault | undefined {
    for (const planned of this.#planned) {
      if (!this.#matches(planned.fault, target)) continue
      if (planned.skipLeft > 0) {
        planned.skipLeft -= 1
        continue
      }
      const { probability } = planned.fault
      if (probability !== undefined && this.#random() >= probability) continue
      planned.timesLeft -= 1
      if (planned.timesLeft === 0) this.#planned = this.#planned.filter((it) => it !== planned)
      return planned.fault
    }
    return undefined
  }
}
