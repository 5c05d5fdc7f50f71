/**
 * Recognises errors of a batchUpdate by their text, because Google has no codes for them. The texts come
 * from recorded answers.
 */

/** Whether the marker's id exists: the batch was applied before, or somebody else uses the id. */
export function isAlreadyThere(message: string, marker: number): boolean {
  return (
    message.includes('createDeveloperMetadata') &&
    message.includes(`ID [${marker}]`) &&
    message.includes('already exists')
  )
}

/** Whether a person renamed, added, deleted or narrowed a sheet since we read the layout. */
export function isStaleLayout(message: string): boolean {
  return (
    /No (grid|sheet|table) with id/i.test(message) ||
    /A sheet with the name ".*" already exists/s.test(message) ||
    message.includes('exceeds grid limits')
  )
}

/**
 * Whether a requested range of the answer no longer exists. Google does not document whether the
 * requests were applied anyway.
 */
export function isAboutRanges(message: string): boolean {
  return /^(Unable to parse range|Range \(.*exceeds grid limits)/s.test(message)
}

/** The index of the request that an error is about, such as 3 in `Invalid requests[3].appendCells: …`. */
export function requestIndex(message: string): number | undefined {
  const match = /^Invalid requests\[(\d+)\]/.exec(message)
  return match ? Number(match[1]) : undefined
}
