import { expect, test } from 'vitest'
import { digits } from './digits.ts'

test.each([
  [0, '0'],
  [999, '999'],
  [1000, '1,000'],
  [12_345, '12,345'],
  [1_234_567, '1,234,567'],
])('%d reads %s', (count, text) => {
  expect(digits(count)).toBe(text)
})
