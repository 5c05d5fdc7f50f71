import { expect, test } from 'vitest'
import { WantedRows } from './wanted-rows.ts'

const at = '2026-11-20T10:00:00.000Z'
const rowOf = (email: string) => ({
  email,
  receivedAt: Date.parse(at),
  tab: 'News',
})

test('a row of the spreadsheet is read once, however many rows of its person have to go', () => {
  const wanted = new WantedRows<number>(
    Array.from({ length: 1_000 }, () => rowOf('Ada@example.com')),
  )
  let reads = 0
  for (let row = 0; row < 1_000; row++) {
    const reading = {
      addresses: ['ada@example.com'],
      get cells() {
        reads += 1
        return ['ada@example.com', at]
      },
    }
    expect(wanted.take(row, [reading])).toBe(true)
  }
  expect(reads).toBe(1_000)
  const { going, standing } = wanted.decided()
  expect(going.size).toBe(1_000)
  expect(new Set(standing)).toEqual(new Set([1_000]))
})

test.for([
  ['ada@example.com,2026', true],
  ["'ada@example.com;x", true],
  ['"ada@example.com"\t', true],
  ['x|ada@example.com|', true],
  ['ada@example.community', false],
  ['a@example.com', false],
  ['@'.repeat(1_000), false],
] as const)('whether %s may have a wanted address is %s', ([text, may]) => {
  expect(new WantedRows([rowOf('ada@example.com')]).mayBeIn(text)).toBe(may)
})
