import type { TabShare } from '../contracts/delivery-log.ts'
import { Overtaken } from '../contracts/overtaken.ts'
import { batchSql as sql } from './batch-sql.ts'
import type { Queries, Transaction } from './database.ts'

/** Parts of a transaction that freezes shares. Each takes one statement, however many tabs there are. */

/** @throws Overtaken when another writer has settled signups of a tab since they were read */
export async function assertUnmoved(queries: Queries, shares: readonly TabShare[]): Promise<void> {
  const fresh = shares.filter(({ tab }) => !tab.isAgain)
  const row = await queries.get(
    sql.countUnmoved,
    fresh.map(({ tab }) => tab.id),
    fresh.map(({ tab }) => tab.writtenTo),
    fresh.map(lastOf),
  )
  if (row?.['count'] !== fresh.length) throw endedMeanwhile()
}

/** The positions of those that were erased after the writer has read them. */
export async function erasedOf(
  queries: Queries,
  shares: readonly TabShare[],
): Promise<ReadonlySet<number>> {
  const fresh = shares.filter(({ tab }) => !tab.isAgain)
  const again = shares.filter(({ tab }) => tab.isAgain)
  const answers = await Promise.all([
    queries.all(
      sql.erasedBetween,
      fresh.map(({ tab }) => tab.id),
      fresh.map(({ tab }) => tab.writtenTo),
      fresh.map(lastOf),
    ),
    // Many others may lie between them.
    ...(again.length > 0
      ? [
          queries.all(
            sql.erasedAmong,
            again.flatMap(({ signups }) => signups.map(({ position }) => position)),
          ),
        ]
      : []),
  ])
  return new Set(answers.flat().map(({ position }) => Number(position)))
}

/** Puts the shares into this batch. @throws Overtaken when another batch has got some of them */
export async function addShares(
  transaction: Transaction,
  batch: number,
  shares: readonly TabShare[],
): Promise<void> {
  const fresh = shares.filter(({ tab }) => !tab.isAgain)
  const again = shares.filter(({ tab }) => tab.isAgain)
  const added = transaction.run(
    sql.addRanges,
    batch,
    fresh.map(({ tab }) => tab.id),
    fresh.map(({ tab }) => tab.writtenTo),
    fresh.map(lastOf),
    fresh.map(({ signups }) => signups.length),
  )
  const held = transaction.run(
    sql.holdAgain,
    batch,
    again.map(({ tab }) => tab.id),
    again.map(({ signups }) => signups[0]?.position ?? 0),
    again.map(lastOf),
  )
  const [, count] = await Promise.all([added, held])
  const wanted = again.reduce((sum, { signups }) => sum + signups.length, 0)
  if (count !== wanted) throw endedMeanwhile()
}

function lastOf({ signups }: TabShare): number {
  return signups.at(-1)?.position ?? 0
}

function endedMeanwhile(): Overtaken {
  return new Overtaken('Another writer has ended a batch meanwhile.')
}
