import type { sheets_v4 } from '@googleapis/sheets'
import { notEmulated } from './api-error.ts'
import type { StoredMetadata } from './state.ts'

export function renderMetadata(metadata: StoredMetadata): sheets_v4.Schema$DeveloperMetadata {
  return {
    metadataId: metadata.id,
    metadataKey: metadata.key,
    ...(metadata.value === '' ? {} : { metadataValue: metadata.value }),
    location: { locationType: 'SPREADSHEET', spreadsheet: true },
    visibility: 'DOCUMENT',
  }
}

/** Whether a lookup by id, by key or by both finds the metadata. */
export function isMatch(
  metadata: StoredMetadata,
  filter: sheets_v4.Schema$DataFilter | undefined,
): boolean {
  const lookup = filter?.developerMetadataLookup
  if (!lookup) throw notEmulated('a data filter without developerMetadataLookup')
  return (
    (lookup.metadataId ?? metadata.id) === metadata.id &&
    (lookup.metadataKey ?? metadata.key) === metadata.key
  )
}
