/**
 * The disk: a SQLite database in memory, which outlives the processes. Each process has a journal of its
 * own on a connection of its own, so it knows nothing that only the memory of another one holds.
 *
 * SQLite syncs each commit before it answers, so the disk keeps every commit that somebody was told of,
 * whether the process is killed or the power fails. A commit may also be
 *
 *   torn        its process is killed in it, or the power fails: it is on the disk or not, and nobody
 *               gets an answer.
 *   misjudged   it was written, but the process gets an error.
 *   in limbo    its sync fails, so SQLite takes it back and the process gets an error. What was written
 *               comes back when the last process is killed before another commit overwrites it.
 *
 * SQLite in WAL mode knows no misjudged commits; another engine may.
 */
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { threadId } from 'node:worker_threads'

import type { Journal, JournalPolicy } from '../../../src/journal/contracts/journal.ts'
import type { Answer, Statement } from '../../../src/journal/sql.ts'
import { firstRows } from '../../../src/journal/tables/layout.ts'
import { SqliteDatabase } from '../../../src/journal/sqlite/database.ts'
import { journalOn } from '../../../harness/sqlite-journal.ts'
import { JournalUnavailable } from '../../../src/journal/contracts/errors.ts'
import type { Clock } from '../../../src/platform/clock.ts'
import type { Dice } from '../dice.ts'

/** `lost`: nothing is written, and the process gets an error. */
export type CommitFate = 'written' | 'misjudged' | 'in limbo' | 'lost'

/** A process that has the journal open. */
export interface DiskUser {
  readonly isAlive: boolean
  /** Called at each commit. */
  drawFate(): CommitFate
}

/** A signup on the disk. */
export interface StoredSignup {
  readonly tab: string
  readonly email: string
}

export interface DiskOptions {
  readonly dice: Dice
  readonly duplicates: JournalPolicy['duplicates']
  /** Gets each signup that is on the disk from now on, in the order of the journal. */
  readonly onStored: (signup: StoredSignup) => void
  readonly note: (event: string) => void
}

/** How much work is left over. */
export interface Unfinished {
  readonly backlog: number
  readonly frozen: number
}

export class SimulatedDisk {
  readonly #options: DiskOptions
  readonly #store: Store
  /** The changes of the last commit, when that is in limbo. */
  #limbo: readonly Change[] = []
  /** The position of the last signup on the disk. */
  #stored = 0

  constructor(options: DiskOptions) {
    this.#options = options
    this.#store = storeOf(options.duplicates)
    this.#store.empty()
  }

  /** Opens the journal for a process that starts. @throws JournalUnavailable when a commit fails */
  open(user: DiskUser, clock: Pick<Clock, 'elapsed' | 'sleep'>): Journal {
    return journalOn(this.connect(user), this.policy, { clock })
  }

  get policy(): Pick<JournalPolicy, 'duplicates'> {
    return { duplicates: this.#options.duplicates }
  }

  /** A connection for a process that starts. */
  connect(user: DiskUser): SqliteDatabase {
    const { dice, note } = this.#options
    const isAlone = !this.#store.connections.some((other) => other.user?.isAlive)
    const connection = this.#store.connect()
    connection.user = undefined
    if (isAlone && this.#limbo.length > 0 && dice.chance(0.5)) {
      note('limbo came back')
      connection.repeat(this.#limbo)
    }
    if (isAlone) this.#limbo = []
    connection.disk = this
    connection.user = user
    this.#readStored()
    return connection
  }

  /** What is neither settled nor frozen, and what is frozen. */
  unfinished(): Unfinished {
    const row = this.#store.unfinished.get()
    return { backlog: Number(row?.['backlog']), frozen: Number(row?.['frozen']) }
  }

  /** Called by a connection after a commit. */
  committed(hasSignups: boolean): void {
    this.#limbo = []
    if (hasSignups) this.#readStored()
  }

  /** Called by a connection whose commit was taken back. */
  keepInLimbo(changes: readonly Change[]): void {
    this.#limbo = changes
  }

  #readStored(): void {
    for (const { position, tab, email } of this.#store.after.all(this.#stored)) {
      this.#stored = Number(position)
      this.#options.onStored({ tab: String(tab), email: String(email) })
    }
  }
}

type Change = (db: SqliteDatabase) => void

/**
 * A connection. The next process uses it again with a new journal, because opening one costs as much as
 * a whole life in the simulation: it keeps nothing but its prepared statements.
 */
class Connection extends SqliteDatabase {
  disk: SimulatedDisk | undefined
  user: DiskUser | undefined
  /** How many processes have had it. */
  uses = 0
  #changes: Change[] | undefined
  #hasSignups = false

