/**
 * People and programs that sign up. Some requests have an idempotency key. When such a request gets no
 * answer or a refusal, its sender may send it again, to whichever process runs then; an impatient
 * sender sends it twice at once. A request without a key is sent once.
 */
import type { Millis } from '../../src/signup/signup.ts'
import { addressEnd } from './make-signup.ts'
import type { Dice } from './dice.ts'
import type { Arrival } from './schedule.ts'
import type { SimulatedTime } from './simulated/simulated-time.ts'
import type { Truth } from './truth.ts'

const second = 1000
/** The journal keeps a key for 24 hours by the wall clock. Two jumps below this are shorter together. */
const keyKeptMs = 12 * 60 * 60 * second

/** One request: a single signup or a bulk. */
export interface SignupRequest {
  readonly tab: string
  readonly emails: readonly string[]
  readonly key: string | undefined
}

/** What a visitor sees of a request. */
export type Seen = 'accepted' | 'refused' | 'unanswered'

/** Where a request goes. */
export interface Receiver {
  /** Takes a request. `tell` is called once with what the visitor sees in the end. */
  signUp(request: SignupRequest, tell: (seen: Seen) => void): void
}

export interface VisitorsOptions {
  readonly time: SimulatedTime
  readonly dice: Dice
  readonly truth: Truth
  /** Whether people sign up again with an address that was used before. */
  readonly repeatAddresses: boolean
  /** A process that runs now. */
  readonly findProcess: () => Receiver | undefined
  readonly note: (event: string, detail?: string) => void
}

export class Visitors {
  readonly #options: VisitorsOptions
  #people = 0
  #keys = 0
  /** How many requests with a key are under way. */
  #withKeys = 0
  /** How often the journal may have forgotten all keys. */
  #forgottenKeys = 0

  constructor(options: VisitorsOptions) {
    this.#options = options
  }

  /**
   * Notes that the wall clock jumps. After a large jump, nobody repeats a request from before it. Returns
   * false when that cannot be kept, as a process that stands still may hold such a request.
   */
  clockJumps(ms: Millis): boolean {
    if (Math.abs(ms) < keyKeptMs) return true
    if (this.#withKeys > 0) return false
    this.#forgottenKeys += 1
    return true
  }

  /** Lets the people of one moment sign up. */
  arrive({ tab, people, isBulk, hasKeys }: Arrival): void {
    const emails = Array.from({ length: people }, () => this.#address(tab))
    for (const group of isBulk ? [emails] : emails.map((email) => [email])) {
      const key = hasKeys ? `key ${(this.#keys += 1)}` : undefined
      const request = { tab, emails: group, key }
      const again = key === undefined ? 0 : this.#options.dice.between(0, 3)
      this.#send(request, again)
      // Both may reach different processes.
      if (key !== undefined && this.#options.dice.chance(0.1)) this.#send(request, 0)
    }
  }

  #send(request: SignupRequest, again: number, keys = this.#forgottenKeys): void {
    if (keys !== this.#forgottenKeys) return
    const { time, dice, truth, findProcess, note } = this.#options
    const process = findProcess()
    // Nothing listens: everybody comes again later.
    if (!process) return void time.after(5 * second, () => this.#send(request, again, keys))
    if (request.key !== undefined) this.#withKeys += 1
    process.signUp(request, (seen) => {
      if (request.key !== undefined) this.#withKeys -= 1
      note(`signup ${seen}`, request.emails.join(' '))
      if (seen === 'accepted') return request.emails.forEach((email) => truth.promise(email))
      if (again === 0) return
      time.after(dice.between(0, 20 * second), () => {
        note('signup repeated')
        this.#send(request, again - 1, keys)
      })
    })
  }

  #address(tab: string): string {
    const { dice, repeatAddresses } = this.#options
    const isRepeated = repeatAddresses && this.#people > 0 && dice.chance(0.4)
    if (!isRepeated) return addressOf((this.#people += 1), tab)
    const address = addressOf(dice.between(1, this.#people), tab)
    return dice.chance(0.3) ? address.replace('person', 'Person') : address
  }
}

/** One person has another address for each tab, so that an address tells its tab. */
function addressOf(person: number, tab: string): string {
  return `person${person}.${tab.toLowerCase()}${addressEnd}`
}
