import { describe, expect, test } from 'vitest'
import { day } from '../platform/clock.ts'
import { chart, chartTable, ticksFor } from './chart.ts'
import type { Step } from './periods.ts'

const begin = Date.UTC(2026, 10, 20)
const steps = (...counts: (readonly [now: number, before: number])[]): Step[] =>
  counts.map(([now, before], at) => ({ begin: begin + at * day, now, before }))
const drawn = async (...counts: (readonly [number, number])[]) =>
  String(await chart('Accepted', steps(...counts), false))

describe('ticks', () => {
  test.each([
    [0, [0, 1]],
    [1, [0, 1]],
    [3, [0, 1, 2, 3]],
    [5, [0, 2, 4, 6]],
    [20, [0, 5, 10, 15, 20]],
    [21, [0, 10, 20, 30]],
    [399, [0, 100, 200, 300, 400]],
    [1_234_567, [0, 500_000, 1_000_000, 1_500_000]],
  ])('up to %i they are round', (max, ticks) => {
    expect(ticksFor(max)).toEqual(ticks)
  })

  test('they are two to five whole numbers that reach the largest value, whatever it is', () => {
    for (let max = 0; max < 1e12; max = Math.ceil(max * 1.07) + 1) {
      const ticks = ticksFor(max)
      expect(ticks.length, String(max)).toSatisfy((count: number) => count >= 2 && count <= 5)
      expect(ticks.every(Number.isInteger), String(max)).toBe(true)
      expect(ticks.at(-1), String(max)).toBeGreaterThanOrEqual(max)
    }
  })
})

test('each day has a bar with its numbers as its hover text, and the axis its first and last day', async () => {
  const svg = await drawn([1_200, 3], [0, 0], [600, 1_500])
  expect([...svg.matchAll(/<title>(.*?)<\/title>/g)].map(([, words]) => words)).toEqual([
    '20 Nov: 1,200, before: 3',
    '21 Nov: 0, before: 0',
    '22 Nov: 600, before: 1,500',
  ])
  expect([...svg.matchAll(/<text[^>]*>(.*?)<\/text>/g)].map(([, words]) => words)).toEqual([
    ...['0', '500', '1,000', '1,500', '20 Nov', '22 Nov'],
  ])
  expect(svg).toContain('role="img" aria-label="Accepted"')
})

test('a chart of nothing and one of a huge value stay within the picture', async () => {
  for (const one of [[0, 0] as const, [0, 9_999_999_999] as const, [12_345_678_901, 0] as const]) {
    const svg = await drawn(one, [0, 0])
    expect(svg).not.toMatch(/NaN|Infinity|undefined|style=/)
    for (const [, points = ''] of svg.matchAll(/ (?:d|points)="([^"]*)"/g)) {
      for (const value of points.match(/-?[\d.]+/g) ?? []) {
        expect(Number(value), points).toSatisfy((at: number) => at >= 0 && at <= 480)
      }
    }
  }
})

test('the table tells the same numbers', async () => {
  const table = String(await chartTable('Accepted', steps([1_200, 3]), false))
  expect(table.replaceAll(/\s+/g, ' ')).toContain(
    '<th scope="row">20 Nov</th><td>1,200</td><td>3</td>',
  )
  expect(table).toContain('<caption>')
})
