import type { Digest } from '../../platform/digest.ts'
import type { FrozenBatch } from '../../signup/batch.ts'
import type { Warning } from '../../signup/trouble.ts'
import { isRecord } from '../../signup/json.ts'

/** The metadata key of all our markers. */
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

/** A short name for a spreadsheet, whose id has 44 characters. Its 48 bits tell one person's spreadsheets apart. */
export function shortNameOf(spreadsheetId: string, digest: Digest): string {
  return digest(spreadsheetId).slice(0, 8)
}

/** The marker that the first request of a batchUpdate has made, from its answer. */
export function createdMarker(body: Record<string, unknown>): number | undefined {
  const replies: unknown[] = Array.isArray(body['replies']) ? body['replies'] : []
  const reply = isRecord(replies[0]) ? replies[0]['createDeveloperMetadata'] : undefined
  const metadata = isRecord(reply) ? reply['developerMetadata'] : undefined
  return isRecord(metadata) ? Number(metadata['metadataId']) : undefined
}

/** The markers that a batchUpdate has deleted, from its answer. */
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

/** Warns when a spreadsheet is a copy of one that Rollcall wrote to; undefined otherwise. */
export function copyWarning(spreadsheet: unknown, shortName: string): Warning | undefined {
  const all: unknown[] =
    isRecord(spreadsheet) && Array.isArray(spreadsheet['developerMetadata'])
      ? spreadsheet['developerMetadata']
      : []
  const isOfAnother = (metadata: unknown) =>
    isRecord(metadata) &&
    metadata['metadataKey'] === markerKey &&
    typeof metadata['metadataValue'] === 'string' &&
    !metadata['metadataValue'].split(':').includes(shortName)
  if (!all.some(isOfAnother)) return undefined
  return {
    kind: 'copy',
    message:
      'The spreadsheet is a copy of one that Rollcall wrote to. New signups go to this copy only; ' +
      'set SHEETS_SHEET_ID back if that is not what you want.',
  }
}
