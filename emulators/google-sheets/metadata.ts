import type { sheets_v4 } from '@googleapis/sheets'
import { invalidArgument } from './api-error.ts'
import { shiftIndex, type Shift } from './grid-range.ts'
import type { Caller, MetadataPlace, SpreadsheetState, StoredMetadata } from './state.ts'
import type { Transaction } from './transaction.ts'

/** Developer metadata: how it is shown, found, counted, and how it moves with rows and columns. */

export function renderMetadata(metadata: StoredMetadata): sheets_v4.Schema$DeveloperMetadata {
  return {
    metadataId: metadata.id,
    metadataKey: metadata.key,
    ...(metadata.value ? { metadataValue: metadata.value } : {}),
    location: renderPlace(metadata.place),
    visibility: metadata.visibility,
  }
}

function renderPlace(place: MetadataPlace): sheets_v4.Schema$DeveloperMetadataLocation {
  switch (place.kind) {
    case 'spreadsheet':
      return { locationType: 'SPREADSHEET', spreadsheet: true }
    case 'sheet':
      return { locationType: 'SHEET', sheetId: place.sheetId }
    case 'dimension': {
      const { sheetId, dimension, startIndex } = place
      const range = { dimension, startIndex, endIndex: startIndex + 1 }
      return {
        locationType: locationTypeOf(place),
        dimensionRange: sheetId ? { sheetId, ...range } : range,
      }
    }
  }
}

function locationTypeOf(place: MetadataPlace): string {
  if (place.kind === 'dimension') return place.dimension === 'ROWS' ? 'ROW' : 'COLUMN'
  return place.kind.toUpperCase()
}

/** Reads a location of a request. Only one row or column can carry metadata. */
export function readPlace(
  location: sheets_v4.Schema$DeveloperMetadataLocation | undefined,
): MetadataPlace {
  if (location?.spreadsheet) return { kind: 'spreadsheet' }
  if (typeof location?.sheetId === 'number') return { kind: 'sheet', sheetId: location.sheetId }
  const range = location?.dimensionRange
  const dimension = range?.dimension
  if (!range || (dimension !== 'ROWS' && dimension !== 'COLUMNS')) {
    throw invalidArgument('Developer metadata must be associated with a location.')
  }
  const startIndex = range.startIndex ?? 0
  if (range.endIndex !== startIndex + 1) {
    throw invalidArgument('Developer metadata can only be added to a single row or column.')
  }
  return { kind: 'dimension', sheetId: range.sheetId ?? 0, dimension, startIndex }
}

/** PROJECT entries exist only for the Cloud project that made them. */
export function isVisible(metadata: StoredMetadata, caller: Caller): boolean {
  return metadata.visibility === 'DOCUMENT' || metadata.project === caller.project
}

function matchesLookup(
  metadata: StoredMetadata,
  lookup: sheets_v4.Schema$DeveloperMetadataLookup,
): boolean {
  const { metadataId, metadataKey, metadataValue, visibility, locationType } = lookup
  return (
    (metadataId ?? metadata.id) === metadata.id &&
    (metadataKey ?? metadata.key) === metadata.key &&
    (metadataValue ?? metadata.value) === metadata.value &&
    (visibility ?? metadata.visibility) === metadata.visibility &&
    (locationType ?? locationTypeOf(metadata.place)) === locationTypeOf(metadata.place)
  )
}

/** The ids of entries that the caller may see and that any of the filters matches, oldest first. */
export function findMetadata(
  spreadsheet: SpreadsheetState,
  filters: readonly sheets_v4.Schema$DataFilter[],
  caller: Caller,
): StoredMetadata[] {
  const lookups = filters.map((filter) => readLookup(filter))
  const ids = lookups.map((lookup) => lookup.metadataId)
  const candidates = ids.every((id) => typeof id === 'number')
    ? [...new Set(ids)].flatMap((id) => spreadsheet.metadata.get(id) ?? [])
    : [...spreadsheet.metadata.values()]
  return candidates.filter(
    (metadata) =>
      isVisible(metadata, caller) && lookups.some((lookup) => matchesLookup(metadata, lookup)),
  )
}

function readLookup(filter: sheets_v4.Schema$DataFilter): sheets_v4.Schema$DeveloperMetadataLookup {
  const lookup = filter.developerMetadataLookup
  if (!lookup) {
    throw invalidArgument('The emulator finds developer metadata by developerMetadataLookup only.')
  }
  return lookup
}

/** Characters used in the pool that a place belongs to: the spreadsheet's or a sheet's. */
export function poolCharacters(spreadsheet: SpreadsheetState, place: MetadataPlace): number {
  const pool = poolOf(place)
  let characters = 0
  for (const metadata of spreadsheet.metadata.values()) {
    if (poolOf(metadata.place) === pool) {
      characters += metadata.key.length + (metadata.value ?? '').length
    }
  }
  return characters
}

function poolOf(place: MetadataPlace): number | undefined {
  return place.kind === 'spreadsheet' ? undefined : place.sheetId
}

/** What sits on a deleted sheet goes with it. */
export function dropSheetMetadata(
  tx: Transaction,
  spreadsheet: SpreadsheetState,
  sheetId: number,
): void {
  for (const { id, place } of [...spreadsheet.metadata.values()]) {
    if (poolOf(place) === sheetId) tx.mapDelete(spreadsheet.metadata, id)
  }
}

/** Metadata of rows and columns moves with them and goes when they are deleted. */
export function shiftMetadata(
  tx: Transaction,
  spreadsheet: SpreadsheetState,
  sheetId: number,
  shift: Shift,
): void {
  for (const metadata of [...spreadsheet.metadata.values()]) {
    const { place } = metadata
    if (place.kind !== 'dimension' || place.sheetId !== sheetId) continue
    if (place.dimension !== shift.dimension) continue
    const startIndex = shiftIndex(place.startIndex, shift)
    if (startIndex === undefined) tx.mapDelete(spreadsheet.metadata, metadata.id)
    else if (startIndex !== place.startIndex) {
      tx.mapSet(spreadsheet.metadata, metadata.id, { ...metadata, place: { ...place, startIndex } })
    }
  }
}
