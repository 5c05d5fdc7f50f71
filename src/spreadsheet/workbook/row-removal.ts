import { constants } from 'node:fs'
import { type FileHandle, open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { codeOf, type DurableFiles } from '../../platform/node/durable-file.ts'
import { cellKey, cellsOf, delimiters } from '../csv.ts'
import type { Removed, RowToRemove } from '../spreadsheet.ts'
import { removeHalfWritten } from './whole-file.ts'
import { naming } from './failure.ts'
import { readJson, recordFolder } from './record.ts'

const chunkBytes = 1024 * 1024
/** Longer lines are not searched. A row of ours has up to 64 KiB. */
const lineBytesMax = 1024 * 1024

interface Wanted {
  readonly address: string
  readonly timestamp: string
}

/** A line of a file, with one character for each byte and without its line end. */
interface Line {
  readonly start: number
  readonly text: string
}

/**
 * Looks for rows in all CSV files of the workbook, and overwrites each in place with as many spaces and
 * delimiters, so that an empty row stays. No other byte of a file is written, and its size stays, so
 * a program that saves the file at the same time loses nothing.
 */
export async function removeRows(
  directory: string,
  files: DurableFiles,
  rows: readonly RowToRemove[],
): Promise<Removed> {
  const wanted = rows.map(({ email, receivedAt }) => ({
    address: email.toLowerCase(),
    timestamp: new Date(receivedAt).toISOString(),
  }))
  const standing = rows.map(() => 0)
  const others = rows.map(() => 0)
  await finishLast(directory, files)
  await removeHalfWritten(directory, files)
  const names = (await readdir(directory, { withFileTypes: true }))
    .filter((entry) => entry.isFile() && entry.name.toLowerCase().endsWith('.csv'))
    .map(({ name }) => name)
  for (const fileName of names) {
    const path = join(directory, fileName)
    await naming(directory, { tab: fileName, fileName }, async () => {
      for await (const line of linesOf(path)) {
        const found = lookInto(line, wanted)
        for (const index of found.others) others[index] = (others[index] ?? 0) + 1
        for (const index of found.rows) standing[index] = (standing[index] ?? 0) + 1
        if (found.rows.length > 0) await blank(directory, files, { fileName, ...line })
      }
    })
  }
  return { kind: 'removed', standing, others }
}

/** The indexes of the wanted rows that the line is, and of those that only share its address. */
function lookInto({ text }: Line, wanted: readonly Wanted[]) {
  const found = { rows: [] as number[], others: [] as number[] }
  if (!text.includes('@')) return found
  const lower = text.toLowerCase()
  for (const [index, { address, timestamp }] of wanted.entries()) {
    if (!lower.includes(address)) continue
    const readings = delimiters.map((delimiter) => cellsOf(text, delimiter).map(cellKey))
    const hasAddress = readings.filter((cells) =>
      cells.some((cell) => cell.trim().toLowerCase() === address),
    )
    if (hasAddress.length === 0) continue
    const isRow = hasAddress.some((cells) => cells.some((cell) => hasTimestamp(cell, timestamp)))
    found[isRow ? 'rows' : 'others'].push(index)
  }
  return found
}

/** Whether the cell is the timestamp, or metadata that took it in because there is no column for it. */
function hasTimestamp(cell: string, timestamp: string): boolean {
  return cell.trim() === timestamp || cell.includes(`":"${timestamp}"`)
}

/** A row that is being overwritten, as the workbook's record has it until that is done. */
const removalSchema = z.object({ fileName: z.string(), start: z.number(), text: z.string() })
type Removing = Readonly<z.infer<typeof removalSchema>>

function recordPath(directory: string): string {
  return join(recordFolder(directory), 'removal.json')
}

/** Does nothing when the row is not there any more. The next search shows whether it still is somewhere. */
async function blank(directory: string, files: DurableFiles, row: Removing): Promise<void> {
  const { fileName, start, text } = row
  const record = recordPath(directory)
  await files.replace(record, JSON.stringify(row))
  const [expected, empty] = [text, emptyRow(text)].map((line) => Buffer.from(line, 'latin1'))
  if (expected && empty) {
    await files.overwrite(join(directory, fileName), start, expected, empty)
  }
  await files.remove(record)
}

/** Finishes a row that a crash has left half overwritten, unless a person has changed the file since. */
async function finishLast(directory: string, files: DurableFiles): Promise<void> {
  const record = recordPath(directory)
  const row = await readJson(record, removalSchema)
  if (!row) return
  const path = join(directory, row.fileName)
  const empty = Buffer.from(emptyRow(row.text), 'latin1')
  const now = await bytesAt(path, row.start, empty.length)
  const was = Buffer.from(row.text, 'latin1')
  const isTorn = now?.every((byte, at) => byte === was[at] || byte === empty[at])
  if (now && isTorn) await files.overwrite(path, row.start, now, empty)
  await files.remove(record)
}

function emptyRow(text: string): string {
  const counts = delimiters.map((delimiter) => ({
    delimiter,
    count: cellsOf(text, delimiter).length - 1,
  }))
  const { delimiter, count } = counts.reduce((most, one) => (one.count > most.count ? one : most))
  return delimiter.repeat(count).padStart(text.length, ' ')
}

async function bytesAt(path: string, start: number, length: number): Promise<Buffer | undefined> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, start)
    return bytesRead === length ? buffer : undefined
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

async function* linesOf(path: string): AsyncGenerator<Line> {
  await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  let rest = ''
  let start = 0
  for await (const chunk of chunksOf(file)) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (line.length <= lineBytesMax) yield { start, text: line.replace(/\r$/, '') }
      start += line.length + 1
    }
    if (rest.length > lineBytesMax) {
      // Keeps the place, and the line's length over the limit.
      start += rest.length - lineBytesMax - 1
      rest = rest.slice(-lineBytesMax - 1)
    }
  }
  if (rest.length <= lineBytesMax) yield { start, text: rest.replace(/\r$/, '') }
}

async function* chunksOf(file: FileHandle): AsyncGenerator<string> {
  const buffer = Buffer.alloc(chunkBytes)
  for (let position = 0; ;) {
    const { bytesRead } = await file.read(buffer, 0, chunkBytes, position)
    if (bytesRead === 0) return
    yield buffer.toString('latin1', 0, bytesRead)
    position += bytesRead
  }
}
