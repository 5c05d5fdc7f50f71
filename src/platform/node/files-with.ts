import { constants } from 'node:fs'
import { open, readdir } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { codeOf } from './durable-file.ts'

const chunkBytes = 1024 * 1024

/** The files in a folder and below, by their paths in it, that have this ASCII text in any letter case. */
export async function filesWith(folder: string, text: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const found: string[] = []
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isFile() && (await hasText(path, text.toLowerCase()))) {
      found.push(relative(folder, path))
    }
  }
  return found.sort()
}

async function hasText(path: string, text: string): Promise<boolean> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
    const options = { encoding: 'latin1', highWaterMark: chunkBytes } as const
    let end = ''
    for await (const chunk of file.createReadStream(options)) {
      const part = (end + String(chunk)).toLowerCase()
      if (part.includes(text)) return true
      end = part.slice(-text.length)
    }
    return false
  } catch (error) {
    // The file has just gone, as the service's temporary files do.
    if (codeOf(error) === 'ENOENT') return false
    throw error
  }
}
