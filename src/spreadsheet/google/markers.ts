import type { FrozenBatch } from '../../signup/batch.ts'
import { isRecord } from './answer.ts'

/** Key of all our markers. */
export const markerKey = 'rollcall.batch'

/**
 * What the marker of a batch holds, at most 60 + 101 characters; Google's pool for all of them holds
 * 30,000. The spreadsheet's id is in it because a copy of a spreadsheet carries the markers along.
 */
export function markerValue(batch: FrozenBatch, spreadsheetId: string): string {
  return `${batch.fingerprint}:${spreadsheetId}`
}

/** What the marker of a batch holds that was given up: it keeps late calls of the batch out. */
export function abandonedValue(batch: FrozenBatch, spreadsheetId: string): string {
  return `${markerValue(batch, spreadsheetId)}:abandoned`
}

/** The marker that a batchUpdate has made by its first request, as its answer tells. */
export function createdMarker(body: Record<string, unknown>): number | undefined {
  const replies: unknown[] = Array.isArray(body['replies']) ? body['replies'] : []
  const reply = isRecord(replies[0]) ? replies[0]['createDeveloperMetadata'] : undefined
  const metadata = isRecord(reply) ? reply['developerMetadata'] : undefined
  return isRecord(metadata) ? Number(metadata['metadataId']) : undefined
}

/** The markers that a batchUpdate has deleted, as its answer tells. */
export function deletedMarkers(body: Record<string, unknown>): ReadonlySet<number> {
  const replies: unknown[] = Array.isArray(body['replies']) ? body['replies'] : []
  return new Set(
    replies.flatMap((reply) => {
      const answer = isRecord(reply) ? reply['deleteDeveloperMetadata'] : undefined
      const deleted = isRecord(answer) ? answer['deletedDeveloperMetadata'] : undefined
      const all: unknown[] = Array.isArray(deleted) ? deleted : []
      return all.flatMap((metadata) => (isRecord(metadata) ? [Number(metadata['metadataId'])] : []))
    }),
  )
}

/** Tells that a spreadsheet is a copy of one that Rollcall wrote to; undefined when it is none. */
export function copyWarning(spreadsheet: unknown, spreadsheetId: string): string | undefined {
  const all: unknown[] =
    isRecord(spreadsheet) && Array.isArray(spreadsheet['developerMetadata'])
      ? spreadsheet['developerMetadata']
      : []
  const isOfAnother = (metadata: unknown) =>
    isRecord(metadata) &&
    metadata['metadataKey'] === markerKey &&
    typeof metadata['metadataValue'] === 'string' &&
    !metadata['metadataValue'].split(':').includes(spreadsheetId)
  if (!all.some(isOfAnother)) return undefined
  return (
    'The spreadsheet is a copy of one that Rollcall wrote to. New signups go to this copy only; ' +
    'set SHEETS_SHEET_ID back if that is not what you want.'
  )
}
