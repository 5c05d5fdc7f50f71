import { tabKey } from '../../signup/signup.ts'
import type { DefaultTab } from '../contracts/intake-log.ts'
import type { JournalPolicy } from '../contracts/journal.ts'
import {
  ask,
  type Database,
  headLock,
  numberOf,
  type Operation,
  siteLock,
  statementsOf,
  rowOf,
} from '../sql.ts'
import { factOf, readFact, setFact } from './facts.ts'
import { rowStatus } from './layout.ts'

/** Key of the default tab until it is resolved. No signup can name a tab with this key. */
export const unresolvedKey = ''

/** How many positions are looked through at once. That takes a fifth of a second. */
const slicePositions = 20_000

const { wanted, none } = rowStatus

const sql = statementsOf('default tab', ({ lower, behind, lastPosition }) => ({
  tab: 'SELECT id FROM tab WHERE site = $1 AND key = $2',
  nameTab: 'UPDATE tab SET key = $1, name = $2 WHERE id = $3',
  first: `SELECT position FROM signup WHERE ${behind('CAST($1 AS integer)', '0')}
          ORDER BY tab, position LIMIT 1`,
  last: `SELECT ${lastPosition} AS position`,
  // The next four are about the signups of $1 from the position $3 to $4, which move to $2. First, those
  // are marked that become duplicates by the move, and those that they make duplicates. The sums keep
  // PostgreSQL from reading a whole tab by another index than that of addresses.
  ignoreMoved: `
    UPDATE signup AS moved SET row_status = ${none}
    WHERE tab = $1 AND position BETWEEN $3 AND $4 AND email <> ''
      AND EXISTS (
        SELECT 1 FROM signup AS earlier
        WHERE earlier.tab + 0 IN ($1, $2) AND earlier.position + 0 < moved.position
          AND NOT EXISTS (SELECT 1 FROM removal WHERE removal.position = earlier.position)
          AND ${lower('earlier.email')} = ${lower('moved.email')})`,
  ignoreLater: `
    UPDATE signup AS later SET row_status = ${none}
    FROM signup AS moved
    WHERE moved.tab = $1 AND moved.position BETWEEN $3 AND $4 AND moved.email <> ''
      AND NOT EXISTS (SELECT 1 FROM removal WHERE removal.position = moved.position)
      AND later.tab + 0 = $2 AND later.position + 0 > moved.position
      AND ${lower('later.email')} = ${lower('moved.email')}`,
  // Another instance, with other settings, may have delivered later signups already.
  queueOvertaken: `
    INSERT INTO redelivery (tab, position, queued_at)
    SELECT $2, position, received_at FROM signup
    WHERE tab = $1 AND position BETWEEN $3 AND $4 AND row_status = ${wanted} AND email <> ''
      AND position + 0 <= (SELECT written_to FROM progress WHERE tab = $2)
    ON CONFLICT DO NOTHING`,
  moveSignups: 'UPDATE signup SET tab = $2 WHERE tab = $1 AND position BETWEEN $3 AND $4',
  moveAccepted: `UPDATE tab SET accepted = accepted
                   + CASE id WHEN $2 THEN CAST($3 AS bigint) ELSE -CAST($3 AS bigint) END
                 WHERE id IN ($1, $2)`,
  moveSuspects: 'UPDATE suspect SET tab = $2 WHERE tab = $1',
  deleteTab: 'DELETE FROM tab WHERE id = $1',
  deleteProgress: 'DELETE FROM progress WHERE tab = $1',
}))

interface TabSite {
  readonly db: Database
  readonly id: number
  readonly policy: Pick<JournalPolicy, 'defaultTab' | 'duplicates' | 'quarantineTab'>
}

/** The name of a site's default tab: from the settings, or the one that was found out for its spreadsheet. */
export class DefaultTabName {
  /** The name of the fact that is there as soon as the tab has its final name. */
  readonly fact: string
  readonly #site: TabSite
  #current: DefaultTab

