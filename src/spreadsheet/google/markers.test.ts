import { describe, expect, test } from 'vitest'
import { copyWarning, createdMarker, deletedMarkers, foundMarkers, markerKey } from './markers.ts'

const created = { createDeveloperMetadata: { developerMetadata: { metadataId: 7 } } }
const deleted = (...ids: number[]) => ({
  deleteDeveloperMetadata: {
    deletedDeveloperMetadata: ids.map((metadataId) => ({ metadataId })),
  },
})

describe('the markers in an answer', () => {
  test('are the one that the first request has made', () => {
    expect(createdMarker({ replies: [created, {}] })).toBe(7)
  })

  test.each([[{}], [{ replies: [] }], [{ replies: [{}, created] }], [{ replies: [null] }]])(
    'are none when it does not show one that was made: %j',
    (body) => {
      expect(createdMarker(body)).toBe(0)
    },
  )

  test('are all those that its requests have deleted or found', () => {
    const replies = [deleted(1), {}, deleted(), deleted(3, 4)]
    expect([...deletedMarkers({ replies })]).toEqual([1, 3, 4])
    const found = [1, 2].map((metadataId) => ({ developerMetadata: { metadataId } }))
    expect([...foundMarkers({ matchedDeveloperMetadata: found })]).toEqual([1, 2])
    expect(foundMarkers({}).size).toBe(0)
  })
})

describe('a spreadsheet', () => {
  const own = { metadataKey: markerKey, metadataValue: 'journal-7:1:short' }
  const ofCopied = { metadataKey: markerKey, metadataValue: 'journal-7:1:other:x' }

  test('is a copy when it has a marker of another spreadsheet', () => {
    expect(copyWarning({ developerMetadata: [own, ofCopied] }, 'short')?.kind).toBe('copy')
  })

  test.each([
    [{}],
    [{ developerMetadata: [own, { ...own, metadataValue: `${own.metadataValue}:x` }] }],
    [{ developerMetadata: [{ ...ofCopied, metadataKey: 'somebody else’s' }] }],
  ])('is none when it has only its own markers, and metadata of others: %j', (spreadsheet) => {
    expect(copyWarning(spreadsheet, 'short')).toBeUndefined()
  })
})
