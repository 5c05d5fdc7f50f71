import fc from 'fast-check'
import { expect, test } from 'vitest'

import { ProcessTime } from '../../src/delivery/process-time.ts'
import type { RunningTimeNote } from '../../src/journal/contracts/delivery-log.ts'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
import { JournalUnavailable } from '../../src/journal/contracts/errors.ts'

test('a process that runs alone counts all of its time once, also when two notes are made together', async () => {
  let now = 0
  await using journal = openSqliteJournal(':memory:')
  const clock = { now: () => 0, elapsed: () => now, sleep: async () => {} }
  const time = new ProcessTime(journal.delivery, clock)
  expect(await time.note()).toBe(0)
  now = 1000.7
  expect(await Promise.all([time.note(), time.note()])).toEqual([1000, 1000])
  now = 3000
  // Whole milliseconds since the note before.
  expect(await time.note()).toBe(2999)
})

test('the note after one that failed includes its time', async () => {
  let now = 0
  await using journal = openSqliteJournal(':memory:')
  let failures = 0
  const noteRunningTime = async (note: RunningTimeNote) => {
    if (failures-- > 0) throw new JournalUnavailable('The disk is full.')
    return journal.delivery.noteRunningTime(note)
  }
  const clock = { now: () => 0, elapsed: () => now, sleep: async () => {} }
  const time = new ProcessTime({ noteRunningTime }, clock)
  await time.note()
  failures = 1
  now = 500
  await expect(time.note()).rejects.toThrow(JournalUnavailable)
  now = 700
  expect(await time.note()).toBe(700)
})

/** One of three processes acts, `wait` ms after the act before. */
const acts = fc.array(
  fc.record({
    wait: fc.integer({ min: 0, max: 100_000 }),
    process: fc.integer({ min: 0, max: 2 }),
    /** The process measures its time and is stopped, or it goes on and notes the time that it measured. */
    act: fc.constantFrom('measure', 'note'),
    givesLife: fc.boolean(),
  }),
  { maxLength: 60 },
)

test('after a marker gets its lifetime, running time grows no faster than real time, whichever process is stopped', async () => {
  await fc.assert(
    fc.asyncProperty(acts, async (story) => {
      let now = 0
      const keepMs: { readonly at: number; readonly ms: number }[] = []
      await using journal = openSqliteJournal(':memory:')
      const processes = [0, 1, 2].map(() => {
        const stopped: (() => void)[] = []
        const time = new ProcessTime(
          {
            async noteRunningTime(note: RunningTimeNote) {
              const step = Promise.withResolvers<undefined>()
              stopped.push(() => step.resolve(undefined))
              await step.promise
              const seen = await journal.delivery.noteRunningTime(note)
              for (const { at, ms } of keepMs) expect(seen.ms - ms).toBeLessThanOrEqual(now - at)
              if (note.keepMs.size > 0) keepMs.push({ at: now, ms: seen.ms })
              return seen
            },
          },
          { now: () => 0, elapsed: () => now, sleep: async () => {} },
        )
        return { time, stopped }
      })
      const noted: Promise<unknown>[] = []
      const settle = () => new Promise((resolve) => setImmediate(resolve))
      for (const { wait, process: index, act, givesLife } of story) {
        now += wait
        const process = processes[index]
        if (act === 'measure') {
          noted.push(process?.time.note(new Map(givesLife ? [[1, 1]] : [])) ?? Promise.resolve())
        } else process?.stopped.shift()?.()
        await settle()
      }
      while (processes.some(({ stopped }) => stopped.length > 0)) {
        for (const { stopped } of processes) stopped.shift()?.()
        await settle()
      }
      await Promise.all(noted)
    }),
    { numRuns: 200 },
  )
})
