import { execFile } from 'node:child_process'
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { columns } from '../../src/signup/row.ts'
import { allDelivered } from '../../harness/delivery-state.ts'
import { postBulk } from '../../harness/post-signup.ts'
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
  await writeFile(join(sheets, 'unguarded.csv'), unguarded)
})

afterAll(() => stack.disposeAsync())

describe('files of the workbook in LibreOffice', () => {
  test.each([
    [',', 1],
    [';', 2],
    ['\t', 1],
  ])(
    'have no formula when they are split at %j, and a file without apostrophes has',
    async (mark, ofUnguarded) => {
      await using out = await tempFolder()
      const sheets = join(folder, 'sheets')
      const files = (await readdir(sheets)).filter((name) => name.endsWith('.csv'))
      // Quotes, UTF-8, from line 1; text in quotes is treated as other text; numbers and formulas are detected.
      const filter = `CSV:${mark.charCodeAt(0)},34,76,1,,0,false,true,false,false,0,true`
      await promisify(execFile)('soffice', [
        `-env:UserInstallation=${pathToFileURL(join(out.path, 'profile')).href}`,
        ...['--headless', `--infilter=${filter}`, '--convert-to', 'fods', '--outdir', out.path],
        ...files.map((name) => join(sheets, name)),
      ])
      const found = files.map(async (name) => {
        const document = await readFile(join(out.path, name.replace(/csv$/, 'fods')), 'utf8')
        return [name, document.match(/table:formula="[^"]*"/g) ?? []] as const
      })
      const { 'unguarded.csv': control, ...ours } = Object.fromEntries(await Promise.all(found))
      expect(control).toHaveLength(ofUnguarded)
      expect(Object.values(ours)).toEqual(tabs.map(() => []))
    },
  )
})
