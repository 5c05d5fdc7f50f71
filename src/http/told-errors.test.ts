import { expect, test } from 'vitest'
import { ToldErrors } from './told-errors.ts'

const errors = (count: number, characters: number) =>
  Array.from({ length: count }, () => ({ field: 'f', message: 'm'.repeat(characters - 1) }))

test.each([
  [1_000, 2, 0],
  [1_001, 2, 1],
  [300, 100, 0],
  [301, 100, 1],
  [500, 200, 350],
])('of %i errors of %i characters, %i are counted only', (count, characters, leftOut) => {
  const all = errors(count, characters)
  const errorsOfAnswer = new ToldErrors()
  const told = [all.slice(0, 7), all.slice(7)].flatMap((some) => errorsOfAnswer.take(some))
  expect(told).toEqual(all.slice(0, count - leftOut))
  expect(errorsOfAnswer.leftOut).toBe(leftOut)
})
