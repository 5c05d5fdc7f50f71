import { expect, test } from 'vitest'
import { compareWith } from '../../bench/against/compare.ts'
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

test('the bench can compare this tree with a commit', async () => {
  const compared = await compareWith('HEAD', quickSizes)
  const names = compared.map(({ figure }) => figure.name)
  expect(names).toEqual([
    'against-signup',
    'against-bulk',
    'against-row',
    'against-start',
    'against-memory',
    'against-peak',
    'against-signup-postgres',
    'against-row-postgres',
    'against-install',
  ])
  const ratios = compared.flatMap(({ measured }) => measured.values)
  expect(ratios).toHaveLength(names.length)
  expect(ratios.filter((ratio) => !(ratio > 0 && Number.isFinite(ratio)))).toEqual([])
  expect(ratios.at(-1)).toBe(1)
})
