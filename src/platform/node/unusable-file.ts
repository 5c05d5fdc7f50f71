import { accessSync, closeSync, constants, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { codeOf } from './durable-file.ts'
import { messageOf } from '../message-of.ts'

/** What is wrong, by the code of the file system error. */
const problems: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'operation not permitted',
  EROFS: 'the file system is read-only',
  ENOTDIR: 'a file stands where a folder should be',
  EISDIR: 'a folder stands where a file should be',
  ENOENT: 'there is no such folder',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
}

/** Why a file or folder cannot be made or used, for people, without a full stop. */
export function fileProblem(error: unknown): string {
  const code = codeOf(error) ?? ''
  const problem = problems[code]
  return problem === undefined ? messageOf(error) : `${problem} (${code})`
}

/** Why something in the data directory cannot be used and what to do about it, for people. */
export function whyUnusable(error: unknown): string {
  return (
    `${fileProblem(error)}. Check the disk and the rights of the user that runs Rollcall, ` +
    'or set DATA_DIR to another folder.'
  )
}

/** The same for an SQLite database. Opens the file itself, because SQLite does not tell why it could not. */
export function whyUnopened(file: string, error: unknown): string {
  try {
    closeSync(openSync(file, 'a+'))
    accessSync(dirname(file), constants.W_OK | constants.X_OK)
  } catch (reason) {
    return whyUnusable(reason)
  }
  return whyUnusable(error)
}
