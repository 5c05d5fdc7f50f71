import { describe, expect, test } from 'vitest'
import { csvRecord } from './csv.ts'
import { missingRows } from './missing-rows.ts'

const ours = [
  ['ada@example.org', '2026-11-20T10:00:00.000Z', 'api', 'Ada, "A"', 'a, b', '{"k":"v"}', 'News'],
  ['=grace@example.org', '2026-11-20T10:00:00.000Z', 'api', '', '', '', 'News'],
  ['ada@example.org', '2026-11-20T10:00:00.001Z', 'api', '', '', '', 'News'],
]
const [ada, grace, adaAgain] = ours

function missingIn(...lines: string[]): Promise<string[][]> {
  async function* reader() {
    yield* lines
  }
  return missingRows(ours, reader())
}

describe('rows of ours in a file that a person has changed', () => {
  test('are found in any order, under any delimiter and quoting', async () => {
    for (const delimiter of [',', ';', '\t']) {
      const plain = ours.map((row) => csvRecord(row, delimiter))
      const quoted = ours.map((row) =>
        row.map((cell) => `"${cell.replace(/^=/, "'=").replaceAll('"', '""')}"`).join(delimiter),
      )
      expect(await missingIn('Email,Timestamp', ...plain.toReversed())).toEqual([])
      expect(await missingIn(...quoted)).toEqual([])
    }
  })

  test('are found with columns added in front and behind, and with other cells edited', async () => {
    const edited = ours.map(([email = '', time = '']) =>
      csvRecord(['done', email, time, 'x', 'corrected', 'x', 'x', 'News', 'a note']),
    )
    expect(await missingIn('\ufeff"broken quote,', ...edited)).toEqual([])
  })

  test('that are not there are missing, in their order', async () => {
    expect(await missingIn()).toEqual(ours)
    expect(await missingIn(csvRecord(grace ?? []))).toEqual([ada, adaAgain])
  })

  test('that a crash cut short count as missing, filled up with empty cells or not', async () => {
    const line = csvRecord(adaAgain ?? [])
    for (let length = 0; length < line.length; length += 1) {
      const cut = line.slice(0, length)
      expect(await missingIn(cut, `${cut},,,`, `${cut},,,,,,`)).toEqual(ours)
    }
  })

  test('that agree in everything have to be there as often', async () => {
    async function* reader() {
      yield csvRecord(ada ?? [])
    }
    expect(await missingRows([ada ?? [], ada ?? []], reader())).toEqual([ada])
  })

  test('are not mistaken for the text of somebody else’s cell', async () => {
    const [email = '', time = ''] = ada ?? []
    const forged = `x,${email},${time},x,x,x,x,News`
    expect(
      await missingIn(csvRecord(['eve@example.org', time, 'api', forged, '', '', 'News'])),
    ).toEqual(ours)
  })
})