  constructor(site: TabSite) {
    const { name, provisionalFor } = site.policy.defaultTab
    this.fact = `default tab of ${provisionalFor ?? ''}`
    this.#site = site
    this.#current = { name, isResolved: provisionalFor === undefined }
  }

  /** The name that this process knows. */
  get current(): DefaultTab {
    return this.#current
  }

  /** The keys of a default tab that the spreadsheet names; none when the settings name it. */
  get keys(): readonly string[] {
    const isNamed = this.#site.policy.defaultTab.provisionalFor === undefined
    return isNamed ? [] : [unresolvedKey, tabKey(this.#current.name)]
  }

  /** The current name, after a look whether another process has resolved it. */
  *look(): Operation<DefaultTab> {
    if (this.#current.isResolved) return this.#current
    return this.#learn(yield* factOf(this.#site.id, this.fact))
  }

  /** As `look`, outside of a transaction. */
  async latest(): Promise<DefaultTab> {
    if (this.#current.isResolved) return this.#current
    return this.#learn(await readFact(this.#site, this.fact))
  }

  /** As `DeliveryLog.resolveDefaultTab`. */
  async resolve(found: string): Promise<DefaultTab> {
    const [site, fact] = [this.#site, this.fact]
    const { db, id, policy } = site
    // Suspect signups have their tab to themselves.
    const isTaken = tabKey(found) === tabKey(policy.quarantineTab ?? '')
    const name = isTaken ? policy.defaultTab.name : found
    while (!this.#current.isResolved) {
      const noted = await db.transact([headLock, siteLock(id)], function* () {
        const noted = yield* factOf(id, fact)
        if (noted !== undefined || !(yield* closing(site, name))) return noted
        yield* ask(setFact(id, fact, name))
        return name
      })
      this.#learn(noted)
    }
    return this.#current
  }

  /** Whether an earlier process has left signups under `unresolvedKey`, and the tab has its final name now. */
  *isLeft(): Operation<boolean> {
    const { isResolved } = yield* this.look()
    if (!isResolved) return false
    const [{ rows }] = yield* ask([sql.tab, this.#site.id, unresolvedKey])
    return rows.length > 0
  }

  /** Moves those signups. Returns whether that is done. It needs the locks of the head and of the site. */
  closeLeft(): Operation<boolean> {
    return closing(this.#site, this.#current.name)
  }

  /** Takes over the name that another process has noted, if there is one. */
  #learn(name: string | undefined): DefaultTab {
    if (name !== undefined) this.#current = { name, isResolved: true }
    return this.#current
  }
}

/**
 * Gives the tab under `unresolvedKey` its final name, or moves its signups to the tab of that name, a slice
 * at a time. That keeps their order: no batch can hold them or later ones, because `freeze` rejects until
 * this is done. Returns whether it is.
 */
function* closing({ id, policy }: TabSite, name: string): Operation<boolean> {
  const key = tabKey(name)
  const answers = yield* ask([sql.tab, id, unresolvedKey], [sql.tab, id, key], [sql.last])
  const [from, to] = answers.map(({ rows }) => numberOf(rows[0]?.['id']))
  const last = Number(rowOf(answers[2])['position'])
  if (from === undefined) return true
  if (to === undefined) {
    yield* ask([sql.nameTab, key, name, from])
    return true
  }
  const [{ rows }] = yield* ask([sql.first, from])
  const first = numberOf(rows[0]?.['position'])
  if (first !== undefined) {
    const upto = first + slicePositions - 1
    const slice = [from, to, first, upto] as const
    if (policy.duplicates === 'ignore') {
      yield* ask([sql.ignoreMoved, ...slice], [sql.ignoreLater, ...slice])
    }
    const [, moved] = yield* ask([sql.queueOvertaken, ...slice], [sql.moveSignups, ...slice])
    yield* ask([sql.moveAccepted, from, to, moved.changes])
    if (upto < last) return false
  }
  yield* ask([sql.moveSuspects, from, to], [sql.deleteTab, from], [sql.deleteProgress, from])
  return true
}
