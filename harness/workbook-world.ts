import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { fileName } from '../src/spreadsheet/workbook/file-name.ts'
import { ownColumns } from '../src/signup/row.ts'
import { createWorkbook } from '../src/spreadsheet/workbook/workbook.ts'
import type { FieldsWorld } from '../test/spreadsheet/fields-contract.ts'

export interface WorkbookWorld extends FieldsWorld {
  readonly directory: string
  path(tab: string): string
}

/** A workbook in a temporary folder. */
export async function createWorkbookWorld(): Promise<WorkbookWorld> {
  const parent = await mkdtemp(join(tmpdir(), 'rollcall-workbook-'))
  const directory = join(parent, 'data', 'sheets')
  const path = (tab: string) => join(directory, fileName(tab))
  // Write as spreadsheet programs do: all cells quoted, no line end after the last row.
  const quote = (cell: string) => `"${cell.replaceAll('"', '""')}"`
  const save = (tab: string, rows: readonly (readonly string[])[]) =>
    writeFile(path(tab), rows.map((row) => row.map(quote).join(',')).join('\n'))
  const read = async (tab: string): Promise<string[][]> =>
    parse(await readFile(path(tab), 'utf8'), { relax_column_count: true })
  const change = async (tab: string, edit: (row: string[], at: number) => string[]) =>
    save(tab, (await read(tab)).map(edit))
  return {
    directory,
    path,
    connect: () => createWorkbook({ directory }),
    connectWith: (fields, confirmation) =>
      createWorkbook({ directory, own: ownColumns(fields, confirmation) }),

    async rows(tab) {
      const files = await readdir(directory)
      if (!files.includes(fileName(tab))) return undefined
      return read(tab)
    },

    async createTab(tab, rows) {
      await mkdir(directory, { recursive: true })
      await save(tab, rows)
    },

    insertColumn: (tab, before) => change(tab, (row) => row.toSpliced(before, 0, '')),
    moveColumn: (tab, from, to) =>
      change(tab, (row) => row.toSpliced(from, 1).toSpliced(to, 0, row[from] ?? '')),
    nameColumn: (tab, column, heading) =>
      change(tab, (row, at) => (at === 0 ? row.with(column, heading) : row)),
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
