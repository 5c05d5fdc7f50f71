import { constants, type Stats } from 'node:fs'
import { lstat, open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { ifExists } from '../../platform/node/durable-file.ts'
import { cellsOf, delimiters, readCell } from '../csv.ts'
import type { Removed, RowToRemove } from '../spreadsheet.ts'
import { WantedRows } from '../wanted-rows.ts'
import { naming } from './failure.ts'
import { chunksOf, type Line, recordsOf, textOf } from './records.ts'
import { type Folder, removeHalfWritten, replaceWhole } from './whole-file.ts'

/**
 * Looks for rows in all CSV files of the workbook. A file that has some is replaced by one without their
 * lines, in one step, unless somebody has changed it meanwhile: then the next search finds them again.
 */
export async function removeRows(folder: Folder, rows: readonly RowToRemove[]): Promise<Removed> {
  const { directory } = folder
  const wanted = new WantedRows<Line>(rows)
  await removeHalfWritten(folder)
  const names = (await readdir(directory, { withFileTypes: true }))
    .filter((entry) => entry.isFile() && entry.name.toLowerCase().endsWith('.csv'))
    .map(({ name }) => name)
  const files = new Map<string, { readonly before: Stats; readonly lines: readonly Line[] }>()
  for (const fileName of names) {
    const path = join(directory, fileName)
    await naming(directory, { tab: fileName, fileName }, async () => {
      const before = await ifExists(lstat(path))
      const lines: Line[] = []
      await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
      for await (const line of recordsOf(file)) {
        if (takeIn(line, wanted)) lines.push(line)
      }
      if (before) files.set(fileName, { before, lines })
    })
  }
  const { going, standing } = wanted.decided()
  for (const [fileName, { before, lines }] of files) {
    const path = join(directory, fileName)
    const gone = lines.filter((line) => going.has(line))
    if (gone.length === 0) continue
    await naming(directory, { tab: fileName, fileName }, () =>
      replaceWhole(folder, path, without(path, gone), before),
    )
  }
  return { kind: 'removed', standing }
}

/** Takes the line in, if it may be one of the rows to remove, with whatever delimiter. */
function takeIn(line: Line, wanted: WantedRows<Line>): boolean {
  if (!wanted.mayBeIn(line.text.toLowerCase())) return false
  const text = textOf(line)
  const readings = delimiters.map((delimiter) => {
    const cells = cellsOf(text, delimiter)
    return { cells, addresses: cells.flatMap((cell) => addressesIn(cell, delimiter)) }
  })
  return wanted.take(line, readings)
}

/**
 * What the cell may be as an address: as we write it, or without the apostrophe in front of a formula sign, which
 * a person may have taken off. Another person's address may differ in apostrophes only.
 */
function addressesIn(cell: string, delimiter: string): readonly string[] {
  if (!cell.includes('@')) return []
  const [asRead, asIs] = [readCell(cell, delimiter), cell].map((it) => it.trim().toLowerCase())
  return [asRead ?? '', ...(asIs?.startsWith("'") ? [] : [asIs ?? ''])]
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
