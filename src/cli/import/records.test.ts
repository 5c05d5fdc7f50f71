import { expect, test } from 'vitest'
import { type FileRecord, type ImportFile, readCsv, readNdjson, recordBytesMax } from './records.ts'

/** The text in chunks of this size. */
async function* chunked(text: string | Buffer, size = 64 * 1024): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function all({ records }: ImportFile): Promise<FileRecord[]> {
  return Array.fromAsync(records)
}

const csv = (text: string | Buffer, size?: number) =>
  readCsv(chunked(text, size), Buffer.from(text).subarray(0, 1_000))
const ndjson = (text: string) => readNdjson(chunked(text))

test.each([1, 2, 3, 64 * 1024])('CSV in chunks of %d bytes has the same records', async (size) => {
  const text = 'Email;Näme\r\n"a ""b"";c";Ädä\r\n\r\n;;\r\nx;"two\nlines"\n"\'=1";y"z'
  const file = await csv(text, size)
  expect(file.names).toEqual(['Email', 'Näme'])
  const records = await all(file)
  expect(records.map(({ row, values }) => [row, values])).toEqual([
    [
      2,
      [
        ['Email', 'a "b";c'],
        ['Näme', 'Ädä'],
      ],
    ],
    [
      5,
      [
        ['Email', 'x'],
        ['Näme', 'two\nlines'],
      ],
    ],
    [
      6,
      [
        ['Email', '=1'],
        ['Näme', 'y"z'],
      ],
    ],
  ])
  expect(records.at(-1)?.end).toBe(Buffer.byteLength(text))
})

test('a row that is not UTF-8, or that has more cells than the header row, says so', async () => {
  const bytes = Buffer.from('Email,Name\nM\xfcller,x\nada,,more\nbob,,,\n', 'latin1')
  const records = await all(await csv(bytes))
  expect(records.map(({ values }) => (typeof values === 'string' ? values : 'read'))).toEqual([
    expect.stringContaining('not UTF-8'),
    expect.stringContaining('more cells than the header row'),
    'read',
  ])
})

test.each([
  ['an open quote', `Email\nada\n"${'x'.repeat(2 * recordBytesMax)}`, csv],
  ['cells without end', `Email\nada\n${','.repeat(2 * recordBytesMax)}`, csv],
  ['an open quote at the end', 'Email\nada\n"x', csv],
  ['a line of JSON without end', `\n{}\n"${'x'.repeat(2 * recordBytesMax)}"\n`, ndjson],
])('%s ends the reading after the rows before it', async (_, text, open) => {
  const { records } = await open(text)
  const read: number[] = []
  const reading = async () => {
    for await (const { row } of records) read.push(row)
  }
  await expect(reading()).rejects.toThrow('Row 3 does not end')
  expect(read).toEqual([2])
})

test.each([1, 7, 64 * 1024])('NDJSON in chunks of %d bytes has the same records', async (size) => {
  const text = '{"email":"ä","id":1}\r\n\n[1]\n{"x":'
  const records = await all(readNdjson(chunked(text, size)))
  expect(records.map(({ row, values }) => [row, values])).toEqual([
    [1, [['email', 'ä']]],
    [3, expect.stringContaining('must be a JSON object')],
    [4, expect.stringContaining('is not valid JSON')],
  ])
})

test('a line of NDJSON that is as long as it may be, with its end, is read', async () => {
  const line = `{"a":"${'x'.repeat(recordBytesMax - 9)}"}\n`
  const lines = await all(readNdjson(chunked(line)))
  expect(lines.map(({ values }) => typeof values)).toEqual(['object'])
})