  override transaction<T>(work: () => T): T {
    const { disk, user } = this
    // The constructor runs a transaction before there is a disk.
    if (!disk || !user) return super.transaction(work)
    const fate = user.drawFate()
    if (fate === 'lost') throw failed()
    if (fate === 'in limbo') return this.#takeBack(work, disk)
    this.#hasSignups = false
    const result = super.transaction(work)
    disk.committed(this.#hasSignups)
    if (fate === 'misjudged') throw failed()
    return result
  }

  override run(statement: Statement, values: readonly SQLInputValue[]): Answer {
    this.#changes?.push((db) => db.run(statement, values))
    this.#hasSignups ||= statement.name.startsWith('sqlite new signups.add')
    return super.run(statement, values)
  }

  /** Makes changes that an earlier process has made and SQLite took back. */
  repeat(changes: readonly Change[]): void {
    super.transaction(() => {
      for (const change of changes) change(this)
    })
  }

  #takeBack(work: () => unknown, disk: SimulatedDisk): never {
    const changes: Change[] = (this.#changes = [])
    try {
      return super.transaction(() => {
        work()
        // What throws before the commit leaves nothing that could come back.
        disk.keepInLimbo(changes)
        throw failed()
      })
    } finally {
      this.#changes = undefined
    }
  }
}

function failed(): JournalUnavailable {
  return new JournalUnavailable('The disk failed')
}

const stores = new Map<string, Store>()
/** A connection that served so many processes is closed, and the next process opens one in full. */
const usesMax = 50

function storeOf(duplicates: JournalPolicy['duplicates']): Store {
  const known = stores.get(duplicates)
  if (known) return known
  const store = new Store(duplicates)
  stores.set(duplicates, store)
  return store
}

/** One database, which one simulation after the other uses. Each worker thread has its own. */
class Store {
  readonly connections: Connection[] = []
  readonly unfinished
  readonly after
  readonly #held: DatabaseSync
  readonly #open: () => Connection

  constructor(duplicates: JournalPolicy['duplicates']) {
    const uri = `file:simulation-${duplicates}-${threadId}?mode=memory&cache=shared`
    // Nobody waits for a lock, because all transactions of a thread run one after the other.
    const clock = { elapsed: () => 0, sleep: async () => undefined }
    this.#open = () =>
      new Connection(uri, {
        access: 'own',
        clock,
        secret: 'of all simulations',
      })
    this.#held = new DatabaseSync(uri, { enableForeignKeyConstraints: false })
    this.connections.push(this.#open())
    this.unfinished = this.#held.prepare(
      `SELECT coalesce(sum(accepted - written), 0) AS backlog,
         (SELECT count(*) FROM batch WHERE settled_at IS NULL) AS frozen
       FROM tab JOIN progress ON progress.tab = tab.id`,
    )
    this.after = this.#held.prepare(
      `SELECT position, tab.name AS tab, email FROM signup JOIN tab ON tab.id = signup.tab
       WHERE position > ? ORDER BY position`,
    )
  }

  /** Begins anew. Work of the simulation before, which was under way when that one ended, never ends. */
  empty(): void {
    for (const connection of this.connections) connection.user = undefined
    const tables = this.#held.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all()
    this.#held.exec(tables.map(({ name }) => `DELETE FROM ${String(name)};`).join('') + firstRows)
  }

  /** A connection that no living process has. */
  connect(): Connection {
    const { connections } = this
    const free = connections.findIndex(({ user }) => !user?.isAlive)
    const used = connections[free]
    if (used && (used.uses += 1) < usesMax) return used
    if (used) connections.splice(free, 1)
    used?.[Symbol.dispose]()
    const opened = this.#open()
    connections.push(opened)
    return opened
  }
}
