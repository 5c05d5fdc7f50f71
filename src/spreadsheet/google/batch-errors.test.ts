import { describe, expect, test } from 'vitest'
import { isAboutRanges, isAlreadyThere, isStaleLayout, requestIndex } from './batch-errors.ts'

const exists =
  'Invalid requests[0].createDeveloperMetadata: Cannot add developer metadata with ID [7] because ' +
  'developer metadata with that ID already exists.'

/** Google's texts, and what each is about. */
const texts = [
  [exists, 'marker', 0],
  ['Invalid requests[12].appendCells: No grid with id: 7', 'layout', 12],
  ['Invalid requests[1].appendDimension: No sheet with id: 7', 'layout', 1],
  ['Invalid requests[3].appendCells: No table with id: abc', 'layout', 3],
  ['Invalid requests[1].addSheet: A sheet with the name "a\nb" already exists.', 'layout', 1],
  ['Invalid requests[2].appendCells: Range (News!A1:H1) exceeds grid limits.', 'layout', 2],
  ['Unable to parse range: …', 'ranges', undefined],
  ["Range ('a\nb'!A900:ZZ900) exceeds grid limits. Max rows: 5", 'ranges', undefined],
  ['Note: Unable to parse range', 'nothing', undefined],
  ['A note on requests[3]', 'nothing', undefined],
  ['Invalid requests[3', 'nothing', undefined],
  ['A note: Invalid requests[3].appendCells', 'nothing', undefined],
  ['A sheet with the id 7 already exists.', 'nothing', undefined],
  ['Internal error encountered.', 'nothing', undefined],
  ['', 'nothing', undefined],
] as const

describe('an error of a batch', () => {
  test.each(texts)('is recognised by its text: %j is about %s', (text, about, index) => {
    expect(isAlreadyThere(text, 7)).toBe(about === 'marker')
    expect(isAboutRanges(text)).toBe(about === 'ranges')
    // A range that is too large was refused because the sheet has become smaller.
    if (about !== 'ranges') expect(isStaleLayout(text)).toBe(about === 'layout')
    expect(requestIndex(text)).toBe(index)
  })

  test('is not about the marker of another batch', () => {
    expect(isAlreadyThere(exists, 1)).toBe(false)
    expect(isAlreadyThere(exists, 77)).toBe(false)
  })
})
