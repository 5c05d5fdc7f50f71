import type { Lease } from '../../../src/journal/contracts/lease.ts'
import { Listeners } from '../../../src/platform/listeners.ts'
import type {
  Appended,
  AppendResults,
  SignupStatus,
  TabCursor,
} from '../../../src/journal/contracts/intake-log.ts'
import type { Journal, JournalPolicy } from '../../../src/journal/contracts/journal.ts'
import { Overtaken } from '../../../src/journal/contracts/errors.ts'
import { AppendGroups } from '../../../src/journal/postgres/append-groups.ts'
import { DatabaseTime } from '../../../src/journal/postgres/database-time.ts'
import { DataRefused } from '../../../src/journal/postgres/failure.ts'
import { resolveLostCommit } from '../../../src/journal/postgres/resolve-lost-commit.ts'
import type { Answer, Database } from '../../../src/journal/sql.ts'
import type { SqliteDatabase } from '../../../src/journal/sqlite/database.ts'
import type { AppendRequest } from '../../../src/journal/tables/intake.ts'
import { callLedgerOf } from '../../../src/journal/tables/call-ledger.ts'
import { journalOn } from '../../../harness/sqlite-journal.ts'
import type { Clock } from '../../../src/platform/clock.ts'
import type { Millis, SignupId } from '../../../src/signup/signup.ts'
import { changed } from '../../../harness/changed.ts'
import type { SharedLease } from '../../../harness/shared-lease.ts'
import type { StoreLink } from './store-link.ts'

export interface SharedJournalOptions {
  /** The name of this instance, which no other one has. */
  readonly name: string
  readonly link: StoreLink
  /** The store's connection for this instance. */
  readonly connect: () => SqliteDatabase
  readonly policy: Partial<JournalPolicy>
  readonly lease: SharedLease
  /** The wall clock of the store. */
  readonly storeTime: () => Millis
  /** The clock of this process. */
  readonly clock: Pick<Clock, 'elapsed' | 'sleep'>
}

export interface SharedJournal extends Journal {
  readonly time: Pick<Clock, 'now' | 'elapsed'>
}

/**
 * The journal of one instance in a store that several machines share. The tables and the rules are those
 * of SQLite. The rest is as in the engine for PostgreSQL, with its own code: which appends share a
 * transaction, how a lost answer to an append is settled, by which clock calls are counted.
 */
export async function openSharedJournal(options: SharedJournalOptions): Promise<SharedJournal> {
  const { link, connect, policy, clock, storeTime } = options
  const { db, journal } = await link.carry('open', async () => {
    const connection = connect()
    return { db: connection, journal: journalOn(connection, policy, { clock }) }
  })
  const tell = () => link.carry('time', async () => [{ rows: [{ now: storeTime() }] }])
  const time = await DatabaseTime.open({ query: tell as unknown as Database['query'] }, clock)
  return new Instance(options, db, journal).journal(time)
}

class Instance {
  readonly #options: SharedJournalOptions
  readonly #db: SqliteDatabase
  /** At the store: its listeners hear while a call is carried out. */
  readonly #store: Journal
  readonly #groups: AppendGroups
  readonly #appended = new Listeners<number>()
  readonly #settled = new Listeners<readonly TabCursor[]>()
  #heard: (() => void)[] = []
  /** The last term of this instance. */
  #term: number | undefined

  constructor(options: SharedJournalOptions, db: SqliteDatabase, store: Journal) {
    this.#options = options
    this.#db = db
    this.#store = store
    store.delivery.onAppend((added) => this.#heard.push(() => this.#appended.tell(added)))
    store.intake.onSettle((cursors) => this.#heard.push(() => this.#settled.tell(cursors)))
    this.#groups = new AppendGroups({
      commit: (group) => this.#commit(group),
      isAlone: () => false,
    })
  }

