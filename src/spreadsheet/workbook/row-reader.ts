import { constants } from 'node:fs'
import { lstat, open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { cellsOf, delimiters } from '../csv.ts'
import { ourHeader } from '../header.ts'
import { isTimestamp, rowKey } from '../row-key.ts'
import type { NextRows, RowKey, RowPart, RowReader } from '../spreadsheet.ts'
import { ifExists } from '../../platform/node/durable-file.ts'
import { failureOf } from './failure.ts'
import { fileName } from './file-name.ts'
import { headOf, type HeaderRow, readHeaderRow } from './header-row.ts'
import { textsOf } from './records.ts'

/** Rows in one part. Their lines take about a megabyte. */
const rowsPerPart = 5_000

/** Reads the files of all tabs line by line. */
export class WorkbookRowReader implements RowReader {
  readonly #directory: string
  #parts: AsyncGenerator<RowPart, boolean> | undefined

  constructor(directory: string) {
    this.#directory = directory
  }

  async next(): Promise<NextRows> {
    try {
      this.#parts ??= readAll(this.#directory)
      const { done, value } = await this.#parts.next()
      return done ? { kind: 'end', isOneMoment: value } : value
    } catch (error) {
      // A generator ends when it throws, so this reader cannot go on.
      this.#parts = undefined
      const failure = failureOf(error, this.#directory)
      return failure.kind === 'retryable' ? { kind: 'changed' } : failure
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts?.return(false)
  }
}

/** Returns whether no file has changed meanwhile. */
async function* readAll(directory: string): AsyncGenerator<RowPart, boolean> {
  const before = await stateOf(directory)
  for (const name of Object.keys(before)) yield* readFile(directory, name)
  const after = await stateOf(directory)
  return JSON.stringify(before) === JSON.stringify(after)
}

/** The state of each tab's file, by its name. */
async function stateOf(directory: string): Promise<Readonly<Record<string, string>>> {
  // Without a folder there is no tab.
  const all = (await ifExists(readdir(directory))) ?? []
  const names = all.filter((name) => name.endsWith('.csv')).sort()
  const states = await Array.fromAsync(names, async (name) => {
    const { size, mtimeNs, ino } = await lstat(join(directory, name), { bigint: true })
    return [name, `${ino}:${size}:${mtimeNs}`] as const
  })
  return Object.fromEntries(states)
}

async function* readFile(directory: string, name: string): AsyncGenerator<RowPart> {
  await using file = await open(
    join(directory, name),
    constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
  )
  if (!(await file.stat()).isFile()) return
  const headerRow = readHeaderRow(await headOf(file))
  let tab = name.slice(0, -'.csv'.length)
  let rows: RowKey[] = []
  for await (const text of textsOf(file)) {
    const { cells, key } = readRow(text, headerRow)
    if (key) rows.push(key)
    // A name with a hash tells less than the cell of the tab.
    if (tab.includes('~')) tab = cells.findLast((cell) => fileName(cell) === name) ?? tab
    if (rows.length < rowsPerPart) continue
    yield { kind: 'rows', place: name, tab, rows }
    rows = []
  }
  yield { kind: 'rows', place: name, tab, rows }
}

interface ReadRow {
  readonly cells: readonly string[]
  /** Undefined when it is not a row of ours. */
  readonly key: RowKey | undefined
}

/**
 * The cells of a record, and what it is known by. Without a header row of somebody's own, the timestamp shows
 * where our cells begin, as people save files with other delimiters and add columns.
 */
export function readRow(text: string, { header, delimiter }: HeaderRow): ReadRow {
  if (header.kind !== 'named') {
    for (const mark of [delimiter, ...delimiters]) {
      const all = cellsOf(text, mark)
      const at = all.findIndex(isTimestamp)
      if (at < 1) continue
      const cells = all.slice(at - 1)
      return { cells, key: rowKey(cells, ourHeader) }
    }
  }
  const cells = cellsOf(text, delimiter)
  return { cells, key: rowKey(cells, header) }
}
