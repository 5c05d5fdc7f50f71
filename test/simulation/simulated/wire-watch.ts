/**
 * Watches what processes freeze and send. It checks how the protocol is kept, which the outcome shows only
 * when a late call comes at the worst moment: a batch never changes, rows come with a marker, no batch
 * is sent long after its end, and markers stand as long as docs/decisions/exactly-once.md says.
 */
import type { Millis } from '../../../src/signup/signup.ts'
import type { SentBatch } from '../read-batch.ts'
import type { Truth } from '../truth.ts'

const minute = 60 * 1000
/** How long Google may work on a call, by its documentation: until then it may still apply it. */
const googleWorksMax = 180 * 1000
const tokenLifeMs = 60 * minute

/** What is known about the requests that carried a batch. */
interface Sends {
  readonly firstSender: unknown
  /** When the last request was allowed, and when it left. */
  allowedAt: Millis
  leftAt: Millis
  /** Whether a request had no clear answer. */
  isUnclear: boolean
  /** When a second process was first allowed to send the batch. */
  foundAt: Millis | undefined
}

/** A batch, as frozen or as sent. */
interface SeenBatch {
  readonly number: number
  readonly tabs: readonly {
    readonly tab: string
    readonly signups: readonly { readonly email: string }[]
  }[]
}

/** A request that leaves for Google. */
export interface Leaving {
  readonly batch: SentBatch
  readonly sender: unknown
  /**
   * When it was allowed: when the journal said that its batch is still frozen, or when its access token
   * was issued, if that was later. It leaves later when its process was stopped in between.
   */
  readonly allowedAt: Millis
  readonly leftAt: Millis
}

export class WireWatch {
  readonly #truth: Truth
  readonly #contents = new Map<number, string>()
  readonly #sends = new Map<number, Sends>()
  /** When each batch was settled or released, by number. */
  readonly #ends = new Map<number, Millis>()

  constructor(truth: Truth) {
    this.#truth = truth
  }

  /** Checks that a batch has the same contents whenever it is seen, in the journal or in a request. */
  seeBatch({ number, tabs }: SeenBatch): void {
    const contents = tabs
      .filter(({ signups }) => signups.length > 0)
      .map(({ tab, signups }) => `${tab}: ${signups.map(({ email }) => email).join(' ')}`)
      .sort()
      .join('; ')
    const known = this.#contents.get(number)
    if (known === undefined) this.#contents.set(number, contents)
    else if (known !== contents) {
      this.#truth.violate(`batch ${number} changed from "${known}" to "${contents}"`)
    }
  }

  batchEnded(number: number, at: Millis): void {
    this.#ends.set(number, at)
  }

  /** Call when a request leaves. */
  send({ batch, sender, allowedAt, leftAt }: Leaving): void {
    const { marker, markerValue, rows, pruned } = batch
    for (const id of pruned) this.#checkPruned(id, leftAt)
    if (rows.length === 0) return
    if (marker === undefined) return this.#truth.violate('rows were sent without a marker')
    const number = Number(markerValue.split(':')[1])
    const tabs = Map.groupBy(rows, ({ email }) => this.#truth.tabOf(email))
    this.seeBatch({ number, tabs: [...tabs].map(([tab, signups]) => ({ tab, signups })) })
    this.#checkNotOver(number, leftAt)
    const first = { firstSender: sender, isUnclear: false, foundAt: undefined }
    const sends = { ...(this.#sends.get(marker) ?? first), allowedAt, leftAt }
    if (sends.firstSender !== sender) sends.foundAt ??= allowedAt
    this.#sends.set(marker, sends)
  }

  /** Notes that a request which creates this marker had no answer. */
  missAnswer(marker: number): void {
    const sends = this.#sends.get(marker)
    if (sends) sends.isUnclear = true
  }

  /** No batch is sent longer after its end than an access token from before is valid. */
  #checkNotOver(number: number, at: Millis): void {
    const sinceEnd = at - (this.#ends.get(number) ?? at)
    if (sinceEnd > tokenLifeMs) {
      this.#truth.violate(`batch ${number} was sent ${sinceEnd} ms after it had ended`)
    }
  }

  #checkPruned(marker: number, at: Millis): void {
    const sends = this.#sends.get(marker)
    if (!sends) return
    const sinceSent = at - sends.allowedAt
    const sinceFound = at - (sends.foundAt ?? -Infinity)
    const life = (sends.isUnclear ? 15 : 4) * minute
    const mayStillLand = at - sends.leftAt < googleWorksMax
    if (sinceSent < life || sinceFound < 65 * minute || mayStillLand) {
      this.#truth.violate(
        `a marker was pruned ${at - sends.leftAt} ms after a send of its batch, ${sinceSent} ms after the ` +
          `last one was allowed, ${sinceFound} ms after one of a second process was`,
      )
    }
  }
}
