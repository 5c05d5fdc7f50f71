import { type Millis, type Signup, type SignupId, tabKey } from '../../signup/signup.ts'
import { fingerprintHash, keyHash } from '../hashes.ts'
import type {
  Appended,
  AppendTerms,
  DefaultTab,
  Idempotency,
  IntakeLog,
  OwnedKey,
  Recalled,
  SignupStatus,
  TabCursor,
} from '../contracts/intake-log.ts'
import type { AppendGroups } from './append-groups.ts'
import type { KnownKey } from './appends.ts'
import type { AppendingSite, SiteRequest } from './commit-appends.ts'
import { openKey } from './default-tab.ts'
import type { PostgresSite } from './site.ts'
import { type Row, statementsOf } from './statement.ts'
import { PostgresTabs } from './tabs.ts'

const status = `
  SELECT position, signup.id, received_at AS "receivedAt", tab.name AS "sheetTab",
    tab.key = '' AS "isTabOpen", (
      SELECT batch.settled_at FROM rollcall.batch_range JOIN rollcall.batch ON number = batch
      WHERE batch_range.tab = signup.tab AND upto >= position
      ORDER BY upto LIMIT 1
    ) AS "writtenAt"
  FROM rollcall.signup JOIN rollcall.tab ON tab.id = signup.tab`

const sql = statementsOf('intake', {
  find: `${status} WHERE signup.id = $1 AND tab.site = $2`,
  between: `${status} WHERE position BETWEEN $1 AND $2 ORDER BY position`,
  key: `SELECT fingerprint, first_position AS first, last_position AS last, refused
        FROM rollcall.idempotency_key WHERE site = $1 AND key = $2`,
  cursors: `SELECT key, written_to AS upto
            FROM rollcall.tab JOIN rollcall.progress ON progress.tab = tab.id
            WHERE site = $1 AND key = ANY ($2::text[])`,
})

export class PostgresIntakeLog implements IntakeLog {
  readonly #site: PostgresSite
  readonly #tabs: PostgresTabs
  readonly #appending: AppendingSite
  readonly #groups: AppendGroups<SiteRequest>

  /** @param groups of the appends of all sites */
  constructor(site: PostgresSite, groups: AppendGroups<SiteRequest>) {
    this.#site = site
    this.#tabs = new PostgresTabs(site)
    this.#groups = groups
    this.#appending = {
      site,
      tabs: this.#tabs,
      recalled: async (known, { terms: { idempotency } }) =>
        idempotency ? this.#recalled(known, idempotency) : { kind: 'mismatch' },
    }
  }

  append(signups: readonly Signup[], terms: AppendTerms = {}): Promise<Appended> {
    return this.#groups.add({ site: this.#appending, signups, terms })
  }

  async recall(idempotency: Idempotency): Promise<Recalled | undefined> {
    const known = await this.#keyed(idempotency)
    return known && this.#recalled(known as unknown as KnownKey, idempotency)
  }

  async knows(key: OwnedKey): Promise<boolean> {
    return (await this.#keyed(key)) !== undefined
  }

  takesTab(name: string, at: Millis, opener?: string): Promise<boolean> {
    return this.#tabs.wouldTake(name, at, opener)
  }

  async find(id: SignupId): Promise<SignupStatus | undefined> {
    const row = await this.#site.db.get(sql.find, id, this.#site.id)
    return row && toStatus(row)
  }

  get defaultTab(): DefaultTab {
    return this.#site.defaultTab.current
  }

  onSettle(listener: (cursors: readonly TabCursor[]) => void): () => void {
    return this.#site.settled.add(listener)
  }

  async cursors(tabs: readonly string[]): Promise<readonly TabCursor[]> {
    const { db, id, defaultTab } = this.#site
    const { name, isResolved } = await defaultTab.now()
    if (tabs.length === 0) return []
    const keyOf = (tab: string) => tabKey(tab === openKey && isResolved ? name : tab)
    const rows = await db.all(sql.cursors, id, tabs.map(keyOf))
    const upto = new Map(rows.map((row) => [row['key'], Number(row['upto'])]))
    return tabs.flatMap((tab) => {
      const at = upto.get(keyOf(tab))
      return at === undefined ? [] : [{ tab, upto: at }]
    })
  }

  #keyed(owned: OwnedKey): Promise<Row | undefined> {
    const { db, id, secret } = this.#site
    return db.get(sql.key, id, keyHash(secret, owned))
  }

  async #recalled(
    { fingerprint, first, last, refused }: Omit<KnownKey, 'kind'>,
    idempotency: Idempotency,
  ): Promise<Recalled> {
    const { db, secret } = this.#site
    if (fingerprint !== fingerprintHash(secret, idempotency.fingerprint))
      return { kind: 'mismatch' }
    const rows = await db.all(sql.between, first, last)
    const results: (SignupStatus | undefined)[] = rows.map(toStatus)
    const places = refused === '' ? [] : (JSON.parse(refused) as number[])
    for (const place of places) results.splice(place, 0, undefined)
    return { kind: 'replayed', results }
  }
}

function toStatus(row: Row): SignupStatus {
  const writtenAt = row['writtenAt']
  return {
    id: row['id'] as SignupId,
    position: Number(row['position']),
    sheetTab: String(row['sheetTab']),
    receivedAt: Number(row['receivedAt']),
    ...(row['isTabOpen'] === true && { isTabOpen: true }),
    ...(writtenAt !== null && { writtenAt: Number(writtenAt) }),
  }
}
