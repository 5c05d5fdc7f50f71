// @module-tag slow
import { describe, expect, test } from 'vitest'

import type { Fault } from '../../emulators/google-sheets/faults.ts'
import type { CallKind } from '../../emulators/google-sheets/route.ts'
import { columns } from '../../src/signup/row.ts'
import { allDelivered, readiness, waitUntil } from '../../harness/delivery-state.ts'
import { createGoogleWorld, type GoogleWorld } from '../../harness/google-world.ts'
import { postSignup } from '../../harness/post-signup.ts'
import { type RunningService, startService } from '../../harness/start-service.ts'

type Answer = NonNullable<Fault['answer']>

/** Answers that do not say whether a batch was applied. */
const unclearAnswers: readonly Answer[] = [
  'drop',
  'cutOff',
  'truncated',
  'html200',
  'empty200',
  'internal',
  'badGateway',
  'unavailable',
  'deadline',
  'requestTimeout',
  'aborted',
]

const header = [...columns]

/** A service with an emulated spreadsheet. It remembers the addresses that signed up for each tab. */
interface Run extends AsyncDisposable {
  readonly world: GoogleWorld
  readonly service: RunningService
  readonly faults: GoogleWorld['emulator']['faults']
  /** Signs up for a tab that has rows, and for one that is new. */
  signUp(): Promise<void>
  /** Expects every address once and in order, and that every planned fault has happened. */
  expectAllOnce(): Promise<void>
}

async function startRun(before?: (world: GoogleWorld) => void): Promise<Run> {
  await using stack = new AsyncDisposableStack()
  const world = stack.use(await createGoogleWorld())
  before?.(world)
  const env = { ...world.env, SHEETS_REQUESTS_PER_MINUTE: '1000' }
  const service = stack.use(await startService({ env }))
  const expected = new Map<string, string[]>()
  let round = 0

  const moved = stack.move()
  return {
    world,
    service,
    faults: world.emulator.faults,
    async signUp() {
      round += 1
      for (const [index, sheetTab] of ['Sheet1', `New ${round}`, 'Sheet1'].entries()) {
        const email = `person${round}.${index}@example.com`
        const { status } = await postSignup(service.url, { email, sheetTab })
        expect(status).toBe(202)
        expected.set(sheetTab, [...(expected.get(sheetTab) ?? []), email])
      }
    },
    async expectAllOnce() {
      await allDelivered(service)
      expect(world.emulator.faults.pending, 'faults that met no call').toEqual([])
      world.emulator.releaseLate()
      for (const [tab, emails] of expected) {
        const [first, ...rows] = (await world.rows(tab)) ?? []
        expect(first).toEqual(header)
        expect(
          rows.map(([email]) => email),
          tab,
        ).toEqual(emails)
      }
    },
    [Symbol.asyncDispose]: () => moved.disposeAsync(),
  }
}

describe.concurrent('faults of Google and the network', () => {
  test.each(unclearAnswers)(
    'rows arrive once and in order when a batch is answered "%s", applied never, at once, twice or late',
    async (answer) => {
      await using run = await startRun()
      await run.signUp()
      await run.expectAllOnce()
      for (const apply of ['never', 'now', 'twice', 'later'] as const) {
        run.faults.add({ on: 'batchUpdate', apply, answer })
        await run.signUp()
        await run.expectAllOnce()
      }
    },
  )

  test('rows arrive once when the network delivers a batch twice, whichever answer comes back', async () => {
    await using run = await startRun()
    for (const answerOf of ['first', 'second'] as const) {
      run.faults.add({ on: 'batchUpdate', apply: 'twice', answer: 'real', answerOf })
      await run.signUp()
      await run.expectAllOnce()
    }
  })

  test('rows arrive once when Google answers 429, and not before the time that it asks for', async () => {
    await using run = await startRun()
    await run.signUp()
    await run.expectAllOnce()
    run.world.emulator.log.reset()
    run.faults.add(
      { on: 'batchUpdate', answer: 'quota' },
      { on: 'batchUpdate', answer: { status: 429, headers: { 'Retry-After': '3' }, body: '{}' } },
    )
    await run.signUp()
    await run.expectAllOnce()
    const times = run.world.emulator.log.calls('batchUpdate').map(({ time }) => Date.parse(time))
    expect((times[2] ?? 0) - (times[1] ?? 0)).toBeGreaterThanOrEqual(2990)
  })

  test('rows arrive once when Google refuses a token once, without a wait and without a word to the operator', async () => {
    await using run = await startRun()
    await run.signUp()
    await run.expectAllOnce()
    run.faults.add({ on: 'batchUpdate', answer: 'unauthenticated' })
    await run.signUp()
    await run.expectAllOnce()
    expect(run.service.output()).not.toMatch(/delivery (delayed|blocked)/)
  })

  const reads: readonly (readonly [string, CallKind, readonly Answer[], number])[] = [
    ['getting a token', 'token', ['internal', 'drop', 'html200'], 0],
    ['getting a token', 'token', ['badGateway', 'empty200', 'truncated'], 0],
    ['asking which tabs there are', 'get', ['unavailable', 'drop', 'html200'], 0],
    ['asking which tabs there are', 'get', ['quota', 'truncated', 'empty200'], 0],
    ['looking whether a tab is empty', 'get', ['internal', 'cutOff', 'html200'], 1],
    ['looking whether a tab is empty', 'get', ['aborted', 'drop', 'badGateway'], 1],
  ]
  test.each(reads)(
    'rows arrive once when %s fails in three ways, one after the other (%s: %s)',
    async (...read) => {
      const [, on, answers, skip] = read
      await using run = await startRun(({ emulator }) => {
        for (const answer of answers)
          emulator.faults.add({ on, answer, skip, apply: applied(answer) })
      })
      await run.signUp()
      await run.expectAllOnce()
    },
  )

  test.each<readonly Answer[]>([
    ['drop', 'unavailable'],
    ['html200', 'quota'],
    ['truncated', 'requestTimeout'],
  ])(
    'rows arrive once when asking for the marker fails with "%s" and "%s" after the answer to the batch was lost',
    async (...answers) => {
      await using run = await startRun()
      await run.signUp()
      await run.expectAllOnce()
      run.faults.add({ on: 'batchUpdate', apply: 'now', answer: 'drop' })
      for (const answer of answers) {
        run.faults.add({ on: 'developerMetadata.get', answer, apply: applied(answer) })
      }
      await run.signUp()
      await run.expectAllOnce()
    },
  )
})

/** Only a real answer can be cut. */
function applied(answer: Answer): 'now' | 'never' {
  return answer === 'truncated' || answer === 'cutOff' ? 'now' : 'never'
}

test('while Google answers nothing but errors, visitors are answered and strict readiness stays 200', async () => {
  await using run = await startRun()
  run.faults.add({ times: 0, answer: 'unavailable' })
  await run.signUp()
  await waitUntil(
    () => run.service.output().includes('delivery delayed'),
    () => 'the log says nothing of the outage',
  )
  const outage = { delivery: { state: 'delayed', backlog: 3 } }
  expect(await readiness(run.service)).toMatchObject({ status: 200, body: outage })
  expect(await readiness(run.service, 'strict')).toMatchObject({ status: 200, body: outage })
  run.faults.clear()
  await run.expectAllOnce()
})
