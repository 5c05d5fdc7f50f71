import { expect, test } from 'vitest'
import { ManualClock } from '../../../harness/manual-clock.ts'
import type { Signup } from '../../signup/signup.ts'
import { Columns } from './columns.ts'
import type { FileRecord } from './records.ts'
import { Importer } from './importer.ts'

async function* recordsOf(count: number, bytes: number): AsyncGenerator<FileRecord> {
  for (let row = 1; row <= count; row++) {
    const values = [['email', `person${row}@example.com`]] as const
    yield { row, end: row * bytes, cells: [], values }
  }
}

test.each([
  { bytes: 50, atOnce: Array<number>(10).fill(25) },
  { bytes: 4_096, atOnce: [...Array<number>(15).fill(16), 10] },
  { bytes: 70_000, atOnce: Array<number>(250).fill(1) },
])('one transaction adds at most 25 signups or 64 KiB of records of $bytes bytes', async (it) => {
  const calls: number[] = []
  const clock = new ManualClock()
  const importer = new Importer({
    columns: new Columns([]),
    context: { defaultTab: 'Sheet1', source: 'import' },
    tab: undefined,
    dates: undefined,
    add: async (signups: readonly Signup[]) => {
      calls.push(signups.length)
      return signups.map(() => 'added' as const)
    },
    terms: {},
    clock: { now: () => clock.now(), elapsed: () => clock.elapsed(), sleep: async () => {} },
    rejectedFile: undefined,
  })
  const records = recordsOf(250, it.bytes)
  await importer.run({ hasHeader: false, names: [], records }, () => {})
  expect(calls).toEqual(it.atOnce)
  expect(importer.results).toMatchObject({ read: 250, added: 250, skipped: 0, rejected: 0 })
})
