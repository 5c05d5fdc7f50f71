import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { type RefusalReason, refusalWords } from '../../signup/trouble.ts'
import type { Refused, NamedTab, Retryable } from '../spreadsheet.ts'
import { codeOf } from '../../platform/node/durable-file.ts'
import { RecordDamaged, recordFolder } from './record.ts'

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

/** A problem that may concern one file only. */
const ofFile = (why: string, hint: string) => {
  return { why, hint, reason: 'folder' as RefusalReason, isOneFile: true }
}

/** @param reason when the error concerns the whole workbook */
const ofAll = (why: string, hint: string, reason: RefusalReason = 'folder') => {
  return { why, hint, reason, isOneFile: false }
}

const access = 'Give the user that runs Rollcall the right to write here'
const locked = ofFile('it is locked', 'Close the program that has the file open or locks it')
const space = 'Free some space'
const moveAway = 'Move that file away, or set DATA_DIR to another folder'

/** What is wrong and what to do, by the code of the file system error. */
const problems: Readonly<Record<string, ReturnType<typeof ofFile>>> = {
  EACCES: ofFile('permission denied', access),
  EPERM: ofFile('operation not permitted', access),
  EBUSY: locked,
  ETXTBSY: locked,
  ELOOP: ofFile(
    'it is a symbolic link',
    'Replace the link with the file itself, because Rollcall never writes through a link',
  ),
  EISDIR: ofFile(
    'it is not a file',
    'Move it away, so that Rollcall can make a plain file of this name',
  ),
  EFBIG: ofFile('it is too large', 'Move the file away. Rollcall then makes a new one for the tab'),
  ENOSPC: ofAll('the disk is full', space, 'diskFull'),
  EDQUOT: ofAll('the disk quota is used up', space, 'diskFull'),
  EROFS: ofAll(
    'the file system is read-only',
    'Mount it for writing, or set DATA_DIR to another folder',
  ),
  ENOTDIR: ofAll('a file stands where a folder should be', moveAway),
  EIO: ofAll('the disk reports an error', 'Check the disk', 'disk'),
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
  const folder = `The folder is ${directory}`
  const place = ofOneFile
    ? `${folder}; ls -i there shows which file it is`
    : (ownFile(error, directory) ?? folder)
  const message = `${subject} cannot be written: ${problem?.why ?? 'the file system failed'} (${code})`
  if (!problem) return { kind: 'retryable', message, cause: error }
  return {
    kind: 'refused',
    ...(ofOneFile ? { reason: 'tabFile', tab: ofOneFile.tab } : { reason: problem.reason }),
    message,
    hint: `${problem.hint}. ${place}`,
    cause: error,
  }
}

/** Which file of the record it is about. The name of any other file may come from a visitor. */
function ownFile(error: unknown, directory: string): string | undefined {
  const path = error instanceof Error && 'path' in error ? String(error.path) : ''
  return path.startsWith(recordFolder(directory)) ? `The file is ${path}` : undefined
}