  journal(time: SharedJournal['time']): SharedJournal {
    const store = this.#store
    return {
      time,
      intake: changed(this.#carried(store.intake), {
        append: (signups, terms = {}) => this.#groups.add({ signups, terms }),
        onSettle: (listener) => this.#settled.add(listener),
        openness: (now) => store.intake.openness(now),
      }),
      delivery: changed(this.#carried(store.delivery), {
        onAppend: (listener) => this.#appended.add(listener),
        settle: (batch, at) => this.#ended('settle', () => store.delivery.settle(batch, at)),
        release: (batch) => this.#ended('release', () => store.delivery.release(batch)),
      }),
      imports: this.#carried(store.imports),
      erasure: this.#carried(store.erasure),
      retention: this.#carried(store.retention),
      quarantine: this.#carried(store.quarantine),
      confirmation: this.#carried(store.confirmation),
      outbox: this.#carried(store.outbox),
      webhooks: this.#carried(store.webhooks),
      compared: this.#carried(store.compared),
      reader: this.#carried(store.reader),
      lease: this.#lease(),
      callLedger: (account, clock) => {
        const transact: Database['transact'] = (...change) =>
          this.#carry('reserve', () => this.#db.transact(...change))
        return callLedgerOf({ transact }, account, clock)
      },
      linkKey: store.linkKey,
      keyFor: (use) => store.keyFor(use),
      [Symbol.asyncDispose]: async () => {
        await this.#groups.drain()
        await store[Symbol.asyncDispose]()
      },
    }
  }

  /** A part of the journal whose calls are carried out at the store. */
  #carried<T extends object>(part: T): T {
    return new Proxy(part, {
      get: (target, name) => {
        const method: unknown = Reflect.get(target, name, target)
        if (typeof method !== 'function') return method
        return (...values: unknown[]) =>
          this.#carry(
            String(name),
            async () => (await Reflect.apply(method, target, values)) as unknown,
          )
      },
    })
  }

  /** The listeners of this process hear of a call's changes when its answer is there. */
  async #carry<T>(call: string, work: () => Promise<T>): Promise<T> {
    const { result, heard } = await this.#options.link.carry(call, async () => {
      this.#heard = []
      return { result: await work(), heard: this.#heard }
    })
    for (const tell of heard) tell()
    return result
  }

  /** Ends a batch, but only if this instance has not lost the lease. */
  #ended(call: string, work: () => Promise<void>): Promise<void> {
    const { lease, name } = this.#options
    const term = this.#term
    return this.#carry(call, async () => {
      if (term !== undefined && !lease.isHeldBy(name, term))
        throw new Overtaken('Another instance delivers now.')
      await work()
    })
  }

  #lease(): Lease {
    const { lease, name } = this.#options
    return {
      hold: async () => {
        const tenure = await this.#carry('hold', async () => lease.hold(name))
        if (tenure.kind === 'held') this.#term = tenure.term
        return tenure
      },
      release: async () => {
        if (this.#term === undefined) return
        await this.#carry('give up', async () => lease.release(name))
      },
    }
  }

  async #commit(
    group: readonly AppendRequest[],
  ): Promise<readonly PromiseSettledResult<Appended>[]> {
    const { clock } = this.#options
    const look = () => this.#carry('look', () => this.#rowsOf(group))
    const db = { change: look as unknown as Database['change'] }
    const append = (part: readonly AppendRequest[]) =>
      this.#carry('append', () => Promise.all(part.map((request) => this.#append(request))))
    const toOutcome = (_: AppendRequest, results: AppendResults): Appended => ({
      kind: 'appended',
      results,
    })
    const { outcomes, failure } = await resolveLostCommit(db, clock, group, append, toOutcome)
    return group.map((request) => {
      const value = outcomes.get(request)
      return value ? { status: 'fulfilled', value } : { status: 'rejected', reason: failure }
    })
  }

  /** The journal takes an id once: a request that came late, after it was repeated, adds nothing. */
  async #append({ signups, terms }: AppendRequest): Promise<Appended> {
    const { intake } = this.#store
    const known = terms.idempotency && (await intake.recall(terms.idempotency))
    if (known) return known
    const results = await this.#find(signups)
    if (results.some(Boolean)) return { kind: 'appended', results }
    return intake.append(signups, terms).catch((error: unknown) => {
      throw new DataRefused(String(error))
    })
  }

  async #rowsOf(group: readonly AppendRequest[]): Promise<readonly Pick<Answer, 'rows'>[]> {
    const found = await this.#find(group.flatMap(({ signups }) => signups))
    return [
      { rows: [] },
      { rows: found.flatMap((status) => (status ? [{ ...status }] : [])) },
      { rows: [] },
    ]
  }

  #find(
    signups: readonly { readonly id: SignupId }[],
  ): Promise<readonly (SignupStatus | undefined)[]> {
    return Promise.all(signups.map(({ id }) => this.#store.intake.find(id)))
  }
}
