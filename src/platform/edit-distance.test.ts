import { expect, test } from 'vitest'
import { editDistance } from './edit-distance.ts'

test.each([
  ['', '', 0],
  ['', 'tag', 3],
  ['tags', 'tags', 0],
  ['tag', 'tags', 1],
  ['tagss', 'tags', 1],
  ['tabs', 'tags', 1],
  ['atgs', 'tags', 1],
  ['atsg', 'tags', 2],
  ['kitten', 'sitting', 3],
])('from %j to %j it takes %i typing errors, and as many back', (typed, meant, errors) => {
  expect(editDistance(typed, meant)).toBe(errors)
  expect(editDistance(meant, typed)).toBe(errors)
})
