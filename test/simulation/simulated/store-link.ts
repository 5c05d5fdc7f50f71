/**
 * The way of one process to a store on another machine. A call of the journal takes time there and back,
 * and other processes run meanwhile. The call is carried out in one moment, as in a transaction. It may be
 *
 *   slow         it takes seconds.
 *   not sent     no connection was to be had: nothing is changed, and the process knows that.
 *   lost         the connection breaks before the call arrives: nothing is changed.
 *   unanswered   the connection breaks after it: the call was carried out.
 *   late         the connection breaks, and the call is carried out some seconds later all the same.
 *
 * The process cannot tell the last three apart. A store that is down is not reached by anybody, and a
 * cut link is down for one process. A call that has left is carried out although its process was killed.
 */
import { ConnectionFailed } from '../../../src/journal/postgres/failure.ts'
import { OutcomeUnknown } from '../../../src/journal/contracts/errors.ts'
import type { Millis } from '../../../src/signup/signup.ts'
import type { Dice } from '../dice.ts'
import type { Sender } from './network.ts'
import type { SimulatedTime } from './simulated-time.ts'

const second = 1000
/** How long the client of the database waits for an answer. */
const answerMs = 8 * second

/** Probabilities of a fault of one call. */
export interface LinkFaults {
  readonly slow: number
  readonly broken: number
}

export interface StoreLinkOptions {
  readonly time: SimulatedTime
  readonly dice: Dice
  /** The process, which gets no answer after its death, and late ones after a pause. */
  readonly sender: Sender
  readonly isStoreDown: () => boolean
  /** The faults that may happen now. */
  readonly faults: () => LinkFaults
  readonly note: (event: string, detail?: string) => void
}

type Fate = 'fine' | 'not sent' | 'lost' | 'unanswered' | 'late'

export class StoreLink {
  /** How many calls have left and were not carried out yet. */
  underWay = 0
  readonly #options: StoreLinkOptions
  #cutUntil: Millis = 0

  constructor(options: StoreLinkOptions) {
    this.#options = options
  }

  /** For this time the process cannot reach the store. */
  cut(ms: Millis): void {
    this.#cutUntil = this.#options.time.now + ms
  }

  /** Carries a call out at the store. @throws JournalUnavailable */
  carry<T>(call: string, work: () => Promise<T>): Promise<T> {
    const { sender, note } = this.#options
    const fate: Fate = this.#isDown ? 'not sent' : this.#drawFate()
    if (fate !== 'fine' && !this.#isDown) note(`store: ${fate}`, call)
    return new Promise((resolve, reject) => {
      const fail = (error: Error, ms: Millis): void => {
        sender.after(ms, () => reject(error))
      }
      const breakOff = () => fail(new OutcomeUnknown('The connection broke'), this.#drawSilence())
      if (fate === 'not sent') return fail(new ConnectionFailed(undefined), this.#drawSilence())
      if (fate === 'lost') return breakOff()
      if (fate === 'late') breakOff()
      this.#later(this.#travelMs(fate), async () => {
        // A store that comes back knows nothing of what was on its way.
        if (this.#isDown) {
          if (fate !== 'late') breakOff()
          return
        }
        const answer = await this.#carriedOut(work, resolve, reject)
        if (fate === 'fine') sender.after(this.#travelMs('fine'), answer)
        if (fate === 'unanswered') breakOff()
      })
    })
  }

  get #isDown(): boolean {
    const { time, isStoreDown } = this.#options
    return time.now < this.#cutUntil || isStoreDown()
  }

  #later(ms: Millis, run: () => Promise<void>): void {
    this.underWay += 1
    this.#options.time.after(ms, () => {
      void run().finally(() => (this.underWay -= 1))
    })
  }

  /** Does the work while time stands still. Returns how to tell the outcome. */
  #carriedOut<T>(
    work: () => Promise<T>,
    resolve: (result: T) => void,
    reject: (reason: unknown) => void,
  ): Promise<() => void> {
    return this.#options.time.standStill(() =>
      work().then(
        (result) => () => resolve(result),
        (error: unknown) => () => reject(error),
      ),
    )
  }

  #drawFate(): Fate {
    const { dice, faults } = this.#options
    if (!dice.chance(faults().broken)) return 'fine'
    return dice.pick(['not sent', 'lost', 'unanswered', 'late'])
  }

  #travelMs(fate: Fate): Millis {
    const { dice, faults, note } = this.#options
    if (fate === 'late') return dice.between(1, 15) * second
    if (!dice.chance(faults().slow)) return 0.5 + 9.5 * dice.random()
    note('store: slow')
    return dice.between(1, 3) * second
  }

  /** How long it takes to notice that the connection is broken. */
  #drawSilence(): Millis {
    const { dice } = this.#options
    return dice.chance(0.3) ? answerMs : dice.between(1, 500)
  }
}
