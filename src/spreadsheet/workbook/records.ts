import type { FileHandle } from 'node:fs/promises'
import { delimiters, recordEnd, withoutLineEnd } from '../csv.ts'

/** So much that its rows are searched in a moment. */
const chunkBytes = 64 * 1024
/** Longer lines are not searched. A row of ours has up to 64 KiB. */
const lineBytesMax = 1024 * 1024
/** A record of more lines is searched line by line. */
const linesMax = 100

/** A line or record of a file: where it begins and where the next one does, and its text and line end, with one character for each byte. */
export interface Line {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** What a line or record has in it, without its line end. */
export function textOf({ text }: Line): string {
  return Buffer.from(withoutLineEnd(text), 'latin1').toString('utf8')
}

/** The texts of the records of the file. */
export async function* textsOf(file: FileHandle): AsyncGenerator<string> {
  for await (const line of recordsOf(file)) yield textOf(line)
}

/** The records of the file: lines, and several lines together where a quoted cell has line ends in it. */
export async function* recordsOf(file: FileHandle): AsyncGenerator<Line> {
  let lines: Line[] = []
  /** The delimiters under which the last cell of these lines goes on. */
  let open: readonly string[] = []
  for await (const line of linesOf(file)) {
    // A line between them was too long.
    if (lines.at(-1)?.end !== line.start) yield* lines.splice(0)
    if (lines.length === 0) {
      const mayOpen = line.text.includes('"') ? delimiters : []
      open = mayOpen.filter((delimiter) => recordEnd(line.text, delimiter) === 'in a cell')
      if (open.length === 0) yield line
      else lines.push(line)
      continue
    }
    lines.push(line)
    const [{ start } = line] = lines
    const text = lines.map((it) => it.text).join('')
    const ends = Map.groupBy(open, (delimiter) => recordEnd(text, delimiter))
    open = ends.get('in a cell') ?? []
    if (ends.has('whole')) yield { start, end: line.end, text }
    else if (open.length > 0 && lines.length < linesMax && text.length <= lineBytesMax) continue
    // A quote that nothing closes begins no cell.
    else yield* lines
    lines = []
  }
  yield* lines
}

/** The lines of the file, with their line ends: those of Unix, Windows and old Macs. */
async function* linesOf(file: FileHandle): AsyncGenerator<Line> {
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
export async function* chunksOf(file: FileHandle, from = 0, to = Infinity): AsyncGenerator<Buffer> {
  for (let position = from; position < to;) {
    const length = Math.min(chunkBytes, to - position)
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position)
    if (bytesRead === 0) return
    yield buffer.subarray(0, bytesRead)
    position += bytesRead
  }
}
