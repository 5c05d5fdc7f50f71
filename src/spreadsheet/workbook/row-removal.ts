import { constants } from 'node:fs'
import { type FileHandle, lstat, open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { ifExists } from '../../platform/node/durable-file.ts'
import { cellsOf, delimiters, readCell, recordEnd } from '../csv.ts'
import type { Removed, RowToRemove } from '../spreadsheet.ts'
import { WantedRows } from '../wanted-rows.ts'
import { naming } from './failure.ts'
import { type Folder, removeHalfWritten, replaceWhole } from './whole-file.ts'

const chunkBytes = 1024 * 1024
/** Longer lines are not searched. A row of ours has up to 64 KiB. */
const lineBytesMax = 1024 * 1024
/** A record of more lines is searched line by line. */
const linesMax = 100

/** A line or record of a file: where it begins and where the next one does, and its text and line end, with one character for each byte. */
interface Line {
  readonly start: number
  readonly end: number
  readonly text: string
}

/**
 * Looks for rows in all CSV files of the workbook. A file that has some is replaced by one without their
 * lines, in one step, unless somebody has changed it meanwhile: then the next search finds them again.
 */
export async function removeRows(folder: Folder, rows: readonly RowToRemove[]): Promise<Removed> {
  const { directory } = folder
  const wanted = new WantedRows(rows)
  await removeHalfWritten(folder)
  const names = (await readdir(directory, { withFileTypes: true }))
    .filter((entry) => entry.isFile() && entry.name.toLowerCase().endsWith('.csv'))
    .map(({ name }) => name)
  for (const fileName of names) {
    const path = join(directory, fileName)
    await naming(directory, { tab: fileName, fileName }, async () => {
      const before = await ifExists(lstat(path))
      const lines: Line[] = []
      for await (const line of recordsOf(path)) {
        if (isWanted(line, wanted)) lines.push(line)
      }
      if (lines.length === 0 || !before) return
      await replaceWhole(folder, path, without(path, lines), before)
    })
  }
  const { standing, others } = wanted
  return { kind: 'removed', standing, others }
}

/** Whether the line is one of the rows to remove, with whatever delimiter. */
function isWanted({ text: withEnd }: Line, wanted: WantedRows): boolean {
  const text = withEnd.replace(/\r?\n$|\r$/, '')
  if (!text.includes('@')) return false
  const lower = text.toLowerCase()
  const found = wanted.count((address) => {
    if (!lower.includes(address)) return []
    return delimiters.flatMap((delimiter) => {
      const cells = cellsOf(text, delimiter)
      return cells.some((cell) => isAddress(cell, delimiter, address)) ? [cells] : []
    })
  })
  return found !== undefined
}

/**
 * Whether the cell has this address, as we write it or without the apostrophe in front of a formula sign, which
 * a person may have taken off. Another person's address may differ in apostrophes only.
 */
function isAddress(cell: string, delimiter: string, address: string): boolean {
  const asRead = readCell(cell, delimiter).trim().toLowerCase()
  return asRead === address || (!address.startsWith("'") && cell.trim().toLowerCase() === address)
}

/** The bytes of the file, except those of these lines. */
async function* without(path: string, lines: readonly Line[]): AsyncGenerator<Buffer> {
  await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  let position = 0
  for (const { start, end } of [...lines, { start: Infinity, end: Infinity }]) {
    yield* chunksOf(file, position, start)
    position = end
  }
}

/** The records of the file: lines, and several lines together where a quoted cell has line ends in it. */
async function* recordsOf(path: string): AsyncGenerator<Line> {
  let lines: Line[] = []
  let readings: readonly string[] = delimiters
  for await (const line of linesOf(path)) {
    // A line between them was too long.
    if (lines.at(-1)?.end !== line.start) {
      yield* lines.splice(0)
      readings = delimiters
    }
    if (lines.length === 0 && !line.text.includes('"')) {
      yield line
      continue
    }
    lines.push(line)
    const text = lines.map((it) => it.text).join('')
    const ends = Map.groupBy(readings, (delimiter) => recordEnd(text, delimiter))
    const open = ends.get('in a cell')
    const isWhole = lines.length === 1 ? !open : ends.has('whole')
    if (!isWhole && open && lines.length < linesMax && text.length <= lineBytesMax) {
      readings = open
      continue
    }
    const [{ start } = line] = lines
    // A quote that nothing closes begins no cell.
    if (isWhole) yield { start, end: line.end, text }
    else yield* lines
    lines = []
    readings = delimiters
  }
  yield* lines
}

/** The lines of the file, with their line ends: those of Unix, Windows and old Macs. */
async function* linesOf(path: string): AsyncGenerator<Line> {
  await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  let rest = ''
  let start = 0
  const lineOf = (text: string): Line => ({ start, end: start + text.length, text })
  for await (const chunk of chunksOf(file)) {
    const lines = (rest + chunk.toString('latin1')).match(/[^\r\n]*(?:\r\n?|\n)|[^\r\n]+$/g) ?? []
    // It may go on, if only with a line feed.
    rest = lines.pop() ?? ''
    for (const text of lines) {
      if (text.length <= lineBytesMax) yield lineOf(text)
      start += text.length
    }
    if (rest.length > lineBytesMax) {
      // Keeps the place, and the line's length over the limit.
      start += rest.length - lineBytesMax - 1
      rest = rest.slice(-lineBytesMax - 1)
    }
  }
  if (rest.length <= lineBytesMax) yield lineOf(rest)
}

/** The bytes of the file from `from` up to `to`. */
async function* chunksOf(file: FileHandle, from = 0, to = Infinity): AsyncGenerator<Buffer> {
  for (let position = from; position < to;) {
    const length = Math.min(chunkBytes, to - position)
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position)
    if (bytesRead === 0) return
    yield buffer.subarray(0, bytesRead)
    position += bytesRead
  }
}
