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
  const lines: string[] = []
  await compareWith('HEAD', quickSizes, (line) => lines.push(line))
  const figures = [
    'cpu-per-signup',
    'cpu-per-row',
    'start',
    'memory-start',
    'memory-peak',
    'install',
  ]
  const rows = figures.map((name) => lines.find((line) => line.startsWith(`| ${name} |`)))
  for (const row of rows) expect(row).toMatch(/\*\*\d+\.\d{3}\*\*/)
  // One commit needs as much as itself.
  expect(rows.at(-1)).toContain('**1.000**')
})
