import { readFileSync } from 'node:fs'
import { codeOf } from './durable-file.ts'

/** The text of a small file; undefined when there is none. */
export function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}
