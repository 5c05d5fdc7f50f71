import type { Clock } from '../../platform/clock.ts'
import type { Millis } from '../../signup/signup.ts'
import { type Database, rowOf, statementsOf } from '../sql.ts'

const sql = statementsOf('postgres time', {
  now: 'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now',
})

/** After this time, the next look at the clock asks the database anew. */
const keptMs: Millis = 60_000
/** An answer that took longer tells the time less exactly than a kept one. */
const askMaxMs: Millis = 200
/** How often to ask for the first time, until an answer is quick. */
const asksMax = 5
/** After this time, any answer is better than the kept one. */
const keptMaxMs: Millis = 10 * 60_000

interface Known {
  /** The time of the database at the moment `elapsed` of this process. */
  readonly at: Millis
  readonly elapsed: Millis
  /** How long the answer took. */
  readonly tookMs: Millis
}

/**
 * The wall clock of the database, which all instances share. Between two answers it runs by the elapsed
 * time of this process, so the wall clock of this machine does not matter.
 */
export class DatabaseTime implements Pick<Clock, 'now' | 'elapsed'> {
  readonly elapsed: () => Millis
  readonly #ask: () => Promise<Known>
  #known: Known
  #isAsking = false

  private constructor(elapsed: () => Millis, ask: () => Promise<Known>, known: Known) {
    this.elapsed = elapsed
    this.#ask = ask
    this.#known = known
  }

  static async open(
    db: Pick<Database, 'query'>,
    clock: Pick<Clock, 'elapsed'>,
  ): Promise<DatabaseTime> {
    const ask = () => askTime(db, clock)
    let best = await ask()
    for (let asks = 1; asks < asksMax && best.tookMs > askMaxMs; asks++) {
      const next = await ask()
      if (next.tookMs < best.tookMs) best = next
    }
    return new DatabaseTime(() => clock.elapsed(), ask, best)
  }

  /** A whole number. At most some tenths of a second off, as long as the database answers now and then. */
  now(): Millis {
    const now = this.elapsed()
    if (now - this.#known.elapsed > keptMs && !this.#isAsking) void this.#renew()
    return Math.floor(this.#known.at + now - this.#known.elapsed)
  }

  async #renew(): Promise<void> {
    this.#isAsking = true
    // Without an answer, the next look asks again.
    const answer = await this.#ask().catch(() => undefined)
    this.#isAsking = false
    if (!answer) return
    const age = answer.elapsed - this.#known.elapsed
    if (answer.tookMs <= askMaxMs || age > keptMaxMs) this.#known = answer
  }
}

async function askTime(db: Pick<Database, 'query'>, clock: Pick<Clock, 'elapsed'>): Promise<Known> {
  const from = clock.elapsed()
  const [answer] = await db.query([sql.now])
  const tookMs = clock.elapsed() - from
  return { at: Number(rowOf(answer)['now']), elapsed: from + tookMs / 2, tookMs }
}
