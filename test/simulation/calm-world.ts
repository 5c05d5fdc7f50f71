import { strictQuota } from '../../emulators/google-sheets/quota.ts'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
import type { Journal } from '../../src/journal/contracts/journal.ts'
import type { Millis } from '../../src/signup/signup.ts'
import { makeSignup } from './make-signup.ts'
import { calm } from './draw-parts.ts'
import { Network } from './simulated/network.ts'
import { createDice, type Dice } from './dice.ts'
import { SimulatedGoogle } from './simulated/simulated-google.ts'
import { SimulatedProcess } from './simulated/simulated-process.ts'
import { SimulatedTime } from './simulated/simulated-time.ts'
import { Truth } from './truth.ts'

export interface CalmOptions {
  /** How long a request travels at most, in milliseconds; its answer travels up to a third of that. */
  readonly travelMaxMs: Millis
  /** The most rows of a batch; 5,000 by default, as in the product. */
  readonly rowsMax?: number
  /** Called for every row that is written to the spreadsheet. */
  readonly onRow?: (email: string) => void
  /** Called for every event. */
  readonly note?: (event: string, detail?: string) => void
}

const quota = { perMinute: 50, perDay: 10_000 }
const markersMax = 300

/**
 * One process that delivers to Google in simulated time. Nothing fails. Google enforces every limit that
 * it has or once had, and `truth` checks that the process stays within its own limits.
 */
export class CalmWorld implements AsyncDisposable {
  readonly time = new SimulatedTime()
  readonly dice: Dice
  readonly truth: Truth
  /** How many signups were accepted. */
  accepted = 0
  readonly #google: SimulatedGoogle
  readonly #journal: Journal
  readonly #process: SimulatedProcess

  constructor(seed: number, options: CalmOptions) {
    const { travelMaxMs, rowsMax = 5000, onRow, note = () => undefined } = options
    this.dice = createDice(seed)
    const { time, dice } = this
    this.truth = new Truth({ ...quota, markersMax, ...(onRow && { onRow }) })
    this.#google = new SimulatedGoogle({
      truth: this.truth,
      dice,
      now: () => time.now,
      rules: strictQuota,
    })
    this.#journal = openSqliteJournal(':memory:', {}, { clock: time.clock })
    const never = () => false
    const { chance } = calm
    const google = this.#google
    this.#process = new SimulatedProcess({
      time,
      dice,
      truth: this.truth,
      network: new Network({ time, dice, google, chance, isFaulty: never, travelMaxMs, note }),
      connect: () => this.#journal,
      // Only this process appends, so the looks would only take time.
      lookEveryMs: 60 * 60 * 1000,
      schedule: {
        chance,
        quota,
        markersMax,
        rowsMax,
        bytesMax: 2 * 1024 * 1024,
        stops: [[0, 0]],
        store: 'disk',
      },
      flaw: {},
      wall: () => Date.UTC(2026, 10, 20) + Math.floor(time.now),
      isFaulty: never,
      isDiskFull: never,
      isCrashing: never,
      isAnyStopped: never,
      note,
      onDeath: () => undefined,
      onPowerCut: () => undefined,
    })
  }

  /** The first limit that was not kept. */
  get violation(): string | undefined {
    return this.truth.violation
  }

  /** Calls that Google answered with 429. */
  get overQuota(): number {
    return this.#google.overQuota
  }

  /** Accepts `count` signups now. Returns their addresses. */
  signUp(count: number): readonly string[] {
    const signups = Array.from({ length: count }, () =>
      makeSignup((this.accepted += 1), 'News', this.time.now),
    )
    for (const { email } of signups) this.truth.accept('News', email)
    void this.#journal.intake.append(signups)
    return signups.map(({ email }) => email)
  }

  /** Starts the process and lets time pass until `end`, until `isDone`, or until a limit is broken. */
  async runUntil(end: Millis, isDone: () => boolean = () => false): Promise<void> {
    await this.#process.start()
    await this.time.runUntil(end, () => isDone() || this.violation !== undefined)
    this.#process.kill()
    this.#google.people.check()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#journal[Symbol.asyncDispose]()
  }
}
