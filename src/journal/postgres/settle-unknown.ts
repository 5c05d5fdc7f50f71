import type { Clock } from '../../platform/clock.ts'
import type { Millis, SignupId } from '../../signup/signup.ts'
import type { AppendResults, SignupStatus } from '../contracts/intake-log.ts'
import { OutcomeUnknown } from '../contracts/unavailable.ts'
import type { AppendRequest } from './append-request.ts'
import type { PostgresDatabase } from './database.ts'
import { DataRefused } from './failure.ts'
import { headLock } from './locks.ts'
import { statementsOf } from './statement.ts'

const sql = statementsOf('settle', {
  // A write, so that this commit waits for a standby if the settings say so, and with it all before it.
  look: 'UPDATE rollcall.head SET looks = looks + 1',
  find: `SELECT signup.id, position, received_at AS "receivedAt", tab.name AS "sheetTab",
           tab.key = '' AS "isTabOpen"
         FROM rollcall.signup JOIN rollcall.tab ON tab.id = signup.tab
         WHERE signup.id = ANY ($1::uuid[])`,
})

/** Where the signups are. */
interface Place {
  readonly db: Pick<PostgresDatabase, 'inOneGo'>
}

/** For how long to look for the outcome of a commit. Its callers wait meanwhile. */
const lookMaxMs = 6_000
const lookEveryMs = 100

/** What became of a group. */
export interface Settled<Request, Outcome> {
  readonly outcomes: ReadonlyMap<Request, Outcome>
  /**
   * Why requests have no outcome: `OutcomeUnknown` when their signups may be in the journal, any other error
   * when they are not. Undefined when all have one.
   */
  readonly failure: unknown
}

/**
 * Appends a group, and finds out what became of it when the answer to its commit was lost. The lock of
 * the head is free only after the lost transaction has ended: if the signups are not there then, they are
 * appended again with the same ids, which the journal takes once.
 *
 * @param append appends a group, or a part of it. Returns the outcomes of the requests that it has
 *   committed, in order, and undefined for the others.
 * @param outcomeOf the outcome of a request whose signups are there
 */
export async function settleUnknown<Request extends Pick<AppendRequest, 'signups'>, Outcome>(
  site: Place,
  clock: Pick<Clock, 'elapsed' | 'sleep'>,
  group: readonly Request[],
  append: (group: readonly Request[]) => Promise<readonly (Outcome | undefined)[]>,
  outcomeOf: (results: AppendResults) => Outcome,
): Promise<Settled<Request, Outcome>> {
  const outcomes = new Map<Request, Outcome>()
  let isUnknown = false
  let until: Millis | undefined
  for (;;) {
    try {
      if (isUnknown) {
        for (const [request, results] of await find(site, group)) {
          outcomes.set(request, outcomeOf(results))
        }
        isUnknown = false
      }
      const rest = group.filter((request) => !outcomes.has(request))
      if (rest.length === 0) return { outcomes, failure: undefined }
      const appended = await append(rest)
      appended.forEach((outcome, index) => {
        const request = rest[index]
        if (request && outcome !== undefined) outcomes.set(request, outcome)
      })
      continue
    } catch (failure) {
      if (failure instanceof OutcomeUnknown) isUnknown = true
      // The answer may have been awaited for longer than all looks may take.
      if (isUnknown) until ??= clock.elapsed() + lookMaxMs
      const isOver = until === undefined || clock.elapsed() >= until
      const isRefused = !isUnknown && failure instanceof DataRefused
      if (isOver || isRefused) {
        return { outcomes, failure: isUnknown ? new OutcomeUnknown(unknownWords) : failure }
      }
    }
    await clock.sleep(lookEveryMs)
  }
}

const unknownWords =
  'The journal cannot be used: its database did not tell what became of a commit.'

/** The requests whose signups are in the journal. */
async function find<Request extends Pick<AppendRequest, 'signups'>>(
  { db }: Place,
  group: readonly Request[],
): Promise<ReadonlyMap<Request, AppendResults>> {
  const ids = group.flatMap(({ signups }) => signups.map(({ id }) => id))
  const [, rows = []] = await db.inOneGo(headLock, [[sql.look], [sql.find, ids]])
  const found = new Map(
    rows.map((row): [SignupId, SignupStatus] => {
      const id = row['id'] as SignupId
      const [position, receivedAt] = [Number(row['position']), Number(row['receivedAt'])]
      const isTabOpen = row['isTabOpen'] === true && { isTabOpen: true as const }
      return [id, { id, position, receivedAt, sheetTab: String(row['sheetTab']), ...isTabOpen }]
    }),
  )
  return new Map(
    group
      .filter(({ signups }) => signups.some(({ id }) => found.has(id)))
      .map((request) => [request, request.signups.map(({ id }) => found.get(id))]),
  )
}
