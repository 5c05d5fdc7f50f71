import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { fileName } from '../src/spreadsheet/workbook/file-name.ts'
import { createWorkbook } from '../src/spreadsheet/workbook/workbook.ts'
import type { SpreadsheetWorld } from '../test/spreadsheet/spreadsheet-contract.ts'

export interface WorkbookWorld extends SpreadsheetWorld {
  readonly directory: string
  path(tab: string): string
}

/** A workbook in a temporary folder. */
export async function createWorkbookWorld(): Promise<WorkbookWorld> {
  const parent = await mkdtemp(join(tmpdir(), 'rollcall-workbook-'))
  const directory = join(parent, 'data', 'sheets')
  const path = (tab: string) => join(directory, fileName(tab))
  return {
    directory,
    path,
    connect: () => createWorkbook({ directory }),

    async rows(tab) {
      const files = await readdir(directory)
      if (!files.includes(fileName(tab))) return undefined
      return parse(await readFile(path(tab), 'utf8'), { relax_column_count: true })
    },

    async createTab(tab, rows) {
      await mkdir(directory, { recursive: true })
      // Write as spreadsheet programs do: all cells quoted, no line end after the last row.
      const quote = (cell: string) => `"${cell.replaceAll('"', '""')}"`
      await writeFile(path(tab), rows.map((row) => row.map(quote).join(',')).join('\n'))
    },

    deleteTab: (tab) => rm(path(tab)),
    [Symbol.asyncDispose]: () => rm(parent, { recursive: true }),
  }
}

/** The content of each tab file, by file name. */
export async function readTabFiles(world: WorkbookWorld): Promise<Record<string, string>> {
  const files: Record<string, string> = {}
  for (const name of (await readdir(world.directory)).sort()) {
    if (name.endsWith('.csv')) files[name] = await readFile(join(world.directory, name), 'utf8')
  }
  return files
}
