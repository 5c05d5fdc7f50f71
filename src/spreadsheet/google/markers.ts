import { sha256 } from '../../platform/digest.ts'
import type { FrozenBatch, Marked } from '../../signup/batch.ts'
import { fieldIn, listIn, numberIn, textOf } from './answer.ts'
import { createMetadata } from './requests.ts'

export const markerKey = 'rollcall'

/**
 * The value of a batch's marker: at most 52 characters, because Google allows 30,000 for all keys and
 * values together. It has the spreadsheet's short name, because a copy of a spreadsheet has the same
 * markers.
 */
export function markerValue({ fingerprint }: FrozenBatch, shortName: string): string {
  return `${fingerprint}:${shortName}`
}

/** The value of the marker of a batch that was given up. The marker keeps late calls of the batch out. */
export function abandonedValue(batch: FrozenBatch, shortName: string): string {
  return `${markerValue(batch, shortName)}:x`
}

/** The request that makes a batch's marker, with one of the values above. */
export function createMarker({ marker }: FrozenBatch, metadataValue: string): string {
  return createMetadata({ metadataId: marker, metadataKey: markerKey, metadataValue })
}

/** The field mask for what `createdMarker` and `deletedMarkers` read. */
export const markerReplies =
  'replies(createDeveloperMetadata.developerMetadata.metadataId,' +
  'deleteDeveloperMetadata.deletedDeveloperMetadata.metadataId)'

/** A short name for a spreadsheet, whose id has 44 characters. Its 48 bits tell one person's spreadsheets apart. */
export function shortNameOf(spreadsheetId: string): string {
  return sha256(spreadsheetId).slice(0, 8)
}

/** The marker that the first request of a batchUpdate has made, from its answer; 0 when there is none. */
export function createdMarker(body: unknown): number {
  const [reply] = listIn(body, 'replies')
  return numberIn(reply, 'createDeveloperMetadata', 'developerMetadata', 'metadataId')
}

/** The markers that a batchUpdate has deleted, from its answer. */
export function deletedMarkers(body: unknown): ReadonlySet<number> {
  const deleted = listIn(body, 'replies').flatMap((reply) =>
    listIn(reply, 'deleteDeveloperMetadata', 'deletedDeveloperMetadata'),
  )
  return new Set(deleted.map((metadata) => numberIn(metadata, 'metadataId')))
}

/** The markers that a search has found, from its answer. */
export function foundMarkers(body: unknown): readonly unknown[] {
  return listIn(body, 'matchedDeveloperMetadata').map((match) =>
    fieldIn(match, 'developerMetadata'),
  )
}

/** The markers that were made in this spreadsheet, and not in one that it is a copy of. */
export function markersIn(metadata: readonly unknown[], shortName: string): readonly Marked[] {
  return metadata
    .filter((one) => fieldIn(one, 'metadataKey') === markerKey)
    .map((one) => ({
      marker: numberIn(one, 'metadataId'),
      value: textOf(fieldIn(one, 'metadataValue')),
    }))
    .filter(({ value }) => value.split(':').includes(shortName))
    .map(({ marker, value }) => ({ marker, fingerprint: value.split(`:${shortName}`, 1).join() }))
}
