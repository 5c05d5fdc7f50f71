import type { Clock } from '../../platform/clock.ts'
import { timeOfId } from '../../signup/id.ts'
import type { Signup } from '../../signup/signup.ts'
import { addressHash } from '../hashes.ts'
import type { Imported, ImportLog, ImportTerms } from '../contracts/import-log.ts'
import type { NamedTab } from './append-request.ts'
import { openKey } from './default-tab.ts'
import { KnownAddresses } from './known-addresses.ts'
import { headLock } from './locks.ts'
import { addingPlaced, listNames, listsOf, listTypes } from './new-signups.ts'
import { settleUnknown } from './settle-unknown.ts'
import type { PostgresSite } from './site.ts'
import { statementsOf } from './statement.ts'
import { PostgresTabs } from './tabs.ts'

/** After how many signups since the last look the known addresses are out of date. */
const recentMax = 1_000

/** Stands for a position after all signups. */
const afterAll = Number.MAX_SAFE_INTEGER

const sql = statementsOf('imports', {
  // Nothing is added when the group does not know that the default tab has got its final name ($3), or
  // does not know the addresses of too many signups after the position $4.
  add: `
    WITH stale AS (
      SELECT 1 FROM rollcall.fact WHERE site = $1 AND name = $3
      UNION ALL
      SELECT 1 FROM rollcall.head WHERE position > $4::bigint + ${recentMax}
    ), tabs AS (
      SELECT no, tab.id
      FROM unnest($2::text[]) WITH ORDINALITY AS wanted (key, no)
      JOIN rollcall.tab ON tab.site = $1 AND tab.key = wanted.key
    ), recent AS (
      SELECT tab, lower(email COLLATE "C") AS email FROM rollcall.signup
      WHERE position > $4 AND position <= $4::bigint + ${recentMax} AND email <> ''
        AND NOT EXISTS (SELECT 1 FROM rollcall.removal WHERE removal.position = signup.position)
    ), item AS (
      SELECT given.*, tabs.id AS tab,
        EXISTS (SELECT 1 FROM rollcall.tombstone
                WHERE site = $1 AND tombstone.hash = given.hash) AS is_forgotten,
        (tabs.id, lower(given.email COLLATE "C")) IN (SELECT tab, email FROM recent) AS is_recent,
        NOT $5::boolean AND EXISTS (
          SELECT 1 FROM rollcall.kept_address AS kept
          WHERE kept.tab = tabs.id AND kept.hash = given.hash) AS is_kept
      FROM unnest($6::integer[], $7::boolean[], $8::text[], ${listTypes(9)})
        WITH ORDINALITY AS given (tab_no, is_repeated, hash, ${listNames}, no)
      LEFT JOIN tabs ON tabs.no = given.tab_no
      WHERE NOT EXISTS (SELECT 1 FROM stale)
    ), decided AS (
      SELECT item.*, CASE
        WHEN tab IS NULL THEN 'tooManyTabs'
        WHEN is_forgotten AND NOT is_recent THEN 'forgotten'
        WHEN is_repeated OR is_recent OR is_kept THEN 'known'
        ELSE 'added' END AS result
      FROM item
    ), placed AS (
      SELECT decided.*, head.position + row_number() OVER (ORDER BY no) AS position
      FROM decided, rollcall.head WHERE result = 'added'
    ), ${addingPlaced('0')}
    SELECT head.position, EXISTS (SELECT 1 FROM stale) AS "isStale",
      (SELECT json_agg(no) FROM tabs) AS tabs,
      (SELECT json_agg(result ORDER BY no) FROM decided) AS results
    FROM rollcall.head`,
  obstacles: `
    SELECT
      EXISTS (SELECT 1 FROM rollcall.tombstone
              WHERE site = $1 AND tombstone.hash = given.hash) AS "isForgotten",
      EXISTS (SELECT 1 FROM rollcall.kept_address AS kept
              JOIN rollcall.tab ON tab.id = kept.tab AND tab.site = $1 AND tab.key = given.key
              WHERE kept.hash = given.hash) AS "isKept"
    FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS given (key, hash, no) ORDER BY no`,
})

/** A request of one signup. */
interface Single {
  readonly signups: readonly Signup[]
}

export class PostgresImportLog implements ImportLog, Disposable {
  readonly #site: PostgresSite
  readonly #clock: Pick<Clock, 'elapsed' | 'sleep'>
  readonly #tabs: PostgresTabs
  readonly #known: KnownAddresses
  /** The keys of tabs that `preview` would have made. */
  readonly #planned = new Set<string>()
  /** The last call. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(site: PostgresSite, clock: Pick<Clock, 'elapsed' | 'sleep'>) {
    this.#site = site
    this.#clock = clock
    this.#tabs = new PostgresTabs(site)
    this.#known = new KnownAddresses(site)
  }

  [Symbol.dispose](): void {
    this.#known[Symbol.dispose]()
  }

  add(
    signups: readonly Signup[],
    { keepsDuplicates = false }: ImportTerms = {},
  ): Promise<readonly Imported[]> {
    return this.#inTurn(async () => {
      const singles = signups.map((signup): Single => ({ signups: [signup] }))
      const { outcomes, failure } = await settleUnknown<Single, Imported>(
        this.#site,
        this.#clock,
        singles,
        (rest) =>
          this.#add(
            rest.flatMap((one) => one.signups),
            keepsDuplicates,
          ),
        () => 'added',
      )
      const results = singles.flatMap((single) => outcomes.get(single) ?? [])
      const added = results.filter((result) => result === 'added').length
      if (added > 0) this.#site.appended.tell(added)
      if (results.length < singles.length) throw failure
      return results
    })
  }

  /** Every commit is on disk already. */
  async flush(): Promise<void> {}

