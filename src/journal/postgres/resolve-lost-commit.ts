import type { Clock } from '../../platform/clock.ts'
import type { Millis, SignupId } from '../../signup/signup.ts'
import type { AppendResults, SignupStatus } from '../contracts/intake-log.ts'
import { OutcomeUnknown } from '../contracts/errors.ts'
import { type Database, givenRows, headLock, statementsOf } from '../sql.ts'
import { type AppendRequest, stepToFindAll, toStatus } from '../tables/intake.ts'
import { idOf } from '../tables/rows.ts'
import { DataRefused } from './failure.ts'

const sql = statementsOf('postgres lost commit', ({ given }) => ({
  // A write, so that this commit waits for a standby if the settings say so, and with it all before it.
  look: 'UPDATE head SET looks = looks + 1',
  findBeside: `SELECT id FROM pending
               WHERE id IN (SELECT id::uuid FROM ${given('wanted', '$1', { id: 'text' })})`,
}))

/** For how long to look for the outcome of a commit. Its callers wait meanwhile. */
const lookMaxMs = 6_000
const lookEveryMs = 100

/** What became of a group. */
export interface Resolved<Request, Outcome> {
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
export async function resolveLostCommit<Request extends Pick<AppendRequest, 'signups'>, Outcome>(
  db: Pick<Database, 'change'>,
  clock: Pick<Clock, 'elapsed' | 'sleep'>,
  group: readonly Request[],
  append: (group: readonly Request[]) => Promise<readonly (Outcome | undefined)[]>,
  outcomeOf: (request: Request, results: AppendResults) => Outcome,
): Promise<Resolved<Request, Outcome>> {
  const outcomes = new Map<Request, Outcome>()
  let isLost = false
  let until: Millis | undefined
  for (;;) {
    try {
      if (isLost) {
        const found = await find(db, group)
        for (const request of group) {
          const results = request.signups.map(({ id }) => found.get(id))
          if (results.some(Boolean)) outcomes.set(request, outcomeOf(request, results))
        }
        isLost = false
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
      if (failure instanceof OutcomeUnknown) isLost = true
      // The answer may have been awaited for longer than all looks may take.
      if (isLost) until ??= clock.elapsed() + lookMaxMs
      const isOver = until === undefined || clock.elapsed() >= until
      const isRefused = !isLost && failure instanceof DataRefused
      if (isOver || isRefused) {
        return { outcomes, failure: isLost ? new OutcomeUnknown(unknownWords) : failure }
      }
    }
    await clock.sleep(lookEveryMs)
  }
}

const there = { position: 0, receivedAt: 0, sheetTab: '' } as const

const unknownWords =
  'The journal cannot be used: its database did not tell what became of a commit.'

/** The signups of the group that are in the journal. Of those beside the list, only that they are. */
async function find(
  db: Pick<Database, 'change'>,
  group: readonly Pick<AppendRequest, 'signups'>[],
): Promise<ReadonlyMap<SignupId, SignupStatus>> {
  const ids = group.flatMap(({ signups }) => signups.map(({ id }) => id))
  const [, { rows }, beside] = await db.change([headLock], [sql.look], stepToFindAll(ids), [
    sql.findBeside,
    givenRows(ids.map((id) => ({ id }))),
  ])
  const statuses = [
    ...rows.map(toStatus),
    ...beside.rows.map(({ id }) => ({ ...there, id: idOf(id) })),
  ]
  return new Map(statuses.map((status) => [status.id, status]))
}
