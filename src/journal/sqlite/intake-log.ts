import { type Millis, type Signup, type SignupId, tabKey } from '../../signup/signup.ts'
import type { GroupCommit } from '../group-commit.ts'
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
import { type AppendRequest, SqliteAppends, toStatus } from './appends.ts'
import { openKey } from './default-tab.ts'
import { bytesOfId } from './signup-id.ts'
import type { SqliteSite } from './site.ts'

export class SqliteIntakeLog implements IntakeLog {
  readonly #site: SqliteSite
  readonly #appends: SqliteAppends
  readonly #commits: GroupCommit<AppendRequest, Appended>

  /** @param commits of the appends of all sites */
  constructor(site: SqliteSite, commits: GroupCommit<AppendRequest, Appended>) {
    this.#site = site
    this.#appends = new SqliteAppends(site)
    this.#commits = commits
  }

  append(signups: readonly Signup[], terms: AppendTerms = {}): Promise<Appended> {
    return this.#commits.add({ site: this.#appends, signups, terms })
  }

  async recall(idempotency: Idempotency): Promise<Recalled | undefined> {
    return this.#site.db.read(() => this.#appends.recall(idempotency))
  }

  async knows(key: OwnedKey): Promise<boolean> {
    return this.#site.db.read(() => this.#appends.knows(key))
  }

  async takesTab(name: string, at: Millis, opener?: string): Promise<boolean> {
    return this.#site.db.read(() => this.#appends.takesTab(name, at, opener))
  }

  async find(id: SignupId): Promise<SignupStatus | undefined> {
    const { db, id: site } = this.#site
    const row = db.read(() => db.get('findSignup', bytesOfId(id), site))
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
    return db.read(() => {
      const { name, isResolved } = defaultTab.now()
      return tabs.flatMap((tab) => {
        const key = tab === openKey && isResolved ? tabKey(name) : tabKey(tab)
        const row = db.get('cursor', id, key)
        return row ? [{ tab, upto: Number(row['upto']) }] : []
      })
    })
  }
}
