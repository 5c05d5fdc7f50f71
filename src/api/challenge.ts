import { type Answer, json } from '../http/answer.ts'
import { Budget } from '../http/budget.ts'
import type { Exchange } from '../http/exchange.ts'
import { refuse } from '../http/refuse.ts'

/** The most puzzles that are made at the same time, for all sites: a quarter of a second of a core. */
const atOnceMax = 256

/**
 * `GET /api/challenge`: a puzzle of a site's proof of work. A puzzle costs a millisecond of a core, so a
 * client gets so many a minute, and its share of those that are made at the same time.
 */
export class Puzzles {
  readonly #making = new Budget({ max: atOnceMax, clientMax: atOnceMax })

  /**
   * @param make undefined when the site has no proof of work
   * @throws Refusal 404, 429, or 503 while too many puzzles are made
   */
  async answer(
    exchange: Pick<Exchange, 'client' | 'take'>,
    make: (() => Promise<object>) | undefined,
  ): Promise<Answer> {
    if (!make) throw refuse.noSuchPuzzle()
    exchange.take(1, 'puzzles')
    const { client, part } = exchange.client.share
    if (!this.#making.take(client, 1, part * atOnceMax)) throw refuse.tooManyPuzzles()
    try {
      return json('ok', await make())
    } finally {
      this.#making.free(client)
    }
  }
}
