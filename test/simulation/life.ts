import type { Clock } from '../../src/platform/clock.ts'
import type { Millis } from '../../src/signup/signup.ts'
import type { Sender } from './simulated/network.ts'
import type { ProcessOptions } from './simulated/process-options.ts'
import type { CommitFate, DiskUser } from './simulated/simulated-disk.ts'

/** Steps at which no process is stopped, because a stopped one does harm while it sends. */
const intakeSteps = /append|recall/

/** The life of a process: its clock, when it is killed, and when it is stopped and goes on. */
export class Life implements Sender, DiskUser {
  readonly #options: ProcessOptions
  readonly #onKilled: () => void
  readonly #born: Millis
  #isAlive = true
  #pausedUntil: Millis = 0

  constructor(options: ProcessOptions, onKilled: () => void) {
    this.#options = options
    this.#onKilled = onKilled
    this.#born = options.time.now - options.dice.between(0, 1_000_000)
  }

  get isAlive(): boolean {
    return this.#isAlive
  }

  /** Whether a pause is over, if there was one. */
  get isAwake(): boolean {
    return this.#options.time.now >= this.#pausedUntil
  }

  /** Whether the process has stood still at some time after this moment. */
  wasStoppedAfter(at: Millis): boolean {
    return this.#pausedUntil > at
  }

  kill(): void {
    this.#isAlive = false
    this.#onKilled()
  }

  pause(ms: Millis): void {
    this.#pausedUntil = this.#options.time.now + ms
  }

  /** Runs `run` later, unless the process is dead by then. Returns a function that cancels it. */
  after(ms: Millis, run: () => void): () => void {
    const { time } = this.#options
    let cancel = time.after(ms, () => {
      if (!this.#isAlive) return
      if (time.now >= this.#pausedUntil) return run()
      cancel = this.after(this.#pausedUntil - time.now, run)
    })
    return () => cancel()
  }

  /** Whether the process is dead, or is killed at this step. */
  diesAt(step: string): boolean {
    if (!this.#isAlive) return true
    const { isFaulty, isCrashing, dice, schedule, note, onDeath, onPowerCut } = this.#options
    const chance = isCrashing() ? 0.2 : schedule.chance.kill
    if (!isFaulty() || !dice.chance(chance)) return false
    note('killed', step)
    if (dice.chance(0.1)) onPowerCut()
    else {
      this.kill()
      onDeath()
    }
    return true
  }

  /** Resolves when the process goes on. Most stops come after the last look into the journal. */
  async mayBeStoppedAt(step: string): Promise<void> {
    const { isFaulty, dice, schedule, note, time, isAnyStopped } = this.#options
    const chance = schedule.chance.stop * (step === 'before a call' ? 5 : 1)
    if (!isFaulty() || intakeSteps.test(step) || !dice.chance(chance) || isAnyStopped()) return
    this.pause(dice.between(...dice.pick(schedule.stops)))
    note('stopped', step)
    await new Promise<void>((resolve) => this.after(this.#pausedUntil - time.now, resolve))
    note('goes on', step)
  }

  /** The result of a step; nothing if the process was killed meanwhile. */
  async unlessDead<T>(result: Promise<T>): Promise<T> {
    try {
      return await result
    } finally {
      if (!this.#isAlive) await never()
    }
  }

  /** The clock of this process. Its elapsed time begins at any number. */
  clock(): Clock {
    const { time, wall } = this.#options
    return {
      now: wall,
      elapsed: () => time.now - this.#born,
      sleep: (ms, signal) =>
        new Promise((resolve) => {
          if (signal?.aborted) return resolve()
          const done = () => {
            cancel()
            signal?.removeEventListener('abort', done)
            resolve()
          }
          // As in Node, where no timer is shorter.
          const cancel = this.after(Math.max(1, ms), done)
          signal?.addEventListener('abort', done)
        }),
    }
  }

  /** A process that is killed in a commit has written it or not. */
  drawFate(): CommitFate {
    const { isFaulty, dice, schedule, note } = this.#options
    if (!this.#isAlive) return 'lost'
    if (!isFaulty()) return 'written'
    if (this.diesAt('in a commit')) return dice.pick(['written', 'lost'])
    if (!dice.chance(schedule.chance.commit)) return 'written'
    const fate = dice.pick(['misjudged', 'in limbo'])
    note(fate)
    return fate
  }
}

/** What code of a dead process awaits. */
export function never(): Promise<never> {
  return new Promise(() => {})
}
