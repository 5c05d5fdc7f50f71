import { unlessUnavailable } from '../journal/contracts/errors.ts'
import { type Clock, second } from '../platform/clock.ts'

export interface SendLoopOptions {
  readonly clock: Pick<Clock, 'sleep'>
  /** Begins to send what can be sent now. */
  readonly step: () => Promise<void>
  /** The pause before the next step when nothing wakes the loop. */
  readonly pauseMs: () => number
  /** Our own code failed. */
  readonly crashed: (error: unknown) => void
}

/** How long a stop waits for what is being sent, so that fewer are sent twice. */
const stopMs = 2 * second

/** Takes a step after each pause, or sooner when something wakes it, until it is stopped. */
export class SendLoop {
  /** What is being sent. */
  readonly sending = new Set<Promise<void>>()
  /** Aborts what is being sent. */
  readonly stopping = new AbortController()
  readonly #options: SendLoopOptions
  readonly #stopping = new AbortController()
  #wake = new AbortController()
  readonly #running: Promise<void>

  constructor(options: SendLoopOptions) {
    this.#options = options
    // The first step begins when the constructor of the owner has ended.
    this.#running = Promise.resolve().then(() => this.#run())
  }

  get isStopping(): boolean {
    return this.#stopping.signal.aborted
  }

  /** There may be something to do before the pause is over. */
  wake(): void {
    // The usual reason is an error, whose stack takes longer than reading a message.
    this.#wake.abort('woken')
  }

  /** @param sending never rejects */
  add(sending: Promise<void>): void {
    const ended = sending.then(() => {
      this.sending.delete(ended)
      this.wake()
    })
    this.sending.add(ended)
  }

  /** Gives what is being sent a moment, and does not wait for a server that hangs. */
  async stop(graceMs = stopMs): Promise<void> {
    this.#stopping.abort()
    this.wake()
    const landing = this.#running.then(() => Promise.all(this.sending))
    const landed = new AbortController()
    void landing.then(() => landed.abort())
    await this.#options.clock.sleep(Math.min(graceMs, stopMs), landed.signal)
    this.stopping.abort()
    await landing
  }

  /** Waits for work that may fail with the journal, which intake reports. */
  async attempt(work: Promise<void>): Promise<void> {
    await unlessUnavailable(work).catch(this.#options.crashed)
  }

  async #run(): Promise<void> {
    const { clock, step, pauseMs } = this.#options
    while (!this.isStopping) {
      this.#wake = new AbortController()
      await this.attempt(step())
      // A stop has ended this sleep before it begins.
      await clock.sleep(pauseMs(), this.#wake.signal)
    }
  }
}
