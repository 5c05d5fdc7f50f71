import { expect, test } from 'vitest'
import { quickSizes } from '../../bench/scenario.ts'
import { scenarios } from '../../bench/scenarios.ts'

// Shows that it runs, not how fast: the sizes are tiny, and other tests run beside it.
// A variant runs the same code as the scenario that it varies.
test.each(scenarios.filter(({ variantOf }) => variantOf === undefined))(
  'the bench can measure $name',
  async ({ run, isDifference }) => {
    const { values, note } = await run(quickSizes)
    const isSound = (value: number) =>
      Number.isFinite(value) && (isDifference === true || value > 0)
    expect(values.filter((value) => !isSound(value))).toEqual([])
    expect(values).not.toEqual([])
    expect(note).not.toBe('')
  },
)
