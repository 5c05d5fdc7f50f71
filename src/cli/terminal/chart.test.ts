import { expect, test } from 'vitest'
import { chart } from './chart.ts'

test('the highest bar is as high as the chart, and every value above 0 shows', () => {
  const values = [0, 1, 500, 1000]
  const bars = values.map((value, at) => ({ label: String(at).padStart(2, '0'), value }))
  expect(chart(bars, 4)).toEqual([
    '1,000 |          ##',
    '      |          ##',
    '      |       ## ##',
    '      |    ## ## ##',
    '    0 +------------',
    '        00 01 02 03',
  ])
})

test('a chart of nothing has a scale', () => {
  expect(chart([{ label: '10', value: 0 }], 2)).toEqual(['1 |', '  |', '0 +---', '    10'])
})
