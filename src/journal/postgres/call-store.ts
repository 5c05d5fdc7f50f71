import type { CallStore, NewCall, StoredCall } from '../noted-calls.ts'
import type { PostgresDatabase, Step } from './database.ts'
import { statementsOf } from './statement.ts'

const sql = statementsOf('calls', {
  addAccount: `INSERT INTO rollcall.account (name, number) VALUES ($1, 0) ON CONFLICT DO NOTHING`,
  lock: 'SELECT number FROM rollcall.account WHERE name = $1 FOR UPDATE',
  after: `SELECT number, at, is_sure AS "isSure" FROM rollcall.provider_call
          WHERE account = $1 AND number > $2 ORDER BY number`,
  add: 'INSERT INTO rollcall.provider_call (account, number, at, is_sure) VALUES ($1, $2, $3, $4)',
  setNumber: 'UPDATE rollcall.account SET number = $2 WHERE name = $1',
  // Each call deletes up to two that are too old, so the table shrinks as it is used.
  deleteOld: `DELETE FROM rollcall.provider_call WHERE account = $1 AND at < $2 AND number IN (
                SELECT number FROM rollcall.provider_call WHERE account = $1
                ORDER BY number LIMIT 2)`,
})

/** The calls of one account, in the journal. */
export class PostgresCallStore implements CallStore {
  readonly #db: PostgresDatabase
  readonly #account: string
  /** Whether the account has its row, which is what we lock. */
  #hasRow = false

  constructor(db: PostgresDatabase, account: string) {
    this.#db = db
    this.#account = account
  }

  async add(
    after: number,
    decide: (others: readonly StoredCall[]) => NewCall | undefined,
  ): Promise<void> {
    const [db, account] = [this.#db, this.#account]
    if (!this.#hasRow) await db.all(sql.addAccount, account)
    this.#hasRow = true
    const lock: Step = [sql.lock, account]
    await db.transaction(lock, async (transaction) => {
      const others = (await transaction.all(sql.after, account, after)).map(
        ({ number, at, isSure }) => ({
          number: Number(number),
          at: Number(at),
          isSure: isSure === true,
        }),
      )
      const call = decide(others)
      if (!call) return
      await Promise.all([
        transaction.run(sql.add, account, call.number, call.at, call.isSure),
        transaction.run(sql.setNumber, account, call.number),
        transaction.run(sql.deleteOld, account, call.keepFrom),
      ])
    })
  }
}
