/** Which of the calls that a fault could meet it does meet. */
export interface PlannedFault {
  /** How many such calls pass unharmed first. Default 0. */
  readonly skip?: number
  /** How many calls it meets; 0 means every one until it is cleared. Default 1. */
  readonly times?: number
  /** Chance of meeting a call that it could meet. Default 1. */
  readonly probability?: number
}

/** The faults that are still to come, in the order in which they were added. */
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

  clear(): void {
    this.#planned = []
  }

  /** Faults that have not met all their calls yet. */
  get pending(): readonly Fault[] {
    return this.#planned.map(({ fault }) => fault)
  }

  /** The fault that meets this call, if any; it is used up by one. */
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
