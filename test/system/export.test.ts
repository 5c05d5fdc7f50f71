import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { parse } from 'csv-parse/sync'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
import { columns, toRow } from '../../src/signup/row.ts'
import { shownCell } from '../../src/spreadsheet/csv.ts'
import { makeSignup } from '../../harness/make-signup.ts'
import { runCommand } from '../../harness/run-command.ts'
import { type TempFolder, tempFolder } from '../../harness/temp-folder.ts'

/** Texts that a spreadsheet program could take for something else, or spell in another way. */
const texts = [
  ...[
    '=1+1',
    '+1',
    '+49 (30) 123-45',
    '-1',
    '@A1',
    '007',
    '1e3',
    '1/2',
    '2026-11-20',
    'TRUE',
    '12%',
    "'quoted",
  ],
  ...[' spaces ', 'a\nb', '<b>&amp;"', '_x0041_', '_x005F_', '😀 Ève', 'مرحبا', 'x;=1+1', ''],
]
const signups = texts.map((name) =>
  makeSignup({
    email: '=ada@example.com',
    name,
    source: name,
    tags: [name, 'b'],
    sheetTab: 'News',
  }),
)
const cells = [[...columns], ...signups.map((signup) => toRow(signup, 'News').map(shownCell))]

let folder: TempFolder
beforeAll(async () => {
  folder = await tempFolder()
  await using journal = openSqliteJournal(join(folder.path, 'journal.db'))
  await journal.intake.append(signups)
})
afterAll(() => folder[Symbol.asyncDispose]())

test('LibreOffice shows the cells of a CSV export that is opened as text, and finds no formula in any', async () => {
  const file = await exported()
  const asText = columns.map((_, at) => `${at + 1}/2`).join('/')
  const [sheet = []] = await cellsIn(file, `--infilter=CSV:44,34,76,1,${asText}`)
  const bare = (rows: readonly (readonly string[])[]) =>
    rows.map((row) => row.map((cell) => cell.replace(/'(?=[=+\-@])/g, '')))
  expect(bare(sheet)).toEqual(bare(cells))
  // Numbers and formulas are detected.
  const detecting = '--infilter=CSV:44,34,76,1,,0,false,true,false,false,0,true'
  const document = await readFile(await converted(file, 'fods', detecting), 'utf8')
  expect(document).toContain('office:value-type="float"')
  expect(document).not.toContain('table:formula')
})

async function exported(): Promise<string> {
  const file = join(folder.path, 'export.csv')
  const args = ['export', '--out', file]
  expect(await runCommand(args, { dataDir: folder.path })).toMatchObject({ code: 0 })
  return file
}

/** The cells of each sheet, as LibreOffice has them. */
async function cellsIn(file: string, ...options: string[]): Promise<string[][][]> {
  // Comma, quotes, UTF-8, from line 1; cells as they are shown; all sheets.
  const filter = 'csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false,false,false,-1'
  const out = await convert(file, filter, options)
  const names = (await readdir(out)).filter((name) => name.endsWith('.csv')).sort()
  const sheets = names.map((name) => readFile(join(out, name), 'utf8'))
  return (await Promise.all(sheets)).map((text): string[][] => parse(text))
}

async function converted(file: string, to: string, ...options: string[]): Promise<string> {
  const out = await convert(file, to, options)
  const [name = ''] = (await readdir(out)).filter((it) => it.endsWith(`.${to}`))
  return join(out, name)
}

/** Converts a file into a new folder. */
async function convert(file: string, filter: string, options: readonly string[]): Promise<string> {
  const out = join(folder.path, `out-${crypto.randomUUID()}`)
  await promisify(execFile)('soffice', [
    `-env:UserInstallation=${pathToFileURL(join(folder.path, 'profile')).href}`,
    ...['--headless', ...options, '--convert-to', filter, '--outdir', out, file],
  ])
  return out
}
