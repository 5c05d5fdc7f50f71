import { resolve } from 'node:path'
import type { ParsedSetting } from './refusal.ts'

/** Reads files for `config/`, which does not use the file system itself. */
export interface Files {
  /** The absolute path of the folder where relative paths begin. */
  readonly folder: string
  /** The content of a file in UTF-8. Throws what `node:fs` throws, and `EFBIG` for a file over 1 MiB. */
  readonly readText: (path: string) => string
}

/** Reads the file that a setting names. Relative paths begin at the working folder. */
export function readFileAt(files: Files, path: string, expected: string): ParsedSetting<string> {
  try {
    return { value: files.readText(resolve(files.folder, path)) }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
    const reason = reasons[code] ?? `cannot be read (${code})`
    return {
      problem: `names a file that ${reason} (relative paths begin at ${files.folder}).`,
      expected,
      hint: 'Check the path, and that the user who runs Rollcall may read the file. In a container, mount the file.',
    }
  }
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  EACCES: 'may not be read',
  EISDIR: 'is a folder',
  EFBIG: 'is larger than 1 MiB',
}
