import { isRecord, parseJson } from '../../signup/json.ts'
import {
  type FileRecord,
  fromBytes,
  type ImportFile,
  notUtf8,
  recordBytesMax,
} from './file-record.ts'

/** A line that is too long to be kept has no text. */
interface RawLine {
  readonly text: string | undefined
  readonly end: number
}

/** Reads NDJSON: one JSON object a line. */
export function readNdjson(chunks: AsyncIterable<Buffer>): ImportFile {
  return { columns: undefined, cellNames: ['Line'], records: toRecords(splitLines(chunks)) }
}

async function* toRecords(lines: AsyncIterable<RawLine>): AsyncGenerator<FileRecord> {
  let row = 0
  for await (const { text: raw, end } of lines) {
    row += 1
    if (raw?.trim() === '') continue
    const text = fromBytes(raw ?? '')
    const values = raw === undefined ? tooLong : text === undefined ? notUtf8 : valuesOf(text)
    yield { row, end, cells: [text ?? raw ?? ''], values }
  }
}

function valuesOf(text: string): FileRecord['values'] {
  const parsed = parseJson(text)
  if ('problem' in parsed) return `The line ${parsed.problem}.`
  if (!isRecord(parsed.value))
    return 'The line must be a JSON object, such as {"email":"name@example.com"}.'
  // A new id is made for each signup.
  return Object.entries(parsed.value).filter(([name]) => name !== 'id')
}

const tooLong = `The line is too long: at most ${recordBytesMax / 1024} KiB.`

const lineFeed = 0x0a

/** Splits at line feeds. Keeps no more than one line of `recordBytesMax` in memory. */
async function* splitLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<RawLine> {
  let parts: string[] = []
  let length = 0
  let end = 0
  const take = (part: string) => {
    length += part.length
    if (length <= recordBytesMax) parts.push(part)
  }
  const line = (): RawLine => {
    const text = length <= recordBytesMax ? parts.join('') : undefined
    parts = []
    length = 0
    return { text, end }
  }
  for await (const chunk of chunks) {
    const begin = end
    let from = 0
    for (let at = chunk.indexOf(lineFeed); at >= 0; at = chunk.indexOf(lineFeed, from)) {
      take(chunk.toString('latin1', from, at))
      from = at + 1
      end = begin + from
      yield line()
    }
    take(chunk.toString('latin1', from))
    end = begin + chunk.length
  }
  if (length > 0) yield line()
}
