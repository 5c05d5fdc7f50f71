import { accessSync, closeSync, constants, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { codeOf } from './durable-file.ts'
import { messageOf } from '../message-of.ts'

const access = 'Give the user that runs Rollcall the right to write there'

/** What is wrong and what to do about it, by the code of the file system error. */
const problems: Readonly<Record<string, readonly [why: string, hint: string]>> = {
  EACCES: ['permission denied', access],
  EPERM: ['operation not permitted', access],
  EROFS: ['the file system is read-only', 'Mount it for writing'],
  ENOTDIR: ['a file stands where a folder should be', 'Move that file away'],
  EISDIR: ['a folder stands where a file should be', 'Move that folder away'],
  ENOENT: ['no folder can be made there', 'Check the path'],
  ENOSPC: ['the disk is full', 'Free some space'],
  EDQUOT: ['the disk quota is used up', 'Free some space'],
}

/** Why something in the data directory cannot be used and what to do about it, for people. */
export function whyUnusable(error: unknown): string {
  const code = codeOf(error) ?? ''
  const [why, hint] = problems[code] ?? []
  if (why !== undefined) return `${why} (${code}). ${hint}, or set DATA_DIR to another folder.`
  const message = messageOf(error)
  return `${message}. Check the disk, or set DATA_DIR to another folder.`
}

/**
 * The same for an SQLite database. SQLite does not tell why it cannot open a file, so this opens the
 * file itself to get the file system's reason.
 */
export function whyUnopened(file: string, error: unknown): string {
  try {
    closeSync(openSync(file, 'a+'))
    accessSync(dirname(file), constants.W_OK | constants.X_OK)
  } catch (reason) {
    return whyUnusable(reason)
  }
  return whyUnusable(error)
}
