import type { Appended } from '../contracts/intake-log.ts'
import type { AppendRequest } from '../tables/intake.ts'
import { DataRefused } from './failure.ts'

interface Waiting<Request> {
  readonly request: Request
  readonly resolve: (answer: Appended) => void
  readonly reject: (reason: unknown) => void
}

/** At most how many signups one transaction adds, unless one request has more. */
const groupMax = 1000

/** How many groups are on their way at the same time. With one, the database waits while we read its answer. */
const groupsMax = 2

export interface AppendGroupsOptions<Request> {
  /** Commits a group. Resolves with what became of each request. */
  readonly commit: (group: readonly Request[]) => Promise<readonly PromiseSettledResult<Appended>[]>
  /** Whether a request must be committed alone. */
  readonly isAlone: (request: Request) => boolean
}

/**
 * Group commit: requests that come while other groups are on their way share one transaction, and each
 * caller waits for it. A group has no key and no token twice, because the database decides on all of its
 * requests at once.
 */
export class AppendGroups<Request extends AppendRequest = AppendRequest> {
  readonly #options: AppendGroupsOptions<Request>
  #waiting: Waiting<Request>[] = []
  /** The groups that are on their way. */
  readonly #sent = new Set<Promise<void>>()
  /** Whether a turn is to come in which waiting requests are sent. */
  #isDue = false

  constructor(options: AppendGroupsOptions<Request>) {
    this.#options = options
  }

  add(request: Request): Promise<Appended> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ request, resolve, reject })
      this.#wake()
    })
  }

  /** Resolves when all requests were answered. */
  async drain(): Promise<void> {
    while (this.#waiting.length > 0 || this.#sent.size > 0) {
      this.#send()
      await Promise.race(this.#sent)
    }
  }

  /** Sends after this turn of the event loop, so that a group gets every request that is readable now. */
  #wake(): void {
    if (this.#isDue) return
    this.#isDue = true
    setImmediate(() => {
      this.#isDue = false
      this.#send()
    })
  }

  #send(): void {
    while (this.#waiting.length > 0 && this.#sent.size < groupsMax) {
      const sent = this.#commit(this.#nextGroup()).finally(() => {
        this.#sent.delete(sent)
        if (this.#waiting.length > 0) this.#wake()
      })
      this.#sent.add(sent)
    }
  }

  /** The longest beginning of the line that fits into one transaction. */
  #nextGroup(): readonly Waiting<Request>[] {
    const once = new Set<string>()
    let signups = 0
    const end = this.#waiting.findIndex(({ request }, index) => {
      const names = namesIn(request)
      // Nothing fits beside a request that must be alone.
      signups += this.#options.isAlone(request) ? Infinity : request.signups.length
      const fits = signups <= groupMax && !names.some((name) => once.has(name))
      for (const name of names) once.add(name)
      return index > 0 && !fits
    })
    return this.#waiting.splice(0, end === -1 ? Infinity : end)
  }

  async #commit(group: readonly Waiting<Request>[]): Promise<void> {
    const refused: Waiting<Request>[] = []
    try {
      const answers = await this.#options.commit(group.map(({ request }) => request))
      group.forEach((waiting, index) => {
        const answer = answers[index]
        if (answer?.status === 'fulfilled') waiting.resolve(answer.value)
        else if (answer?.reason instanceof DataRefused && group.length > 1) refused.push(waiting)
        else waiting.reject(answer?.reason)
      })
    } catch (error) {
      for (const { reject } of group) reject(error)
    }
    // One of them has what the database does not take. The others are committed without it.
    for (const waiting of refused) await this.#commit([waiting])
  }
}

/** What a group has only once. */
function namesIn({ terms: { idempotency, token } }: AppendRequest): readonly string[] {
  return [
    ...(idempotency ? [`key ${JSON.stringify([idempotency.space, idempotency.key])}`] : []),
    ...(token === undefined ? [] : [`token ${token}`]),
  ]
}
