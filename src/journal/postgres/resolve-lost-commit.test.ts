import { expect, test } from 'vitest'
import { makeSignup, makeSignups } from '../../../harness/make-signup.ts'
import { ManualClock } from '../../../harness/manual-clock.ts'
import { JournalUnavailable, OutcomeUnknown } from '../contracts/errors.ts'
import { DataRefused } from './failure.ts'
import type { Database } from '../sql.ts'
import { resolveLostCommit } from './resolve-lost-commit.ts'

interface Request {
  readonly signups: ReturnType<typeof makeSignups>
}

/**
 * Settles one request whose first commit has no answer. `find` returns the rows of a look, `again` appends again,
 * `beside` are those beside the list.
 */
async function settled(
  request: Request,
  find: () => readonly Record<string, unknown>[],
  again: () => void = () => {},
  beside: readonly Record<string, unknown>[] = [],
) {
  const clock = new ManualClock()
  const look = async () => [{ rows: [] }, { rows: find() }, { rows: beside }]
  const db = { change: look as unknown as Database['change'] }
  let tries = 0
  const append = async (group: readonly Request[]) => {
    if (tries++ === 0) throw new OutcomeUnknown('no answer')
    again()
    return group.map(() => 'appended again')
  }
  const settling = resolveLostCommit(db, clock, [request], append, (_, results) =>
    results.map((it) => it?.position ?? 'none').join(),
  )
  let isDone = false
  void settling.finally(() => (isDone = true))
  await clock.runUntil(() => isDone)
  const { outcomes, failure } = await settling
  return { outcome: outcomes.get(request), failure, tries, tookMs: clock.elapsed() }
}

function rowOf({ id }: { readonly id: string }, position: number) {
  return { id, position, receivedAt: 0, sheetTab: 'Sheet1', isTabOpen: false }
}

test('a request is found by one of its signups, and has no result for those that were left out', async () => {
  const [first, refused, last] = [makeSignup(), makeSignup(), makeSignup()]
  const request = { signups: [first, refused, last] }
  const rows = () => [rowOf(last, 8), rowOf(first, 7)]
  expect(await settled(request, rows)).toMatchObject({ outcome: '7,none,8', tries: 1 })
})

test('a request is found by a signup that waits for its confirmation beside the list', async () => {
  const pending = makeSignup()
  const answer = await settled({ signups: [pending] }, () => [], undefined, [{ id: pending.id }])
  expect(answer).toMatchObject({ outcome: '0', tries: 1 })
})

test('a request that is not there is appended again', async () => {
  const answer = await settled({ signups: makeSignups(2) }, () => [])
  expect(answer).toMatchObject({ outcome: 'appended again', tries: 2, failure: undefined })
})

test('while the journal does not answer, the outcome is unknown after six seconds', async () => {
  const { failure, tookMs } = await settled({ signups: makeSignups(1) }, () => {
    throw new JournalUnavailable('down')
  })
  expect(failure).toBeInstanceOf(OutcomeUnknown)
  expect(tookMs).toBe(6_000)
})

test('a request that is not there and cannot be appended is refused, and not told as unknown', async () => {
  const full = new JournalUnavailable('full')
  const answer = await settled(
    { signups: makeSignups(1) },
    () => [],
    () => {
      throw full
    },
  )
  expect(answer).toMatchObject({ failure: full, tookMs: 6_000 })
})

test('a request with a value that the database does not take is refused at once', async () => {
  const refused = new DataRefused('a value')
  const answer = await settled(
    { signups: makeSignups(1) },
    () => [],
    () => {
      throw refused
    },
  )
  expect(answer).toMatchObject({ failure: refused, tries: 2 })
})
