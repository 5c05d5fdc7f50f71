import { invalidArgument } from '../api-error.ts'
import { handler, randomId, sheetById, type Batch } from '../batch.ts'
import { findMetadata, poolCharacters, readPlace, renderMetadata } from '../metadata.ts'
import type { MetadataPlace, StoredMetadata } from '../state.ts'

/** Characters of all keys and values: of the spreadsheet, and of each sheet. */
const poolCharactersMax = 30_000

/** An id in use is refused, which takes the whole batch with it. */
const createDeveloperMetadata = handler('createDeveloperMetadata', (batch, request) => {
  const { spreadsheet, tx, caller } = batch
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
  }
  tx.mapSet(spreadsheet.metadata, id, created)
  assertPoolFits(batch, place)
  return { createDeveloperMetadata: { developerMetadata: renderMetadata(created) } }
})

const deleteDeveloperMetadata = handler('deleteDeveloperMetadata', (batch, request) => {
  const { spreadsheet, tx, caller } = batch
  const found = findMetadata(spreadsheet, [request.dataFilter ?? {}], caller)
  for (const { id } of found) tx.mapDelete(spreadsheet.metadata, id)
  if (found.length === 0) return { deleteDeveloperMetadata: {} }
  return { deleteDeveloperMetadata: { deletedDeveloperMetadata: found.map(renderMetadata) } }
})

export const metadataRequests = [createDeveloperMetadata, deleteDeveloperMetadata]

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
function assertPoolFits(batch: Batch, place: MetadataPlace): void {
  const characters = poolCharacters(batch.spreadsheet, place)
  if (characters <= poolCharactersMax) return
  throw invalidArgument(
    `The developer metadata would take ${characters} characters, above the limit of ${poolCharactersMax}.`,
  )
}
