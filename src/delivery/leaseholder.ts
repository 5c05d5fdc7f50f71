import type { Writer } from './writer.ts'
import type { Held, Lease, Tenure } from '../journal/contracts/lease.ts'
import { JournalUnavailable } from '../journal/contracts/errors.ts'
import type { Events } from '../ops/events.ts'
import type { Clock } from '../platform/clock.ts'
import type { Millis } from '../signup/signup.ts'

export interface LeaseholderOptions {
  readonly lease: Lease
  readonly clock: Pick<Clock, 'elapsed' | 'sleep'>
  readonly events: Pick<Events, 'deliveryElsewhere' | 'leaseLost' | 'deliveryFailed'>
  /** Makes the writer of one term. */
  readonly newWriter: () => Pick<Writer, 'start' | 'stop'>
  /** Called at every look that does not get the lease, unless the last call still runs. Must not reject. */
  readonly lookOn: () => Promise<void>
}

/** How often to ask for a lease that another instance holds, and how soon again after an error. */
const lookMs = 1000

/** A lease without an end is asked for so often, too. No timer of Node takes longer than 24 days. */
const renewMaxMs = 60_000

/** A lease that was granted, and until when, on the elapsed clock. */
interface Grant {
  readonly term: number
  readonly forMs: Millis
  readonly until: Millis
}

/**
 * Runs a writer while this instance holds the lease of its site, and at no other time.
 *
 *   LOOKING ON  another instance holds the lease, or the journal cannot tell. Asks again every second
 *   DELIVERING  a new writer runs. A third of the time after the lease was granted, it is renewed; when
 *               that fails, every second again
 *   LOST        the time is over, or there was another term in between. The writer is stopped at once,
 *               without grace. Then LOOKING ON
 *   LEAVING     after `stop`: the writer has its grace, in which the lease is renewed as before. Then the
 *               lease is given up
 *
 * The time counts from the moment before the lease was asked for. Two instances that deliver at once
 * waste calls but write no row twice: see `Writer`.
 */
export class Leaseholder {
  readonly #options: LeaseholderOptions
  /** Aborts on `stop`. */
  readonly #stopping = new AbortController()
  /** Aborts when the last writer has ended. */
  readonly #left = new AbortController()
  #grant: Grant | undefined
  #writer: Pick<Writer, 'stop'> | undefined
  #isElsewhere = false
  #looking: Promise<void> | undefined
  #running: Promise<void> | undefined

  constructor(options: LeaseholderOptions) {
    this.#options = options
  }

  /** Whether this instance may deliver now. It tells sooner than a timer after the process was suspended. */
  get holds(): boolean {
    return this.#grant !== undefined && this.#now() < this.#grant.until
  }

  get #isStopping(): boolean {
    return this.#stopping.signal.aborted
  }

  start(): void {
    this.#running ??= this.#run()
  }

  /** Ends delivery. A batch in flight has `graceMs` to settle; a later call may shorten that. */
  async stop(graceMs: Millis): Promise<void> {
    this.#stopping.abort()
    await this.#writer?.stop(graceMs)
    this.#left.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { clock, events, lease, lookOn } = this.#options
    while (!this.#isStopping) {
      const answer = await this.#hold()
      if (answer?.kind === 'held') {
        await this.#deliver(answer)
        continue
      }
      if (answer && !this.#isElsewhere) {
        this.#isElsewhere = true
        events.deliveryElsewhere()
      }
      // A slow look delays no taking of the lease.
      this.#looking ??= lookOn().then(() => (this.#looking = undefined))
      await clock.sleep(lookMs, this.#stopping.signal)
    }
    if (this.holds) {
      this.#grant = undefined
      // If it cannot be given up, it ends by itself.
      await lease.release().catch((error: unknown) => {
        if (!(error instanceof JournalUnavailable)) events.deliveryFailed(error)
      })
    }
    await this.#looking
  }

  /** DELIVERING, until the lease is LOST or the writer has left. */
  async #deliver(granted: Grant): Promise<void> {
    this.#grant = granted
    if (this.#isStopping) return
    const writer = this.#options.newWriter()
    this.#writer = writer
    this.#isElsewhere = false
    writer.start()
    await this.#renew(granted)
    if (!this.#left.signal.aborted) {
      this.#grant = undefined
      this.#options.events.leaseLost()
      await writer.stop(0)
    }
    this.#writer = undefined
  }

  /** Renews the lease until it is lost or the writer has left. */
  async #renew({ term, forMs }: Grant): Promise<void> {
    const { clock } = this.#options
    const left = this.#left.signal
    const thirdMs = Math.min(forMs / 3, renewMaxMs)
    for (let waitMs = thirdMs; ;) {
      await clock.sleep(Math.min(waitMs, this.#leftMs()), left)
      if (left.aborted || !this.holds) return
      const answer = await this.#holdInTime()
      if (answer?.kind === 'elsewhere' || (answer && answer.term !== term)) return
      if (answer) this.#grant = answer
      waitMs = answer ? thirdMs : Math.min(lookMs, thirdMs)
    }
  }

  /** Asks for the lease, but only while the present one lasts. */
  async #holdInTime(): Promise<Answer> {
    const answered = new AbortController()
    const late = this.#options.clock
      .sleep(Math.min(this.#leftMs(), renewMaxMs), answered.signal)
      .then(() => undefined)
    const answer = await Promise.race([this.#hold(), late])
    answered.abort()
    return answer
  }

  /** Asks for the lease; undefined when the journal cannot tell. */
  async #hold(): Promise<Answer> {
    const { lease, events } = this.#options
    const askedAt = this.#now()
    try {
      const tenure = await lease.hold()
      if (tenure.kind === 'elsewhere') return tenure
      const until = askedAt + tenure.forMs
      return this.#now() < until ? { ...tenure, until } : undefined
    } catch (error) {
      if (!(error instanceof JournalUnavailable)) events.deliveryFailed(error)
      return undefined
    }
  }

  #leftMs(): Millis {
    return Math.max(0, (this.#grant?.until ?? 0) - this.#now())
  }

  #now(): Millis {
    return this.#options.clock.elapsed()
  }
}

type Answer = (Held & Grant) | Exclude<Tenure, Held> | undefined
