import { invalidArgument, notEmulated } from '../api-error.ts'
import { handler, randomId, type Batch } from '../batch.ts'
import { isMatch, renderMetadata } from '../metadata.ts'

/** Google's limit on the characters of all keys and values of a spreadsheet. */
const poolCharactersMax = 30_000

/** Google refuses an id that exists, and the whole batch with it. */
const createDeveloperMetadata = handler('createDeveloperMetadata', (batch, request) => {
  const { spreadsheet, tx } = batch
  const given = request.developerMetadata ?? {}
  const { metadataId, metadataKey, metadataValue, visibility } = given
  if (typeof metadataId === 'number' && metadataId <= 0) {
    throw invalidArgument(`Developer metadata ID [${metadataId}] must be positive.`)
  }
  if (!metadataKey) throw invalidArgument('Developer metadata must have a metadataKey.')
  if (visibility !== 'DOCUMENT') throw notEmulated('any visibility but DOCUMENT')
  if (!given.location?.spreadsheet) throw notEmulated('metadata of sheets, rows and columns')
  const id = metadataId ?? freeMetadataId(batch)
  if (spreadsheet.metadata.has(id)) {
    throw invalidArgument(
      `Cannot add developer metadata with ID [${id}] because developer metadata with that ID already exists.`,
    )
  }
  const created = { id, key: metadataKey, value: metadataValue ?? '' }
  tx.mapSet(spreadsheet.metadata, id, created)
  assertPoolFits(batch)
  return { createDeveloperMetadata: { developerMetadata: renderMetadata(created) } }
})

/** Deletes all that match. Succeeds when nothing does. */
const deleteDeveloperMetadata = handler('deleteDeveloperMetadata', (batch, request) => {
  const { metadata } = batch.spreadsheet
  const found = [...metadata.values()].filter((one) => isMatch(one, request.dataFilter))
  for (const { id } of found) batch.tx.mapDelete(metadata, id)
  if (found.length === 0) return { deleteDeveloperMetadata: {} }
  return { deleteDeveloperMetadata: { deletedDeveloperMetadata: found.map(renderMetadata) } }
})

export const metadataRequests = [createDeveloperMetadata, deleteDeveloperMetadata]

function freeMetadataId({ spreadsheet, options }: Batch): number {
  let id = randomId(options)
  while (spreadsheet.metadata.has(id)) id = randomId(options)
  return id
}

/** Google documents the limit but not the text of its error: this text is ours. */
function assertPoolFits({ spreadsheet }: Batch): void {
  let characters = 0
  for (const { key, value } of spreadsheet.metadata.values())
    characters += key.length + value.length
  if (characters <= poolCharactersMax) return
  throw invalidArgument(
    `The developer metadata would take ${characters} characters, above the limit of ${poolCharactersMax}.`,
  )
}
