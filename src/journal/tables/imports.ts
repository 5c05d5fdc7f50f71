import { timeOfId } from '../../signup/id.ts'
import type { Signup } from '../../signup/signup.ts'
import type { Imported, ImportLog, ImportTerms } from '../contracts/import-log.ts'
import { addressHash, personOf } from '../hashes.ts'
import {
  type Dialect,
  type GivenKind,
  givenRows,
  type Row,
  statementsOf,
  type Step,
  type Value,
} from '../sql.ts'
import { KnownAddresses } from './known-addresses.ts'
import { peopleWhere, rowStatus } from './layout.ts'
import type { Site } from './site.ts'
import { type NamedTab, Tabs } from './tabs.ts'
import { stepsOfSilence } from './webhooks.ts'
import { withWordings } from './pending/wordings.ts'

/** After how many signups since the last look the known addresses are out of date. */
const recentMax = 1_000

const columns: Readonly<Record<string, GivenKind>> = {
  ...{ no: 'integer', key: 'text', email: 'text', hash: 'text', person: 'text' },
  ...{ isRepeated: 'flag', isPlanned: 'flag' },
}

/**
 * Common table expressions that decide on the signups $3 of the site $1, by `no` from 1. There is no row
 * when this process does not know the addresses of too many signups after the position $2, or has made no
 * hashes ($4) and some are stored. Duplicates are kept when $2 is null.
 */
export function deciding({ given, lower, ofPerson, lastPosition }: Dialect): string {
  return `stale AS (
      SELECT 1 WHERE ${lastPosition} > CAST($2 AS bigint) + ${recentMax}
      UNION ALL
      SELECT 1 WHERE NOT CAST($4 AS boolean)
        AND (EXISTS (SELECT 1 FROM tombstone) OR EXISTS (SELECT 1 FROM signup WHERE ${peopleWhere('listed')}))
    ), recent AS (
      SELECT tab, ${lower('email')} AS email FROM signup
      WHERE position > $2 AND position <= CAST($2 AS bigint) + ${recentMax} AND email <> ''
        AND row_status <> ${rowStatus.held}
        AND NOT EXISTS (SELECT 1 FROM removal WHERE removal.position = signup.position)
    ), item AS (
      SELECT given.*, tab.id AS tab, tab.name,
        EXISTS (SELECT 1 FROM tombstone
                WHERE site = $1 AND tombstone.hash = given.hash) AS is_forgotten,
        (tab.id, ${lower('given.email')}) IN (SELECT tab, email FROM recent) AS is_recent,
        CAST($2 AS bigint) IS NOT NULL AND EXISTS (
          SELECT 1 FROM signup AS kept
          WHERE ${ofPerson({ signup: 'kept', person: 'given.person', tab: 'tab.id', after: '0' })}) AS is_kept
      FROM ${given('given', '$3', columns)}
      LEFT JOIN tab ON tab.site = $1 AND tab.key = given.key
      WHERE NOT EXISTS (SELECT 1 FROM stale)
    ), decided AS (
      SELECT no, key, tab, name, CASE
        WHEN tab IS NULL AND NOT "isPlanned" THEN 'tooManyTabs'
        WHEN is_forgotten AND NOT coalesce(is_recent, false) THEN 'forgotten'
        WHEN "isRepeated" OR coalesce(is_recent, false) OR is_kept THEN 'known'
        ELSE 'added' END AS result
      FROM item
    )`
}

/** What is to be known of each decision. */
export function decisions({ lastPosition }: Dialect): string {
  return `SELECT result, tab AS id, key, name, ${lastPosition} AS last FROM decided ORDER BY no`
}

export const { decide } = statementsOf('imports', (dialect) => ({
  decide: `WITH ${deciding(dialect)} ${decisions(dialect)}`,
}))

/** How an engine adds what is imported. */
export interface ImportEngine {
  /** Whether a look costs no round trip. Then each call looks first, and reads less under the lock. */
  readonly looksFirst: boolean
  /**
   * Adds those signups that are decided to be added, in one commit with these steps before and behind. It
   * needs the lock of the head. Returns the decisions, which are made by these values.
   */
  add(
    values: readonly Value[],
    signups: readonly Signup[],
    before: readonly Step[],
    behind: readonly Step[],
  ): Promise<readonly Row[]>
  /**
   * Calls `add` with the signups, and again with the rest when a commit has lost its answer. Resolves with the
   * results in order, without those of which nobody knows, and why these have none.
   */
  settle(
    signups: readonly Signup[],
    add: (rest: readonly Signup[]) => Promise<readonly Imported[]>,
  ): Promise<{ readonly results: readonly Imported[]; readonly failure?: unknown }>
  flush(): Promise<void>
}

/** A signup with the tab that it names. */
interface Item {
  readonly signup: Signup
  readonly tab: NamedTab
}

