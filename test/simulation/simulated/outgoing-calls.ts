import { HttpFailure, type OutgoingRequest } from '../../../src/platform/http-client.ts'
import type { Millis } from '../../../src/signup/signup.ts'
import type { JournalSteps } from '../journal-steps.ts'
import { type Life, never } from '../life.ts'
import type { ProcessOptions } from './process-options.ts'
import { readBatch, type SentBatch, textOf } from '../read-batch.ts'

/** So late may the first try of a call leave. */
const gateLateMs: Millis = 1000

/** The calls of a process to Google, with what is checked when one leaves. */
export class OutgoingCalls {
  readonly #options: ProcessOptions
  readonly #life: Life
  readonly #journal: JournalSteps
  /** Whether another instance has the lease. */
  readonly #isElsewhere: () => boolean
  #cutOffUntil: Millis = 0

  constructor(
    options: ProcessOptions,
    life: Life,
    journal: JournalSteps,
    isElsewhere: () => boolean,
  ) {
    this.#options = options
    this.#life = life
    this.#journal = journal
    this.#isElsewhere = isElsewhere
  }

  /** For this time no request reaches the network. */
  cutOff(ms: Millis): void {
    this.#cutOffUntil = this.#options.time.now + ms
  }

  async send(request: OutgoingRequest) {
    const { network, time } = this.#options
    if (this.#life.diesAt('before a call')) return never()
    await this.#life.mayBeStoppedAt('before a call')
    if (time.now < this.#cutOffUntil) {
      await new Promise<void>((resolve) => this.#life.after(1000, resolve))
      throw new HttpFailure('the network cannot be reached')
    }
    const marker = this.#watch(request)
    const answer = network.send(request, this.#life, this.#isLate(request))
    if (this.#life.diesAt('while a call is on its way')) return never()
    return answer.catch((error: unknown) => {
      if (marker !== undefined) this.#options.watch.missAnswer(marker)
      throw error
    })
  }

  /**
   * Whether the process has stood still since it asked for this call. Then it leaves after the lease or the
   * window of the quota is over. Any other call leaves under the lease.
   */
  #isLate({ url }: OutgoingRequest): boolean {
    const { truth, note, store, time } = this.#options
    // Calls for a token count in no quota.
    if (url.endsWith('/token')) return false
    const isLate = this.#life.wasStoppedAfter(this.#journal.reservedAt)
    if (!isLate && this.#isElsewhere()) truth.violate('a call left while another instance delivers')
    if (isLate) note('late after a stop')
    // A call that came late before may come later the next time: see `delivery/account.ts`.
    return isLate || (store !== undefined && time.now - this.#journal.reservedAt > gateLateMs)
  }

  /** Tells the watch what is sent. Returns the marker of its batch. */
  #watch(request: OutgoingRequest): number | undefined {
    const { network, time, watch } = this.#options
    if (!request.url.includes(':batchUpdate')) return undefined
    const tokenAt = network.tokenOf(request)
    // Google never applies a batch whose access token has run out, so its marker does not matter.
    if (tokenAt === undefined) return undefined
    const batch = readBatch(JSON.parse(textOf(request)))
    this.#checkSize(batch)
    const allowedAt = Math.max(this.#journal.allowedAt, tokenAt)
    watch.send({ batch, sender: this.#life, allowedAt, leftAt: time.now })
    return batch.marker
  }

  /** Checks that a batch keeps to its limits. A row that is larger goes alone. */
  #checkSize({ rows, rowBytes }: SentBatch): void {
    const { truth, note } = this.#options
    const { rowsMax, bytesMax } = this.#options.schedule
    if (rows.length > rowsMax) truth.violate(`a batch has ${rows.length} rows`)
    if (rows.length === rowsMax) note('full by rows')
    if (rows.length < 2 || bytesMax > 100_000) return
    const bytes = rowBytes()
    if (bytes > bytesMax) truth.violate(`a batch of ${rows.length} rows has ${bytes} bytes`)
    if (rows.length < rowsMax && bytes > bytesMax / 2) note('full by bytes')
  }
}
