import type { Clock } from '../../platform/clock.ts'
import type { Imported } from '../contracts/import-log.ts'
import { headLock, statementsOf } from '../sql.ts'
import { deciding, decisions, type ImportEngine } from '../tables/imports.ts'
import { rowStatus } from '../tables/layout.ts'
import type { PostgresDatabase } from './database.ts'
import { addingPlaced, listNames, listsOf, listTypes } from './new-signups.ts'
import { resolveLostCommit } from './resolve-lost-commit.ts'

const sql = statementsOf('postgres imports', (dialect) => ({
  add: `
    WITH ${deciding(dialect)}, placed AS (
      SELECT cells.*, decided.tab,
        ${dialect.lastPosition} + row_number() OVER (ORDER BY no) AS position
      FROM decided
      JOIN unnest(${listTypes(6)}) WITH ORDINALITY AS cells (${listNames}, no) USING (no)
      WHERE result = 'added'
    ), ${addingPlaced(String(rowStatus.wanted))}
    ${decisions(dialect)}`,
}))

export function importsIn(
  db: PostgresDatabase,
  clock: Pick<Clock, 'elapsed' | 'sleep'>,
): ImportEngine {
  return {
    looksFirst: false,
    add: async (steps, values, signups) => {
      const add = [sql.add, ...values, ...listsOf(signups)] as const
      const answers = await db.change([headLock], ...steps, add)
      return answers.at(-1)?.rows ?? []
    },
    settle: async (signups, add) => {
      const requests = signups.map((signup) => ({ signups: [signup] }))
      const { outcomes, failure } = await resolveLostCommit(
        db,
        clock,
        requests,
        (rest) => add(rest.flatMap((request) => request.signups)),
        (): Imported => 'added',
      )
      return { results: requests.flatMap((request) => outcomes.get(request) ?? []), failure }
    },
    // Every commit is on disk already.
    flush: async () => {},
  }
}
