import type { Refused, Retryable } from '../spreadsheet.ts'
import { codeOf } from '../../platform/durable-file.ts'
import { RecordDamaged } from './record.ts'

/** The file system said no to something that concerns the file of one tab. */
class TabFailure extends Error {
  override readonly name = 'TabFailure'
  readonly tab: string
  readonly fileName: string

  constructor(tab: string, fileName: string, cause: unknown) {
    super(`Writing ${fileName} failed.`, { cause })
    this.tab = tab
    this.fileName = fileName
  }
}

/** Says with a failure of the file system which tab's file it was. */
export async function naming<T>(
  { tab, fileName }: { readonly tab: string; readonly fileName: string },
  action: () => Promise<T>,
): Promise<T> {
  try {
    return await action()
  } catch (cause) {
    throw codeOf(cause) === undefined ? cause : new TabFailure(tab, fileName, cause)
  }
}

const access = 'Give the user that the service runs as the right to write here'
const lock = 'Close the program that has the file open, or end whatever locks it'

/** By the code of the file system's error: what is wrong, what to do, and whether it is one file's. */
const problems: Readonly<Record<string, { why: string; hint: string; isOneFile: boolean }>> = {
  EACCES: { why: 'permission denied', hint: access, isOneFile: true },
  EPERM: { why: 'operation not permitted', hint: access, isOneFile: true },
  EBUSY: { why: 'it is locked', hint: lock, isOneFile: true },
  ETXTBSY: { why: 'it is locked', hint: lock, isOneFile: true },
  ELOOP: {
    why: 'it is a symbolic link',
    hint: 'Replace the link with the file itself: rows are never written through a link',
    isOneFile: true,
  },
  EISDIR: {
    why: 'it is not a file',
    hint: 'Move what has this name away: the rows of the tab need a plain file',
    isOneFile: true,
  },
  EFBIG: {
    why: 'it is too large',
    hint: 'Move the file away: the tab goes on in a new one',
    isOneFile: true,
  },
  ENOSPC: { why: 'the disk is full', hint: 'Free some space', isOneFile: false },
  EDQUOT: { why: 'the disk quota is used up', hint: 'Free some space', isOneFile: false },
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
  EIO: { why: 'the disk reports an error', hint: 'Check the disk', isOneFile: false },
}

/**
 * What an error of the file system means for the attempt, which applied nothing. Throws what is no
 * such error: a mistake of ours. The message names no folder, for visitors may get to see it.
 */
export function failureOf(error: unknown, directory: string): Refused | Retryable {
  if (error instanceof RecordDamaged) {
    return {
      kind: 'refused',
      message: "The workbook's own record is damaged",
      hint: `${error.message} Put it back from a copy. Without one, compare the end of each tab file with the signups, then delete it.`,
      cause: error,
    }
  }
  const code = codeOf(error instanceof TabFailure ? error.cause : error)
  if (code === undefined) throw error

  const problem = problems[code]
  const ofOneFile = error instanceof TabFailure && problem?.isOneFile ? error : undefined
  const subject = ofOneFile ? `${ofOneFile.fileName} in the workbook` : 'The workbook'
  const message = `${subject} cannot be written: ${problem?.why ?? 'the file system failed'} (${code})`
  if (!problem) return { kind: 'retryable', message, cause: error }
  return {
    kind: 'refused',
    ...(ofOneFile ? { tab: ofOneFile.tab } : {}),
    message,
    hint: `${problem.hint}. The folder is ${directory}`,
    cause: error,
  }
}
