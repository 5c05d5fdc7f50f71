import { execFile } from 'node:child_process'
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { columns } from '../../src/signup/row.ts'
import { csvRecord } from '../../src/spreadsheet/csv.ts'
import { allDelivered } from '../../harness/delivery-state.ts'
import { postBulk } from '../../harness/post-signup.ts'
import { runCommand } from '../../harness/run-command.ts'
import { startService } from '../../harness/start-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'

const formulas = ['=1+1', '=HYPERLINK("http://x.invalid","y")', "=cmd|'/c calc'!A1", '＝1+1', '@A1']
const texts = formulas.flatMap((formula) => [
  formula,
  ...[',', ';'].flatMap((mark) =>
    ['', ' ', '"', '" ', '"";'].map((between) => `x${mark}${between}${formula}`),
  ),
])

/** Tabs whose files exist before the service starts, with other delimiters, as programs save them. */
const headers = {
  semicolons: columns.join(';'),
  tabs: columns.join('\t'),
  'own-columns': 'Name;Email;Metadata',
}
const tabs = ['commas', ...Object.keys(headers), 'x;=1+1', 'x,=1+1']

/** Phone numbers that get no apostrophe in front, and are text to a program. */
const phones = [
  '+1.555.123.4567',
  '+49 30 1234567',
  '+49(30)1234567',
  '+1 (555) 123-4567',
  '+49 (0) 30 123-45',
  '+(49) 30 12345',
]

/** A formula at the start of a line, and one behind a semicolon in quotes. */
const unguarded = 'ada,"x;=1+1"\r\n=1+1\r\n'

const stack = new AsyncDisposableStack()
let folder: string

beforeAll(async () => {
  folder = stack.use(await tempFolder()).path
  const sheets = join(folder, 'sheets')
  await mkdir(sheets)
  for (const [tab, header] of Object.entries(headers)) {
    await writeFile(join(sheets, `${tab}.csv`), `${header}\n`)
  }
  await using service = await startService({ dataDir: folder })
  for (const sheetTab of tabs) {
    const signups = texts.map((text) => ({
      ...{ email: '=ada@example.com', sheetTab, source: text, name: text, tags: [text, text] },
      metadata: { [text]: text, list: [text, -1] },
    }))
    expect((await postBulk(service.url, { signups })).status).toBe(202)
  }
  await allDelivered(service)
  const exporting = ['export', '--out', join(sheets, 'an export.csv')]
  expect(await runCommand(exporting, { dataDir: folder })).toMatchObject({ code: 0 })
  await writeFile(join(sheets, 'unguarded.csv'), unguarded)
  await writeFile(
    join(folder, 'phones.csv'),
    phones.map((it) => `${csvRecord(['a', it])}\n`).join(''),
  )
  await writeFile(join(folder, 'forced.csv'), phones.map((it) => `=${it}\n`).join(''))
})

afterAll(() => stack.disposeAsync())

describe('files of the workbook and an export in LibreOffice', () => {
  test.each([
    [',', 1],
    [';', 2],
    ['\t', 1],
  ])(
    'have no formula when they are split at %j, and a file without apostrophes has',
    async (mark, ofUnguarded) => {
      const sheets = join(folder, 'sheets')
      const files = (await readdir(sheets)).filter((name) => name.endsWith('.csv'))
      const opened = await openAll(sheets, files, mark)
      const formulas = opened.map((document) => document.match(/table:formula="[^"]*"/g) ?? [])
      const found = Object.fromEntries(files.map((name, at) => [name, formulas[at]]))
      const { 'unguarded.csv': control, ...ours } = found
      expect(control).toHaveLength(ofUnguarded)
      expect(Object.values(ours)).toEqual(['an export', ...tabs].map(() => []))
    },
  )
})

test('a phone number without an apostrophe is text in LibreOffice, and as a formula it would be an error', async () => {
  const [plain = '', forced = ''] = await openAll(folder, ['phones.csv', 'forced.csv'], ',')
  const cells = (document: string) =>
    [...document.matchAll(/office:value-type="(\w+)"[^>]*>\s*<text:p>([^<]*)/g)].map(
      ([, ...it]) => it,
    )
  expect(cells(plain)).toEqual(
    phones.flatMap((phone) => [
      ['string', 'a'],
      ['string', phone],
    ]),
  )
  expect(cells(forced).map(([, text]) => text)).toEqual(phones.map(() => 'Err:509'))
})

/** Opens CSV files in LibreOffice, splitting them at `mark`. Returns them as flat documents. */
async function openAll(
  from: string,
  names: readonly string[],
  mark: string,
): Promise<readonly string[]> {
  await using out = await tempFolder()
  // Quotes, UTF-8, from line 1; text in quotes is treated as other text; numbers and formulas are detected.
  const filter = `CSV:${mark.charCodeAt(0)},34,76,1,,0,false,true,false,false,0,true`
  await promisify(execFile)('soffice', [
    `-env:UserInstallation=${pathToFileURL(join(out.path, 'profile')).href}`,
    ...['--headless', `--infilter=${filter}`, '--convert-to', 'fods', '--outdir', out.path],
    ...names.map((name) => join(from, name)),
  ])
  const documents = names.map((name) => join(out.path, name.replace(/csv$/, 'fods')))
  return await Promise.all(documents.map((path) => readFile(path, 'utf8')))
}
