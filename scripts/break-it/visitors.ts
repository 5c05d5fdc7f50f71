import { setTimeout as sleep } from 'node:timers/promises'
import { postSignup } from '../../harness/post-signup.ts'
import { madeUpDomain } from '../sandbox-month.ts'

const pauseMs = 250

/** People who sign up, each with an address of their own, and what they were answered. */
export class Visitors {
  /** The addresses that were answered 2xx. */
  readonly answered = new Set<string>()
  /** The number of 2xx answers. A form that was pressed ten times gets ten. */
  answers = 0
  /** The number of people who wait for an answer. */
  unanswered = 0
  readonly #url: () => string
  readonly #stop: AbortSignal
  #count = 0

  constructor(url: () => string, stop: AbortSignal) {
    this.#url = url
    this.#stop = stop
  }

  async come(count: number): Promise<void> {
    await Promise.all(Array.from({ length: count }, () => this.signUp()))
  }

  /** Resolves when each press has its 2xx. Until then it is sent again under the same key, as the form does. */
  async signUp(presses = 1): Promise<void> {
    const number = (this.#count += 1)
    const email = `visitor-${number}${madeUpDomain}`
    const headers = {
      'Idempotency-Key': crypto.randomUUID(),
      // The service counts each visitor by this address, as behind a proxy.
      'X-Forwarded-For': `10.${number >> 16}.${(number >> 8) & 255}.${number & 255}`,
    }
    const press = async () => {
      while (!this.#stop.aborted) {
        const request = postSignup(this.#url(), { email, name: `Visitor ${number}` }, headers)
        const answer = await request.catch(() => undefined)
        await answer?.body?.cancel()
        if (answer?.ok) {
          this.answers += 1
          this.answered.add(email)
          return
        }
        await sleep(pauseMs, undefined, { signal: this.#stop }).catch(() => undefined)
      }
    }
    this.unanswered += 1
    await Promise.all(Array.from({ length: presses }, press))
    this.unanswered -= 1
  }
}
