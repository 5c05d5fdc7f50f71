import { expect, test } from 'vitest'
import { median, quickSizes } from '../../bench/scenario.ts'
import { scenarios } from '../../bench/scenarios.ts'

// Shows that it runs, not how fast: the sizes are tiny, and other tests run beside it.
// A variant runs the same code as the scenario that it varies.
test.each(scenarios.filter(({ variantOf }) => variantOf === undefined))(
  'the bench can measure $name',
  async ({ run }) => {
    const { values, note } = await run(quickSizes)
    expect(values.every((value) => Number.isFinite(value) && value > 0)).toBe(true)
    expect(median(values)).toBeGreaterThan(0)
    expect(note).not.toBe('')
  },
)
