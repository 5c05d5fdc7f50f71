import { JournalUnavailable } from '../../src/journal/contracts/errors.ts'
import type { FrozenBatch } from '../../src/signup/batch.ts'
import type { Millis } from '../../src/signup/signup.ts'
import { type Life, never } from './life.ts'
import type { ProcessOptions } from './simulated/process-options.ts'

/**
 * Steps at which no process ends: an idle writer and one without the lease look into the journal all the
 * time, so most faults would hit them then and do no harm.
 */
const quietSteps: ReadonlySet<string> = new Set(['pending', 'removals', 'fact', 'cursors'])

/** The journal of a process. Each call is a step, at which the process may be killed or the disk be full. */
export class JournalSteps {
  /** When the process last checked, right before a send, that its batch is still frozen. */
  allowedAt: Millis = 0
  /** When the process last asked for a call. */
  reservedAt: Millis = 0
  readonly #options: ProcessOptions
  readonly #life: Life

  constructor(options: ProcessOptions, life: Life) {
    this.#options = options
    this.#life = life
  }

  /** A part of the journal in which every call is a step of this process. */
  of<T extends object>(part: T): T {
    return new Proxy(part, {
      get: (target, name) => {
        const method: unknown = Reflect.get(target, name, target)
        if (typeof method !== 'function') return method
        // What it does, it does in memory.
        if (name === 'onAppend' || name === 'openness') return method.bind(target) as unknown
        return (...values: unknown[]) =>
          this.step(
            String(name),
            values,
            async () => (await Reflect.apply(method, target, values)) as unknown,
          )
      },
    })
  }

  /** Runs a step of this process. It may be the last one. */
  async step(
    name: string,
    values: readonly unknown[],
    work: () => Promise<unknown>,
  ): Promise<unknown> {
    const { watch, time, schedule } = this.#options
    // The journal may take turns of the event loop, as when it reads a long backlog in slices.
    const carried = () => (schedule.store === 'shared' ? work() : time.standStill(work))
    if (quietSteps.has(name)) {
      if (!this.#life.isAlive) return never()
      return this.#life.unlessDead(carried())
    }
    if (this.#life.diesAt(`before ${name}`)) return never()
    await this.#life.mayBeStoppedAt(`before ${name}`)
    this.#failOnFullDisk(name)
    if (name === 'reserve') this.reservedAt = time.now
    const result = await this.#life.unlessDead(carried())
    if (isBatch(result)) watch.seeBatch(result)
    if (name === 'frozen') this.allowedAt = time.now
    if (name === 'settle') watch.batchEnded(Number(values[0]), time.now)
    if (this.#life.diesAt(`after ${name}`)) return never()
    await this.#life.mayBeStoppedAt(`after ${name}`)
    return result
  }

  #failOnFullDisk(step: string): void {
    const { isFaulty, isDiskFull, dice, schedule, note } = this.#options
    if (!isDiskFull() && !(isFaulty() && dice.chance(schedule.chance.journal))) return
    note('journal fails', step)
    throw new JournalUnavailable('The disk is full')
  }
}

function isBatch(result: unknown): result is FrozenBatch {
  return typeof result === 'object' && result !== null && 'number' in result && 'tabs' in result
}
