import type { SQLOutputValue } from 'node:sqlite'

import type { Millis } from '../../signup/signup.ts'
import type { FoundSignup } from '../contracts/comparison.ts'
import type { ComparedSignup, ComparedSignups } from '../row-comparison.ts'
import { toSignup } from './rows.ts'
import type { SqliteSite } from './site.ts'

export class SqliteComparedSignups implements ComparedSignups {
  readonly #site: Pick<SqliteSite, 'db' | 'id' | 'policy'>
  readonly lastBatch: number
  readonly frozen: number

  constructor(site: Pick<SqliteSite, 'db' | 'id' | 'policy'>) {
    this.#site = site
    const { db, id } = site
    const [last, frozen] = db.snapshot(() => [db.get('lastBatch'), db.get('frozenBatch', id)])
    this.lastBatch = Number(last?.['number'] ?? 0)
    this.frozen = Number(frozen?.['number'] ?? 0)
  }

  get spreadsheet(): string {
    return this.#site.policy.spreadsheet
  }

  async page(after: number, max: number): Promise<readonly ComparedSignup[]> {
    const { db, id } = this.#site
    const rows = db.read(() => db.all('signupsToCompare', this.spreadsheet, after, id, max))
    return rows.map((row) => ({
      position: Number(row['position']),
      receivedAt: Number(row['receivedAt']),
      email: String(row['email']),
      tab: String(row['sheetTab']),
      isIgnored: row['isIgnored'] === 1,
      isQueued: row['isQueued'] === 1,
      batch: numberOf(row['batch']),
      batchSpreadsheet: textOf(row['spreadsheet']),
      again: numberOf(row['again']),
    }))
  }

  async at(positions: readonly number[]): Promise<readonly FoundSignup[]> {
    const { db } = this.#site
    return positions.flatMap((position) => {
      const row = db.read(() => db.get('signupAt', position))
      return row ? [{ position, signup: toSignup(row, String(row['sheetTab'])) }] : []
    })
  }

  async deliverAgain(positions: readonly number[], at: Millis): Promise<number> {
    const { db } = this.#site
    return db.write(() => {
      const put = positions.filter(
        (position) => db.run('queueSignup', position, at, this.lastBatch) > 0,
      )
      for (const position of put) {
        db.run('uncountWritten', position)
        db.run('needRowAgain', position)
      }
      return put.length
    })
  }

  async noteArrived(positions: readonly number[]): Promise<void> {
    const { db } = this.#site
    await db.write(() => {
      for (const position of positions) {
        if (db.run('dropQueued', position) > 0) db.run('recountWritten', position)
        else db.run('noteArrived', position)
      }
    })
  }
}

function numberOf(value: SQLOutputValue | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined
}

function textOf(value: SQLOutputValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}