  preview(
    signups: readonly Signup[],
    { keepsDuplicates = false }: ImportTerms = {},
  ): Promise<readonly Imported[]> {
    return this.#inTurn(async () => {
      const { db, id, secret, defaultTab } = this.#site
      if (keepsDuplicates) await defaultTab.now()
      else await this.#known.catchUp()
      const tabs = signups.map(({ sheetTab }) => this.#tabs.named(sheetTab))
      const keys = tabs.map(({ key }) => key)
      const hashes = signups.map(({ email }) => addressHash(secret, email))
      const obstacles = await db.all(sql.obstacles, id, keys, hashes)
      const isTaken = await this.#plan(keys)
      return signups.map(({ email }, index): Imported => {
        const key = keys[index] ?? ''
        if (!isTaken(key)) return 'tooManyTabs'
        const { isForgotten, isKept } = obstacles[index] ?? {}
        const isKnown = !keepsDuplicates && this.#known.has(key, email)
        if (isForgotten === true) return isKnown ? 'known' : 'forgotten'
        if (keepsDuplicates) return 'added'
        const isNew = !isKnown && isKept !== true && this.#known.learn(previewed(key), email)
        return isNew ? 'added' : 'known'
      })
    })
  }

  /** One at a time, because each call has to know the addresses of the one before. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work)
    this.#last = done.catch(() => undefined)
    return done
  }

  async #add(signups: readonly Signup[], keepsDuplicates: boolean): Promise<readonly Imported[]> {
    if (!keepsDuplicates && !this.#known.isCurrent) await this.#known.catchUp()
    for (;;) {
      const areKnown = signups.map(
        ({ email, sheetTab }) =>
          !keepsDuplicates && this.#known.has(this.#tabs.named(sheetTab).key, email),
      )
      const others = signups.filter((_, index) => !areKnown[index])
      // A list that was imported before needs no transaction.
      const committed = others.length === 0 ? [] : await this.#commit(others, keepsDuplicates)
      if (committed) {
        const results = [...committed]
        return areKnown.map((isKnown) => (isKnown ? 'known' : (results.shift() ?? 'known')))
      }
      if (keepsDuplicates) await this.#site.defaultTab.now()
      else await this.#known.catchUp()
    }
  }

  /**
   * Adds signups whose addresses are not known. Returns undefined when it has added nothing, because what
   * this instance knows is out of date.
   */
  async #commit(
    signups: readonly Signup[],
    keepsDuplicates: boolean,
  ): Promise<readonly Imported[] | undefined> {
    const { db, id, secret, defaultTab } = this.#site
    const tabs = signups.map(({ sheetTab }) => this.#tabs.named(sheetTab))
    const keys = [...new Set(tabs.map(({ key }) => key))]
    const upto = this.#known.upto
    const answers = await db.inOneGo(headLock, [
      ...this.#stepsToMakeTabs(signups, tabs),
      [
        sql.add,
        id,
        keys,
        keys.includes(openKey) ? defaultTab.fact : null,
        keepsDuplicates ? afterAll : upto,
        keepsDuplicates,
        tabs.map(({ key }) => keys.indexOf(key) + 1),
        repeatedIn(signups, tabs).map((isRepeated) => isRepeated && !keepsDuplicates),
        signups.map(({ email }) => addressHash(secret, email)),
        ...listsOf(signups),
      ],
    ])
    const answer = answers.at(-1)?.[0] ?? {}
    if (answer['isStale'] === true) return undefined
    const found = (answer['tabs'] ?? []) as readonly number[]
    this.#tabs.learn(found.map((no) => keys[no - 1] ?? ''))
    const results = (answer['results'] ?? []) as readonly Imported[]
    const added = signups.filter((_, index) => results[index] === 'added')
    if (!keepsDuplicates && Number(answer['position']) === upto) {
      for (const { email, sheetTab } of added) {
        this.#known.learn(this.#tabs.named(sheetTab).key, email)
      }
      this.#known.keep(upto + added.length)
    }
    return results
  }

  #stepsToMakeTabs(signups: readonly Signup[], tabs: readonly NamedTab[]) {
    const [first] = signups
    if (!first) return []
    // An imported signup may have an old timestamp, but its id has the time when it came.
    const begun = { ...first, receivedAt: timeOfId(first.id) }
    const nothing = { terms: {}, key: undefined, fingerprint: undefined }
    return this.#tabs.stepsToMake({ ...nothing, signups: [begun], tabs })
  }

  /** Which of the tabs with these keys are there, or would be made after those of earlier previews. */
  async #plan(keys: readonly string[]): Promise<(key: string) => boolean> {
    const { there, room } = await this.#tabs.look(keys)
    let left = room - [...this.#planned].filter((key) => !this.#tabs.isFree(key)).length
    for (const key of new Set(keys)) {
      if (there.has(key) || this.#planned.has(key)) continue
      if (!this.#tabs.isFree(key) && left <= 0) continue
      if (!this.#tabs.isFree(key)) left -= 1
      this.#planned.add(key)
    }
    return (key) => there.has(key) || this.#planned.has(key)
  }
}

/** Whether each signup has the address and the tab of an earlier one in the list. */
function repeatedIn(signups: readonly Signup[], tabs: readonly NamedTab[]): readonly boolean[] {
  const seen = new Set<string>()
  return signups.map(({ email }, index) => {
    const name = JSON.stringify([tabs[index]?.key, email.toLowerCase()])
    const isRepeated = seen.has(name)
    seen.add(name)
    return isRepeated
  })
}

/** The key under which the addresses of previews are known. No name of a tab has this character. */
function previewed(key: string): string {
  return `\u0000${key}`
}
