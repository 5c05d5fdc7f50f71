import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { codeOf } from '../../platform/node/durable-file.ts'
import { fileProblem } from '../../platform/node/unusable-file.ts'
import { UsageError } from '../session.ts'
import { type ImportFile, UnreadableFile } from './file-record.ts'
import { readCsv, readNdjson } from './records.ts'

const headBytes = 64 * 1024

export interface OpenFile extends AsyncDisposable {
  readonly bytes: number
  readonly file: ImportFile
}

/** Opens a file to import. @throws UsageError when nothing of it can be imported */
export async function openImportFile(path: string): Promise<OpenFile> {
  await using opening = new AsyncDisposableStack()
  const handle = opening.use(await openRegular(path))
  const { size: bytes } = await handle.stat()
  const head = Buffer.alloc(Math.min(bytes, headBytes))
  await handle.read(head, 0, head.length, 0)
  const start = head.subarray(0, 3).equals(byteOrderMark) ? byteOrderMark.length : 0
  const text = head.subarray(start)
  assertText(text)
  const chunks: AsyncIterable<Buffer> = handle.createReadStream({ start, autoClose: false })
  const isNdjson = text.toString('latin1').trimStart().startsWith('{')
  const file = isNdjson ? readNdjson(chunks) : await readCsv(chunks, text).catch(asUsage)
  const open = opening.move()
  return { bytes, file, [Symbol.asyncDispose]: () => open.disposeAsync() }
}

/** A file that nothing can be read of is a wrong argument. */
function asUsage(error: unknown): never {
  if (!(error instanceof UnreadableFile)) throw error
  throw new UsageError(error.message, { cause: error })
}

const byteOrderMark = Buffer.from('\uFEFF')

async function openRegular(path: string): Promise<FileHandle> {
  try {
    // Opening a pipe would otherwise wait for somebody who writes into it.
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    if ((await file.stat()).isFile()) return file
    await file.close()
  } catch (cause) {
    const words = reasons[codeOf(cause) ?? ''] ?? `${fileProblem(cause)}. Check the disk.`
    throw new UsageError(`${path} cannot be read: ${words}`, { cause })
  }
  throw new UsageError(`${path} is not a file. Give a CSV or NDJSON file.`)
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file. Check its name.',
  ENOTDIR: 'there is no such file. Check its name.',
  EACCES: 'permission denied. Run the command as a user who may read it.',
}

/** Refuses what is no text in UTF-8 or in an encoding that is compatible with ASCII. */
function assertText(head: Buffer): void {
  const text = head.toString('latin1')
  if (text.startsWith('PK\u0003\u0004'))
    throw new UsageError(
      'The file is a workbook or an archive. Open it in its program, and save it as "CSV UTF-8".',
    )
  // In UTF-16, ASCII characters have a zero byte before or behind them.
  if (text.startsWith('\xff\xfe') || text.startsWith('\xfe\xff') || text.includes('\0'))
    throw new UsageError(
      'The file is in UTF-16, or is no text. Open it in its program, and save it as "CSV UTF-8".',
    )
  if (text.trimStart().startsWith('['))
    throw new UsageError('The file is a JSON list. Write one JSON object a line (NDJSON).')
}
