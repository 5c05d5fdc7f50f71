import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { type RefusalReason, refusalWords } from '../../signup/trouble.ts'
import type { Refused, NamedTab, Retryable } from '../spreadsheet.ts'
import { codeOf } from '../../platform/node/durable-file.ts'
import { RecordDamaged } from './record.ts'

/** A file system error that concerns the file of one tab. */
class TabFailure extends Error {
  override readonly name = 'TabFailure'
  readonly tab: NamedTab

  constructor(tab: NamedTab, cause: unknown) {
    super(`Writing ${tab.place} failed.`, { cause })
    this.tab = tab
  }
}

/** Runs an action, and adds the tab to a file system error. */
export async function naming<T>(
  directory: string,
  { tab, fileName }: { readonly tab: string; readonly fileName: string },
  action: () => Promise<T>,
): Promise<T> {
  try {
    return await action()
  } catch (cause) {
    if (codeOf(cause) === undefined) throw cause
    throw new TabFailure({ name: tab, place: await whereIs(directory, fileName) }, cause)
  }
}

/** Describes a file without its name, which may come from a visitor. */
export async function whereIs(directory: string, fileName: string): Promise<string> {
  try {
    const { ino } = await lstat(join(directory, fileName), { bigint: true })
    return `the file with inode ${ino}`
  } catch (error) {
    if (codeOf(error) === undefined) throw error
    return 'a file that cannot be looked at'
  }
}

const access = 'Give the user that runs Rollcall the right to write here'
const lock = 'Close the program that has the file open or locks it'
const space = 'Free some space'

interface FileProblem {
  readonly why: string
  readonly hint: string
  /** Whether the error may concern one file only. */
  readonly isOneFile: boolean
  /** The reason when the error concerns the whole workbook; `folder` by default. */
  readonly reason?: RefusalReason
}

/** What is wrong and what to do, by the code of the file system error. */
const problems: Readonly<Record<string, FileProblem>> = {
  EACCES: { why: 'permission denied', hint: access, isOneFile: true },
  EPERM: { why: 'operation not permitted', hint: access, isOneFile: true },
  EBUSY: { why: 'it is locked', hint: lock, isOneFile: true },
  ETXTBSY: { why: 'it is locked', hint: lock, isOneFile: true },
  ELOOP: {
    why: 'it is a symbolic link',
    hint: 'Replace the link with the file itself, because Rollcall never writes through a link',
    isOneFile: true,
  },
  EISDIR: {
    why: 'it is not a file',
    hint: 'Move it away, so that Rollcall can make a plain file of this name',
    isOneFile: true,
  },
  EFBIG: {
    why: 'it is too large',
    hint: 'Move the file away. Rollcall then makes a new one for the tab',
    isOneFile: true,
  },
  ENOSPC: { why: 'the disk is full', hint: space, isOneFile: false, reason: 'diskFull' },
  EDQUOT: { why: 'the disk quota is used up', hint: space, isOneFile: false, reason: 'diskFull' },
  EROFS: {
    why: 'the file system is read-only',
    hint: 'Mount it for writing, or set DATA_DIR to another folder',
    isOneFile: false,
  },
  ENOTDIR: {
    why: 'a file stands where a folder should be',
    hint: 'Move that file away, or set DATA_DIR to another folder',
    isOneFile: false,
  },
  EIO: {
    why: 'the disk reports an error',
    hint: 'Check the disk',
    isOneFile: false,
    reason: 'disk',
  },
}

/**
 * The outcome of an attempt that failed with a file system error and applied nothing. Rethrows any
 * other error, because it is a mistake of ours.
 */
export function failureOf(error: unknown, directory: string): Refused | Retryable {
  if (error instanceof RecordDamaged) {
    return {
      kind: 'refused',
      reason: 'record',
      message: refusalWords.record,
      hint: `${error.message} Restore it from a backup. Without a backup, compare the end of each tab file with the signups in the journal, and then delete it.`,
      cause: error,
    }
  }
  const code = codeOf(error instanceof TabFailure ? error.cause : error)
  if (code === undefined) throw error

  const problem = problems[code]
  const ofOneFile = error instanceof TabFailure && problem?.isOneFile ? error : undefined
  const subject = ofOneFile ? 'The file of a tab' : 'The workbook'
  const message = `${subject} cannot be written: ${problem?.why ?? 'the file system failed'} (${code})`
  if (!problem) return { kind: 'retryable', message, cause: error }
  return {
    kind: 'refused',
    ...(ofOneFile
      ? { reason: 'tabFile', tab: ofOneFile.tab }
      : { reason: problem.reason ?? 'folder' }),
    message,
    hint: `${problem.hint}. The folder is ${directory}${ofOneFile ? '; ls -i there shows which file it is' : ''}`,
    cause: error,
  }
}
