import { type Openness, opennessOf, overflowKeyOf } from '../../signup/closing.ts'
import type { Millis, SignupId } from '../../signup/signup.ts'
import type { JournalPolicy } from '../contracts/journal.ts'
import { ask, type Operation, reading, rowOf, statementsOf, type Step } from '../sql.ts'
import { dropFact, factOf, type ReadSite, setFact } from './facts.ts'
import { rowStatus } from './layout.ts'
import { adding, allTime } from './tally.ts'

/*
 * Every accepted signup takes a seat, but for those that are counted as `seatless` besides: ignored duplicates, and what
 * is in the overflow tab. Both are counted in every site, so a site that gets seats later knows who has taken some.
 */

/** As `takenSeats`, in SQL. */
export function seatsTaken(site: string): string {
  return `(SELECT coalesce(sum(CASE what WHEN 'seatless' THEN -count ELSE count END), 0) FROM tally
    WHERE site = ${site} AND what IN ('accepted', 'seatless', 'lost') AND slot = ${allTime} AND name = '')`
}

const sql = statementsOf('seats', ({ id }) => ({
  taken: `SELECT ${seatsTaken('$1')} AS taken`,
  count: adding(`VALUES ($1, $2, ${allTime}, '', $3)`),
  countIfSeatless: adding(`
    SELECT $1, 'seatless', ${allTime}, '', count(*) FROM signup
    WHERE signup.id = ${id('$2')} AND (row_status = ${rowStatus.none} OR CAST($3 AS text) = (
      SELECT key FROM tab WHERE tab.id = signup.tab))
    HAVING count(*) > 0`),
  // Once for each tab, as the fact $3 tells.
  unseat: adding(`
    SELECT $1, 'seatless', ${allTime}, '', count(*) FROM tab JOIN signup ON signup.tab = tab.id
    WHERE tab.site = $1 AND tab.key = $2 AND row_status IN (${rowStatus.wanted}, ${rowStatus.present})
      AND NOT EXISTS (SELECT 1 FROM fact WHERE fact.site = $1 AND fact.name = $3)
    HAVING count(*) > 0`),
  noteLost: `INSERT INTO tally AS known (site, what, slot, name, count) VALUES ($1, 'lost', ${allTime}, '', $2)
             ON CONFLICT (site, what, slot, name) DO UPDATE SET count = excluded.count
             WHERE excluded.count > known.count
               OR EXISTS (SELECT 1 FROM fact WHERE fact.site = $1 AND fact.name = $3)`,
}))

/** Name of a fact: a restore has counted all seats as taken, as nothing told how many were. */
export const guessedFact = 'lost seats guessed'

interface ClosingSite {
  readonly id: number
  readonly policy: Pick<JournalPolicy, 'closing'>
}

/** How many seats of a site are taken. To be relied on, it needs the lock of the head. */
export function* takenSeats(site: number): Operation<number> {
  const [answer] = yield* ask([sql.taken, site])
  return Number(rowOf(answer)['taken'])
}

/** Counts so many more of these. */
export function stepToCountSeats(site: number, what: 'seatless' | 'lost', count: number): Step {
  return [sql.count, site, what, count]
}

/** Counts an accepted signup that was added or released in this transaction as seatless, if it is. */
export function stepToCountIfSeatless({ id, policy }: ClosingSite, signup: SignupId): Step {
  return [sql.countIfSeatless, id, signup, overflowKeyOf(policy.closing) ?? null]
}

/** The steps that take the seats of what was in a tab before it became the overflow tab; behind the lock of the head. */
export function* stepsToUnseat({ id, policy }: ClosingSite): Operation<readonly Step[]> {
  const key = overflowKeyOf(policy.closing)
  const fact = `overflow tab ${key}`
  if (key === undefined || (yield* factOf(id, fact)) !== undefined) return []
  return [[sql.unseat, id, key, fact], setFact(id, fact, 'known')]
}

/**
 * Notes how many signups took a seat that the journal has lost, behind the lock of the head. It lowers only what a
 * restore has guessed: what it knows may have left the spreadsheet since, or have never come there.
 */
export function stepsToNoteLost(site: number, count: number): readonly Step[] {
  return [[sql.noteLost, site, count, guessedFact], dropFact(site, guessedFact)]
}

/** What this process knows of the seats of a site. Only appending decides: others may have taken the last one. */
export class Seats {
  readonly #site: ReadSite
  readonly #closing: NonNullable<JournalPolicy['closing']>
  #isFull = false
  /** How often it was learned that all are taken. */
  #learned = 0

  constructor(site: ReadSite & { readonly policy: Pick<JournalPolicy, 'closing'> }) {
    this.#site = site
    this.#closing = site.policy.closing ?? {}
  }

  /** As `IntakeLog.openness`. */
  openness(now: Millis): Openness {
    return opennessOf(this.#closing, { now, isFull: this.#isFull })
  }

  /** What becomes of a signup when so many seats are taken, whatever the time. */
  opennessAt(taken: number): Openness {
    const { overflowTab } = this.#closing
    return opennessOf({ overflowTab }, { now: 0, isFull: this.#isFullAt(taken) })
  }

  /** As `takenSeats`; 0 in a site without seats. */
  *taken(): Operation<number> {
    return this.#closing.after === undefined ? 0 : yield* takenSeats(this.#site.id)
  }

  /** Learns that so many seats are taken at least. To call when that is on disk. */
  learn(taken: number): void {
    if (!this.#isFullAt(taken)) return
    this.#isFull = true
    this.#learned += 1
  }

  /** As `IntakeLog.lookAtSeats`. */
  async look(): Promise<void> {
    const learned = this.#learned
    const isFull = this.#isFullAt(await reading(this.#site.db, this.taken()))
    // What was read may be from before that.
    if (learned === this.#learned) this.#isFull = isFull
  }

  #isFullAt(taken: number): boolean {
    return taken >= (this.#closing.after ?? Infinity)
  }
}