export class Imports implements ImportLog, Disposable {
  readonly #site: Site
  readonly #engine: ImportEngine
  readonly #tabs: Tabs
  readonly #known: KnownAddresses
  /**
   * Whether addresses are hashed: not before a decision was out of date, because most journals have no hash to
   * compare them with, and one costs more than all else that is done for a signup in JavaScript.
   */
  #hashes = false
  /** The last call. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(site: Site, engine: ImportEngine) {
    this.#site = site
    this.#engine = engine
    this.#tabs = new Tabs(site)
    this.#known = new KnownAddresses(site)
  }

  [Symbol.dispose](): void {
    this.#known[Symbol.dispose]()
  }

  add(signups: readonly Signup[], terms?: ImportTerms): Promise<readonly Imported[]> {
    const known = this.#knownBy(terms)
    const isSilent = terms?.webhooks !== true
    const addAll = async (all: readonly Signup[]) => {
      const { results, failure } = await this.#engine.settle(all, (rest) =>
        this.#decide(rest, known, (others) => this.#commit(others, known, isSilent)),
      )
      const added = results.filter((result) => result === 'added').length
      if (added > 0) this.#site.appended.tell(added)
      if (results.length < all.length) throw failure
      return results
    }
    return this.#inTurn(() => withWordings(this.#site, signups, addAll))
  }

  flush(): Promise<void> {
    return this.#engine.flush()
  }

  preview(signups: readonly Signup[], terms?: ImportTerms): Promise<readonly Imported[]> {
    const known = this.#knownBy(terms)
    return this.#inTurn(() => this.#decide(signups, known, (others) => this.#look(others, known)))
  }

  /** Undefined when addresses do not count. */
  #knownBy({ keepsDuplicates = false }: ImportTerms = {}): KnownAddresses | undefined {
    return keepsDuplicates ? undefined : this.#known
  }

  /** One at a time, because each call has to know the addresses of the one before. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work)
    this.#last = done.catch(() => undefined)
    return done
  }

  /**
   * Tells what becomes of these signups.
   *
   * @param decideOn decides on those whose addresses are not known; no decisions mean that what this
   *   instance knows is out of date
   */
  async #decide(
    signups: readonly Signup[],
    known: KnownAddresses | undefined,
    decideOn: (others: readonly Item[]) => Promise<readonly Imported[]>,
  ): Promise<readonly Imported[]> {
    if (this.#engine.looksFirst || !known?.isCurrent) await known?.catchUp()
    for (;;) {
      const items = signups.map((signup) => ({ signup, tab: this.#tabs.named(signup.sheetTab) }))
      const areKnown = items.map(({ signup, tab }) => known?.has(tab.key, signup.email))
      const others = items.filter((_, index) => !areKnown[index])
      // A list that was imported before needs no transaction.
      const decided = others.length === 0 ? [] : await decideOn(others)
      if (decided.length === others.length) {
        const results = decided.values()
        return areKnown.map((isKnown) => (isKnown ? 'known' : (results.next().value ?? 'known')))
      }
      this.#hashes = true
      // An engine may answer without a turn of the event loop.
      await new Promise((resolve) => setImmediate(resolve))
      await known?.catchUp()
    }
  }

  async #commit(
    items: readonly Item[],
    known: KnownAddresses | undefined,
    isSilent: boolean,
  ): Promise<readonly Imported[]> {
    const upto = known?.upto
    const tabs = items.map(({ tab }) => tab)
    const signups = items.map(({ signup }) => signup)
    // An imported signup may have an old timestamp, but its id has the time when it came.
    const at = signups[0] ? timeOfId(signups[0].id) : 0
    const values = this.#values(items, known)
    const { begin, end } = stepsOfSilence(this.#site.id)
    const before = [...this.#tabs.stepsToMake({ tabs, at }), ...(isSilent ? [begin] : [])]
    const rows = await this.#engine.add(values, signups, before, isSilent ? [end] : [])
    this.#tabs.learnFrom(rows)
    const results = resultsOf(rows)
    if (known && Number(rows[0]?.['last']) === upto) {
      const added = items.filter((_, index) => results[index] === 'added')
      for (const { signup, tab } of added) known.learn(tab.key, signup.email)
      known.upto += added.length
    }
    return results
  }

  async #look(
    items: readonly Item[],
    known: KnownAddresses | undefined,
  ): Promise<readonly Imported[]> {
    const planned = await this.#tabs.plan(items.map(({ tab }) => tab))
    const values = this.#values(items, known, planned)
    const [{ rows }] = await this.#site.db.query([decide, ...values])
    const results = resultsOf(rows)
    for (const [index, { signup, tab }] of items.entries()) {
      if (results[index] === 'added') known?.learn(previewed(tab.key), signup.email)
    }
    return results
  }

  /** The values of `deciding`. */
  #values(
    items: readonly Item[],
    known: KnownAddresses | undefined,
    planned: ReadonlySet<string> = new Set(),
  ): readonly Value[] {
    const { id, secret } = this.#site
    const seen = new Set<string>()
    const given = items.map(({ signup: { email }, tab: { key } }, index) => {
      const isPlanned = planned.has(key)
      const name = `${key}\u0000${email.toLowerCase()}`
      const isAgain = seen.has(name) || (isPlanned && known?.has(previewed(key), email))
      seen.add(name)
      const isRepeated = known !== undefined && isAgain === true
      const hash = this.#hashes ? addressHash(secret, email) : null
      const person = personOf(hash)
      return { no: index + 1, key, email, hash, person, isRepeated, isPlanned }
    })
    return [id, known?.upto ?? null, givenRows(given), this.#hashes]
  }
}

/** The key under which the addresses of previews are known. No name of a tab has this character. */
function previewed(key: string): string {
  return `\u0000${key}`
}

function resultsOf(rows: readonly Row[]): readonly Imported[] {
  return rows.map(({ result }) => result as Imported)
}
