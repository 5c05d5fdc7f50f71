import type { CallStore, NewCall, StoredCall } from '../noted-calls.ts'
import type { SqliteDatabase } from './database.ts'

/** The calls of one account, in the journal. */
export class SqliteCallStore implements CallStore {
  readonly #db: SqliteDatabase
  readonly #account: string

  constructor(db: SqliteDatabase, account: string) {
    this.#db = db
    this.#account = account
  }

  async add(
    after: number,
    decide: (others: readonly StoredCall[]) => NewCall | undefined,
  ): Promise<void> {
    const [db, account] = [this.#db, this.#account]
    await db.write(() => {
      const others = db.all('callsAfter', account, after).map(({ number, at, isSure }) => ({
        number: Number(number),
        at: Number(at),
        isSure: isSure === 1,
      }))
      const call = decide(others)
      if (!call) return
      db.run('addCall', account, call.number, call.at, Number(call.isSure))
      db.run('deleteCalls', account, call.keepFrom)
    })
  }
}
