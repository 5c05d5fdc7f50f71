import { resolve } from 'node:path'
import type { ParsedSetting } from './refusal.ts'
import { filePath } from './values.ts'

/** Reads files for `config/`, which does not use the file system itself. */
export interface Files {
  /** The absolute path of the folder where relative paths begin. */
  readonly folder: string
  /** The content of a file in UTF-8. Throws what `node:fs` throws, and `EFBIG` for a file over 1 MiB. */
  readonly readText: (path: string) => string
}

/** Reads the file at a path that a setting has, and parses it. Relative paths begin at the working folder. */
export function parseFileAt<T>(
  files: Files,
  path: string,
  expected: string,
  parse: (content: string) => ParsedSetting<T>,
): ParsedSetting<T> {
  const usable = filePath(path)
  if (!('value' in usable)) return { ...usable, expected }
  let content: string
  try {
    content = files.readText(resolve(files.folder, path))
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
    const reason = code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`
    return {
      problem: `names a file that ${reason} (relative paths begin at ${files.folder}).`,
      expected,
      hint: 'Check that the path leads to a file of at most 1 MiB that the user who runs Rollcall may read. In a container, mount the file.',
    }
  }
  const parsed = parse(content)
  if ('value' in parsed) return parsed
  const problem = `names a file that cannot be used: it ${parsed.problem}`
  return { problem, expected, hint: parsed.hint }
}
