/**
 * What the texts of a refused batchUpdate say beyond their status. Google has no codes for these;
 * the texts are quoted from recorded answers.
 */

/** The marker's id exists: this batch was applied before, or the id is somebody else's. */
export function isAlreadyThere(message: string, marker: number): boolean {
  return (
    message.includes('createDeveloperMetadata') &&
    message.includes(`ID [${marker}]`) &&
    message.includes('already exists')
  )
}

/** A person renamed, added, deleted or narrowed a sheet since we looked. */
export function isStaleLayout(message: string): boolean {
  return (
    /No (grid|sheet|table) with id/i.test(message) ||
    /A sheet with the name ".*" already exists/s.test(message) ||
    message.includes('exceeds grid limits')
  )
}

/**
 * A range that should come with the answer is not there any more. Whether the requests were applied all
 * the same is not documented.
 */
export function isAboutRanges(message: string): boolean {
  return /^(Unable to parse range|Range \(.*exceeds grid limits)/s.test(message)
}

/** The index in `Invalid requests[3].appendCells: …`. */
export function requestIndex(message: string): number | undefined {
  const match = /^Invalid requests\[(\d+)\]/.exec(message)
  return match ? Number(match[1]) : undefined
}
