import { describe, expect, test } from 'vitest'
import { createdMarker, deletedMarkers, foundMarkers, markerKey, markersIn } from './markers.ts'

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
    const found = [1, 2].map((metadataId) => ({ metadataId }))
    const matched = found.map((developerMetadata) => ({ developerMetadata }))
    expect(foundMarkers({ matchedDeveloperMetadata: matched })).toEqual(found)
    expect(foundMarkers({})).toEqual([])
  })
})

describe('a spreadsheet', () => {
  test('has the markers that were made in it, also those of batches that were given up', () => {
    const values = ['journal-7:1:ab:short', 'journal-8:2:cd:short:x', 'journal-7:1:ab:other', 7]
    const all = values.map((metadataValue, index) => {
      return { metadataId: index + 1, metadataKey: markerKey, metadataValue }
    })
    expect(markersIn([...all, { ...all[0], metadataKey: 'somebody else’s' }], 'short')).toEqual([
      { marker: 1, fingerprint: 'journal-7:1:ab' },
      { marker: 2, fingerprint: 'journal-8:2:cd' },
    ])
  })
})
