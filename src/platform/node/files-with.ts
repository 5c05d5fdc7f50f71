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
    await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
    const buffer = Buffer.alloc(chunkBytes)
    let end = ''
    for (let position = 0; ;) {
      const { bytesRead } = await file.read(buffer, 0, chunkBytes, position)
      if (bytesRead === 0) return false
      const part = (end + buffer.toString('latin1', 0, bytesRead)).toLowerCase()
      if (part.includes(text)) return true
      end = part.slice(-text.length)
      position += bytesRead
    }
  } catch (error) {
    // The file has just gone, as the service's temporary files do.
    if (codeOf(error) === 'ENOENT') return false
    throw error
  }
}
