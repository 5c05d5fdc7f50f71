import { setTimeout as sleep } from 'node:timers/promises'

import type { MailServer } from '../../harness/mail-world.ts'
import { postSignup } from '../../harness/post-signup.ts'

/** A mail that a server has taken, in the round with this number. */
export interface Arrival {
  readonly to: string
  /** The id of its message, as its link has it. */
  readonly message: string
  readonly round: number
}

export interface MailPeopleOptions {
  readonly server: Pick<MailServer, 'mails'>
  readonly random: () => number
  readonly nextUrl: () => string
}

const visitorsAtOnce = 3
const [pauseMs, againMs, lookMs] = [250, 50, 60]
/** How many of those who get a mail confirm, and how many of these press twice at once. */
const [confirming, twice] = [0.7, 0.2]

/** People who sign up, and read their mails. Each one goes on until there is an answer, as people do. */
export class MailPeople implements AsyncDisposable {
  /** Their signups were answered with 202. */
  readonly asked = new Set<string>()
  /** The page has told them that they are on the list. */
  readonly confirmed = new Set<string>()
  readonly arrivals: Arrival[] = []
  /** How many requests had no answer. */
  cut = 0
  readonly #options: MailPeopleOptions
  readonly #stopping = new AbortController()
  readonly #ending = new AbortController()
  /** Nobody waits for an answer any more. */
  readonly #leaving = new AbortController()
  readonly #mailed = new Set<string>()
  readonly #pressing: Promise<void>[] = []
  readonly #visitors: Promise<unknown>
  readonly #reader: Promise<void>
  #reading: Promise<unknown> = Promise.resolve()
  #count = 0
  #round = 0

  constructor(options: MailPeopleOptions) {
    this.#options = options
    this.#visitors = Promise.all(Array.from({ length: visitorsAtOnce }, () => this.#visit()))
    this.#reader = this.#readMails()
    // They are awaited at the end.
    for (const running of [this.#visitors, this.#reader]) running.catch(() => {})
  }

  nextRound(): void {
    this.#round += 1
  }

  stopSigningUp(): void {
    this.#stopping.abort()
  }

  /** Who was promised a mail, and has got none. */
  unmailed(): readonly string[] {
    return [...this.asked].filter((email) => !this.#mailed.has(email))
  }

  /** Resolves when everybody has an answer. */
  async end(): Promise<void> {
    this.stopSigningUp()
    await this.#visitors
    this.#ending.abort()
    await this.#reader
    await Promise.all(this.#pressing)
  }

  /** Ends all, also when a test has failed. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const ending of [this.#stopping, this.#ending, this.#leaving]) ending.abort()
    await Promise.allSettled([this.#visitors, this.#reader, ...this.#pressing])
  }

  /** Takes what has come since. Resolves with the mails of this round. */
  async takeMails(): Promise<readonly Arrival[]> {
    const taking = this.#reading.then(() => this.#takeNew())
    this.#reading = taking.catch(() => {})
    await taking
    return this.arrivals.filter(({ round }) => round === this.#round)
  }

  async #takeNew(): Promise<void> {
    const mails = await this.#options.server.mails(this.arrivals.length)
    for (const { to, text } of mails) {
      const [, token = ''] = /\/confirm\/([\w-]{44})/.exec(text) ?? []
      this.arrivals.push({ to, message: token.slice(0, 22), round: this.#round })
      if (this.#mailed.has(to)) continue
      this.#mailed.add(to)
      if (this.#options.random() > confirming) continue
      const times = this.#options.random() < twice ? 2 : 1
      for (let time = 0; time < times; time++) {
        const pressing = this.#press(to, token)
        pressing.catch(() => {})
        this.#pressing.push(pressing)
      }
    }
  }

  async #readMails(): Promise<void> {
    while (!this.#ending.signal.aborted) {
      await this.takeMails()
      await sleep(lookMs)
    }
  }

  async #visit(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      this.#count += 1
      const email = `person.${this.#count}@example.com`
      await this.#untilAnswered(async (url) => (await postSignup(url, { email })).status, [202])
      this.asked.add(email)
      await sleep(pauseMs)
    }
  }

  async #press(email: string, token: string): Promise<void> {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const press = async (url: string) => {
      const request = { method: 'POST', headers, body: 'decision=confirm' }
      return (await fetch(`${url}/confirm/${token}`, request)).status
    }
    await this.#untilAnswered(press, [200])
    this.confirmed.add(email)
  }

  /** @throws Error at an answer that is neither wanted nor a 503 */
  async #untilAnswered(
    request: (url: string) => Promise<number>,
    wanted: readonly number[],
  ): Promise<void> {
    while (!this.#leaving.signal.aborted) {
      const status = await request(this.#options.nextUrl()).catch((error: unknown) => {
        // So does fetch when the process is gone.
        if (!(error instanceof TypeError)) throw error
        return undefined
      })
      if (status !== undefined && wanted.includes(status)) return
      if (status !== undefined && status !== 503) throw new Error(`The answer was ${status}.`)
      if (status === undefined) this.cut += 1
      await sleep(againMs)
    }
  }
}
