import type { Clock } from '../../../src/platform/clock.ts'
import type { Millis } from '../../../src/signup/signup.ts'
import { SharedLease } from '../../../harness/shared-lease.ts'
import type { Dice } from '../dice.ts'
import type { Sender } from './network.ts'
import type { Schedule } from '../schedule.ts'
import { openSharedJournal, type SharedJournal } from './shared-journal.ts'
import type { SimulatedDisk } from './simulated-disk.ts'
import type { SimulatedTime } from './simulated-time.ts'
import { StoreLink } from './store-link.ts'

export interface SharedStoreOptions {
  readonly time: SimulatedTime
  readonly dice: Dice
  /** Keeps what is committed. */
  readonly disk: SimulatedDisk
  readonly chance: Pick<Schedule['chance'], 'slow' | 'broken'>
  readonly isFaulty: () => boolean
  readonly note: (event: string, detail?: string) => void
}

/** One instance at the store. */
export interface Instance {
  readonly link: StoreLink
  /** Whether another instance has the lease. */
  readonly isElsewhere: () => boolean
  readonly open: () => Promise<SharedJournal>
}

/** For how long an instance may believe that it holds the lease, after it asked last. */
const trustMs: Millis = 5000

/** A store on another machine, with a clock and a lease. Processes reach it through their links. */
export class SharedStore {
  readonly #options: SharedStoreOptions
  readonly #lease: SharedLease
  #instances = 0
  #downUntil: Millis = 0
  #ahead: Millis
  #jumpedAt: Millis = -Infinity

  constructor(options: SharedStoreOptions) {
    this.#options = options
    // No process has this time.
    this.#ahead = Date.UTC(2026, 10, 20, 10) + options.dice.between(-3000, 3000)
    this.#lease = new SharedLease({ elapsed: () => this.#now() })
  }

  /** For this time nobody can reach the store. */
  goDown(ms: Millis): void {
    this.#downUntil = this.#options.time.now + ms
  }

  /** Sets the clock of the store. */
  jump(ms: Millis): void {
    this.#ahead += ms
    this.#jumpedAt = this.#options.time.now
  }

  /** For a process that starts. */
  connect(
    life: Sender & { readonly isAlive: boolean },
    clock: Pick<Clock, 'elapsed' | 'sleep'>,
  ): Instance {
    const { time, dice, disk, chance, isFaulty, note } = this.#options
    const name = `instance ${(this.#instances += 1)}`
    const link = new StoreLink({
      time,
      dice,
      sender: life,
      isStoreDown: () => time.now < this.#downUntil,
      faults: () => (isFaulty() ? chance : { slow: 0, broken: 0 }),
      note,
    })
    const user = {
      // What a dead process has sent is still carried out.
      get isAlive() {
        return life.isAlive || link.underWay > 0
      },
      drawFate: () => 'written' as const,
    }
    return {
      link,
      // After a jump of its clock the store may give the lease away too early.
      isElsewhere: () =>
        this.#lease.isHeld && !this.#lease.isHeldBy(name) && time.now - this.#jumpedAt > trustMs,
      open: () =>
        openSharedJournal({
          name,
          link,
          connect: () => disk.connect(user),
          policy: disk.policy,
          lease: this.#lease,
          storeTime: () => this.#now(),
          clock,
        }),
    }
  }

  #now(): Millis {
    return Math.floor(this.#options.time.now + this.#ahead)
  }
}
