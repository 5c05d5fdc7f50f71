import { expect, test } from 'vitest'
import { ManualClock } from '../../harness/manual-clock.ts'
import type { Work } from '../journal/tables/admin-log.ts'
import { systemClock } from '../platform/clock.ts'
import { standingOf, WorkRunner } from './work.ts'

/** A runner, and the last note of each piece of work. */
function runnerWithNotes(clock: Pick<ManualClock, 'now' | 'elapsed' | 'sleep'> = systemClock) {
  const notes = new Map<string, Work>()
  const failures: unknown[] = []
  const log = { noteWork: async (work: Work) => void notes.set(work.id, work) }
  const options = { clock, now: () => clock.now(), failed: (it: unknown) => failures.push(it) }
  return { notes, failures, runner: new WorkRunner({ log: log as never, ...options }) }
}

test('three pieces of work run at once, and others can begin when one has ended', async () => {
  const clock = new ManualClock()
  const { notes, runner } = runnerWithNotes(clock)
  const ends: (() => void)[] = []
  const doing = () => new Promise<string[]>((resolve) => ends.push(() => resolve(['Done.'])))
  const started = Promise.all([1, 2, 3].map(() => runner.start('erase', doing)))
  await clock.run(3_000)
  const [first] = await started
  expect(first?.hasEnded).toBe(false)
  expect(await runner.start('erase', doing)).toBeUndefined()
  ends[0]?.()
  await expect
    .poll(() => notes.get(first?.id ?? ''))
    .toMatchObject({ state: 'done', report: 'Done.' })
  expect(await runner.start('erase', async () => ['Done.'])).toMatchObject({ hasEnded: true })
  for (const end of ends) end()
  await runner[Symbol.asyncDispose]()
})

test('work that runs is noted again and again, with how much is done', async () => {
  const clock = new ManualClock()
  const { notes, runner } = runnerWithNotes(clock)
  const started = runner.start('erase', async ({ stop, progress }) => {
    progress(7)
    await clock.sleep(600_000, stop)
    return []
  })
  await clock.run(500_000)
  const note = notes.get((await started)?.id ?? '') ?? expect.fail('nothing was noted')
  expect(note).toMatchObject({ state: 'running', done: 7 })
  expect(clock.now() - note.seenAt).toBeLessThan(5_000)
  await runner[Symbol.asyncDispose]()
})

test('work that fails says so without its reason, and a stop ends what runs', async () => {
  const { notes, failures, runner } = runnerWithNotes()
  const failed = runner.start('erase', () => Promise.reject(new Error('ada@example.com')))
  const stopped = runner.start('erase', async ({ stop, progress }) => {
    progress(7)
    await systemClock.sleep(60_000, stop)
    throw new Error('stopped')
  })
  await failed
  await runner[Symbol.asyncDispose]()
  expect(notes.get((await failed)?.id ?? '')).toMatchObject({ state: 'failed', done: 0 })
  expect(notes.get((await stopped)?.id ?? '')).toMatchObject({ state: 'failed', done: 7 })
  expect(JSON.stringify([...notes.values()])).not.toContain('ada@')
  expect(failures).toHaveLength(1)
})

test('work that was not noted for half a minute has ended with its process', () => {
  const work: Work = {
    ...{ id: '', kind: 'erase', madeAt: 0, seenAt: 0, state: 'running', done: 5, report: '' },
  }
  expect(standingOf(work, 30_000).state).toBe('running')
  expect(standingOf(work, 30_001)).toMatchObject({ state: 'failed' })
  expect(standingOf({ ...work, state: 'done' }, 90_000).state).toBe('done')
})
