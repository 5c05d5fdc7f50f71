import { resolve } from 'node:path'
import { Wrong, wrongOf } from './kind.ts'
import { filePath } from './values.ts'

/** Reads files for `config/`, which does not use the file system itself. */
export interface Files {
  /** The absolute path of the folder where relative paths begin. */
  readonly folder: string
  /** The content of a file in UTF-8. Throws what `node:fs` throws, and `EFBIG` for a file over 1 MiB. */
  readonly readText: (path: string) => string
}

/** Reads the file at a path that a setting has. Relative paths begin at the working folder. */
export function readFileAt<T>(
  files: Files,
  path: string,
  read: (content: string) => T | Wrong,
): T | Wrong {
  const wrong = wrongOf(filePath, path)
  if (wrong) return wrong
  let content: string
  try {
    content = files.readText(resolve(files.folder, path))
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
    const reason = code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`
    return new Wrong(
      `names a file that ${reason} (relative paths begin at ${files.folder}).`,
      'Check that the path leads to a file of at most 1 MiB that the user who runs Rollcall may read. In a container, mount the file.',
    )
  }
  const value = read(content)
  if (!(value instanceof Wrong)) return value
  return new Wrong(`names a file that cannot be used: it ${value.problem}`, value.hint)
}
