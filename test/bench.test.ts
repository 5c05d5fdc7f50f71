import { expect, test } from 'vitest'
import { median, quickSizes } from '../bench/scenario.ts'
import { scenarios } from '../bench/scenarios.ts'

// Whether it runs, not how fast: sizes are tiny and the machine is busy with other tests.
test.each(scenarios)('the bench can measure $name', { timeout: 120_000 }, async ({ run }) => {
  const { values, note } = await run(quickSizes)
  expect(values.every((value) => Number.isFinite(value) && value > 0)).toBe(true)
  expect(median(values)).toBeGreaterThan(0)
  expect(note).not.toBe('')
})
