import { describe, expect, test } from 'vitest'
import { ourHeader } from '../header.ts'
import { csvRecord } from '../csv.ts'
import { countEarlierRows } from './missing-rows.ts'

const moment = Date.UTC(2026, 10, 20, 10)

function row(email: string, afterMs: number, name = ''): string[] {
  return [email, new Date(moment + afterMs).toISOString(), 'bulk', name, '', '', 'News']
}

const ours = [row('ada@example.org', 1, 'Ours'), row('ada@example.org', 0, 'Ours')]
const [later = '', sooner = ''] = ours.map(([email, time]) => `${email}\n${time}`)

/** What is counted in these rows, and how many bytes were read for it. */
async function counted(rows: readonly string[][], delimiter = ',', lineEnd = '\r\n') {
  const bytes = Buffer.from(rows.map((cells) => csvRecord(cells, delimiter) + lineEnd).join(''))
  let bytesRead = 0
  const file = { sizeBefore: bytes.length, header: ourHeader, delimiter }
  const counts = await countEarlierRows(ours, file, async (position, length) => {
    bytesRead += length
    return bytes.subarray(position, position + length)
  })
  return { counts, bytesRead, size: bytes.length }
}

describe('earlier rows that look like ours', () => {
  test.each([
    [',', '\r\n'],
    [';', '\n'],
    ['\t', '\r'],
  ])('are counted under the delimiter %j and the line end %j', async (delimiter, lineEnd) => {
    const rows = [row('x@example.org', -5), row('ada@example.org', 0), row('ada@example.org', 0)]
    const { counts } = await counted([...rows, row('ada@example.org', 1)], delimiter, lineEnd)
    expect(counts).toEqual({ [sooner]: 2, [later]: 1 })
  })

  test('are searched in the last few KB of a long file', async () => {
    const rows = Array.from({ length: 20_000 }, (_, index) => row(`${index}@example.org`, -20_000))
    const { counts, bytesRead, size } = await counted([...rows, row('ada@example.org', 0, 'é')])
    expect(counts).toEqual({ [sooner]: 1 })
    expect(bytesRead).toBeLessThanOrEqual(4096)
    expect(size).toBeGreaterThan(1_000_000)
  })

  test('are counted through all the rows of their moment', async () => {
    const rows = Array.from({ length: 3_000 }, () => row('ada@example.org', 0, 'Größe'))
    expect((await counted(rows)).counts).toEqual({ [sooner]: 3_000 })
    const after = [row('x@example.org', -1), ...rows]
    expect((await counted(after)).counts).toEqual({ [sooner]: 3_000 })
  })

  test('are found even if somebody has an old time as a name', async () => {
    const old = '2001-01-01T00:00:00.000Z'
    for (const name of [old, `x,${old},x`, `x;${old};x`, `"${old}"`]) {
      const rows = [row('ada@example.org', 0), row('eve@example.org', 1, name)]
      expect((await counted(rows)).counts, name).toEqual({ [sooner]: 1 })
    }
  })

  test('are found wherever the first read cuts a row that has an old time as a name', async () => {
    const old = '2001-01-01T00:00:00.000Z'
    const others = Array.from({ length: 50 }, () => row('eve@example.org', 1, old))
    for (let length = 0; length < 100; length += 1) {
      const last = row('eve@example.org', 1, 'x'.repeat(length))
      const { counts } = await counted([row('ada@example.org', 0), ...others, last])
      expect(counts).toEqual({ [sooner]: 1 })
    }
  })

  test('are found above an older row, where somebody has put them', async () => {
    const rows = [row('ada@example.org', 0), row('x@example.org', -5), row('ada@example.org', 1)]
    expect((await counted(rows)).counts).toEqual({ [sooner]: 1, [later]: 1 })
  })

  test('are searched in a few MB at most when no row has a time', async () => {
    const rows = Array.from({ length: 40_000 }, () => ['x'.repeat(200)])
    const { counts, bytesRead } = await counted([row('ada@example.org', 0), ...rows])
    expect(counts).toEqual({})
    expect(bytesRead).toBeLessThan(5_000_000)
  })
})
