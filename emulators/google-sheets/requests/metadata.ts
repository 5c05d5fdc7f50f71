import { invalidArgument } from '../api-error.ts'
import { handler, randomId, sheetById, updateMask, type Batch } from '../batch.ts'
import { below } from '../field-mask.ts'
import { findMetadata, poolCharacters, readPlace, renderMetadata } from '../metadata.ts'
import { developerMetadata } from '../schema-types.ts'
import type { MetadataPlace, StoredMetadata } from '../state.ts'

/** An id in use is refused, which takes the whole batch with it. */
const createDeveloperMetadata = handler('createDeveloperMetadata', (batch, request) => {
  const { spreadsheet, tx, options, caller } = batch
  const given = request.developerMetadata ?? {}
  const { metadataId, metadataKey, metadataValue, visibility } = given
  if (typeof metadataId === 'number' && metadataId <= 0) {
    throw invalidArgument(`Developer metadata ID [${metadataId}] must be positive.`)
  }
  if (!metadataKey) throw invalidArgument('Developer metadata must have a metadataKey.')
  if (visibility !== 'DOCUMENT' && visibility !== 'PROJECT') {
    throw invalidArgument('Developer metadata must have a visibility.')
  }
  const place = existingPlace(batch, readPlace(given.location))
  const id = metadataId ?? freeMetadataId(batch)
  if (spreadsheet.metadata.has(id)) {
    throw invalidArgument(
      `Cannot add developer metadata with ID [${id}] because developer metadata with that ID already exists.`,
    )
  }
  const created: StoredMetadata = {
    id,
    key: metadataKey,
    value: metadataValue ?? undefined,
    visibility,
    place,
    project: caller.project,
    copied: false,
  }
  tx.mapSet(spreadsheet.metadata, id, created)
  assertPoolFits(batch, place, options.metadataCharactersMax)
  return { createDeveloperMetadata: { developerMetadata: renderMetadata(created) } }
})

const updateDeveloperMetadata = handler('updateDeveloperMetadata', (batch, request) => {
  const { spreadsheet, tx, options } = batch
  const mask = updateMask(request.fields, developerMetadata)
  const given = request.developerMetadata ?? {}
  const found = findMetadata(spreadsheet, request.dataFilters ?? [], batch.caller)
  assertFound(batch, found)
  const updated = found.map((metadata) => {
    if (metadata.copied && options.copiedMetadata === 'frozen') return metadata
    const changed: StoredMetadata = {
      ...metadata,
      ...(below(mask, 'metadataKey') && given.metadataKey ? { key: given.metadataKey } : {}),
      ...(below(mask, 'metadataValue') ? { value: given.metadataValue ?? undefined } : {}),
      ...(below(mask, 'visibility') && given.visibility === 'DOCUMENT'
        ? { visibility: given.visibility }
        : {}),
      ...(below(mask, 'location') && given.location
        ? { place: existingPlace(batch, readPlace(given.location)) }
        : {}),
    }
    tx.mapSet(spreadsheet.metadata, metadata.id, changed)
    assertPoolFits(batch, changed.place, options.metadataCharactersMax)
    return changed
  })
  if (updated.length === 0) return { updateDeveloperMetadata: {} }
  return { updateDeveloperMetadata: { developerMetadata: updated.map(renderMetadata) } }
})

const deleteDeveloperMetadata = handler('deleteDeveloperMetadata', (batch, request) => {
  const { spreadsheet, tx, caller } = batch
  const found = findMetadata(spreadsheet, [request.dataFilter ?? {}], caller)
  assertFound(batch, found)
  for (const { id } of found) tx.mapDelete(spreadsheet.metadata, id)
  if (found.length === 0) return { deleteDeveloperMetadata: {} }
  return { deleteDeveloperMetadata: { deletedDeveloperMetadata: found.map(renderMetadata) } }
})

export const metadataRequests = [
  createDeveloperMetadata,
  updateDeveloperMetadata,
  deleteDeveloperMetadata,
]

/** What Google does here is not known: both ways can be switched on. */
function assertFound({ options }: Batch, found: readonly StoredMetadata[]): void {
  if (found.length === 0 && options.metadataNoMatch === 'fail') {
    throw invalidArgument('No developer metadata matches the data filter.')
  }
}

function existingPlace(batch: Batch, place: MetadataPlace): MetadataPlace {
  if (place.kind !== 'spreadsheet') sheetById(batch, place.sheetId, 'sheet')
  return place
}

function freeMetadataId({ spreadsheet, options }: Batch): number {
  let id = randomId(options)
  while (spreadsheet.metadata.has(id)) id = randomId(options)
  return id
}

/** The limit is documented, the words of its error are not: these are the emulator's. */
function assertPoolFits(batch: Batch, place: MetadataPlace, charactersMax: number): void {
  const characters = poolCharacters(batch.spreadsheet, place)
  if (characters <= charactersMax) return
  throw invalidArgument(
    `The developer metadata would take ${characters} characters, above the limit of ${charactersMax}.`,
  )
}
