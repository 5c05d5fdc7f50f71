import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { appendTo, openSqliteJournal } from '../../harness/sqlite-journal.ts'
import { makeSignup } from '../../harness/make-signup.ts'
import { runCommand, startCommand } from '../../harness/run-command.ts'
import { type TempFolder, tempFolder } from '../../harness/temp-folder.ts'

const noon = Date.UTC(2026, 10, 20, 12)
const day = 24 * 60 * 60 * 1000
const header = ['Email', 'Timestamp', 'Source', 'Name', 'Tags', 'Metadata', 'Sheet Tab']
const people = [
  { email: 'ada@example.com', receivedAt: noon, sheetTab: 'News', name: '=1+1', tags: ['a', 'b'] },
  { email: 'bob@example.com', receivedAt: noon + day, sheetTab: 'News', metadata: '{"x":"a;=1"}' },
  { email: 'eve@example.com', receivedAt: noon + 2 * day, sheetTab: 'Beta', name: 'Ève\n"E"' },
]

let data: TempFolder
beforeAll(async () => {
  data = await tempFolder()
  await using journal = openSqliteJournal(join(data.path, 'journal.db'))
  await journal.intake.append(people.map((it) => makeSignup(it)))
})
afterAll(() => data[Symbol.asyncDispose]())

const run = (...args: string[]) => runCommand(['export', ...args], { dataDir: data.path })

test('CSV has the header row and one row for each signup, and no cell that is a formula', async () => {
  const { code, stdout, stderr } = await run()
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const [first, ...rows]: string[][] = parse(stdout)
  expect(first).toEqual(header)
  expect(
    rows.map(([email, at, , name, tags, metadata, tab]) => [email, at, name, tags, metadata, tab]),
  ).toEqual([
    ['ada@example.com', '2026-11-20T12:00:00.000Z', "'=1+1", 'a, b', '', 'News'],
    ['bob@example.com', '2026-11-21T12:00:00.000Z', '', '', `{"x":"a;'=1"}`, 'News'],
    ['eve@example.com', '2026-11-22T12:00:00.000Z', 'Ève\n"E"', '', '', 'Beta'],
  ])
})

test('NDJSON has the names and types of the signup request', async () => {
  const { code, stdout } = await run('--format', 'ndjson')
  expect(code).toBe(0)
  const [ada, bob, eve] = stdout
    .trimEnd()
    .split('\n')
    .map((line): unknown => JSON.parse(line))
  expect(ada).toEqual({
    id: expect.any(String),
    email: 'ada@example.com',
    timestamp: '2026-11-20T12:00:00.000Z',
    source: expect.any(String),
    name: '=1+1',
    tags: ['a', 'b'],
    sheetTab: 'News',
  })
  expect(bob).toMatchObject({ metadata: { x: 'a;=1' } })
  expect(eve).toMatchObject({ name: 'Ève\n"E"' })
})

test.each([
  [
    ['--tab', 'news'],
    ['ada', 'bob'],
  ],
  // A tab of the settings that has no signup yet.
  [['--tab', 'sheet1'], []],
  [['--tab', 'News', '--since', '2026-11-23'], []],
  [
    ['--since', '2026-11-21'],
    ['bob', 'eve'],
  ],
  [['--until', '2026-11-21T12:00:00Z'], ['ada']],
  [['--since', '2026-11-21T13:00:00+01:00', '--until', '2026-11-22', '--tab', 'News'], ['bob']],
])('%j chooses %j', async (args, names) => {
  const { stdout } = await run(...args)
  const [first, ...rows]: string[][] = parse(stdout)
  expect(first).toEqual(header)
  expect(rows.map(([email]) => email)).toEqual(names.map((name) => `${name}@example.com`))
})

test.each([
  [['--since', 'yesterday'], /'yesterday' is invalid. Give a date like 2026-11-20/],
  [['--since', '2026-02-31'], /Give a date like/],
  [
    ['--since', '2026-11-21', '--until', '2026-11-20'],
    /^--since must be earlier than --until\.\n$/,
  ],
  [['--format', 'xls'], /Allowed choices are csv, ndjson\./],
  [['--format', 'csv', '--out', 'people.ndjson'], /ending of the file or by --format, not two/],
  [['--out', 'people.xlsx'], /Formats are csv, ndjson: give one as the ending/],
  [['--tab', 'Nwes'], /^The journal has no tab .* Did you mean "News"\?\n$/],
  [['--tab', 'Volunteers'], /no tab .* Tabs are "Sheet1", "News", "Beta"\.\n$/],
])('%j is refused in one line', async (args, message) => {
  const { code, stdout, stderr } = await run(...args)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toMatch(message)
  expect(stderr.trimEnd()).not.toContain('\n')
})

test.each([
  [['--out', 'list.NDJSON'], '{"id":'],
  [['--out', 'list'], 'Email,'],
  [['--out', 'list.json', '--format', 'ndjson'], '{"id":'],
])('%j makes a file that begins with %j', async (args, start) => {
  await using folder = await tempFolder()
  const options = { dataDir: data.path, folder: folder.path }
  expect(await runCommand(['export', ...args], options)).toMatchObject({ code: 0 })
  expect((await readFile(join(folder.path, args[1] ?? ''), 'utf8')).startsWith(start)).toBe(true)
})

test('a tab that is not there leaves no file, and an empty journal has no wrong tab', async () => {
  await using folder = await tempFolder()
  const file = join(folder.path, 'list.csv')
  expect(await run('--tab', 'Nwes', '--out', file)).toMatchObject({ code: 2 })
  expect(await readdir(folder.path)).toEqual([])
  await using journal = openSqliteJournal(join(folder.path, 'journal.db'))
  const options = { dataDir: folder.path }
  expect(await runCommand(['export', '--tab', 'News'], options)).toMatchObject({ code: 0 })
  await journal.intake.append([makeSignup({ sheetTab: 'ada@example.com' })])
  const { stderr } = await runCommand(['export', '--tab', 'adä@example.com'], options)
  expect(stderr).toMatch(/Tabs are "Sheet1"\.\n$/)
})

test.each([1_000, 1_001])('an export of %d signups has each once', async (count) => {
  await using folder = await tempFolder()
  const names = Array.from({ length: count }, (_, at) => `person${at}`)
  await appendTo(
    folder.path,
    names.map((name) => makeSignup({ name })),
  )
  const { stdout } = await runCommand(['export'], { dataDir: folder.path })
  expect(parse(stdout, { from: 2 }).map((row: string[]) => row[3])).toEqual(names)
})

test('--out makes a private file, and never writes over another one', async () => {
  await using folder = await tempFolder()
  const file = join(folder.path, 'list.csv')
  const { code, stdout, stderr } = await run('--out', file)
  expect({ code, stdout, stderr }).toEqual({
    code: 0,
    stdout: '',
    stderr: `Exported 3 signups to ${file}\n`,
  })
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  await writeFile(file, 'kept')
  expect(await run('--out', file)).toMatchObject({
    code: 1,
    stderr: `${file} cannot be made: it exists already, and Rollcall overwrites no file. Give another name.\n`,
  })
  expect(await readFile(file, 'utf8')).toBe('kept')
})

test(
  'an export that is stopped says so and leaves no file, and one that nobody reads ends quietly',
  { tags: 'slow' },
  async () => {
    await using folder = await tempFolder()
    await using large = await tempFolder()
    {
      await using journal = openSqliteJournal(join(large.path, 'journal.db'))
      for (let part = 0; part < 20; part++) {
        await journal.intake.append(Array.from({ length: 5_000 }, () => makeSignup()))
      }
    }
    // So that this process sees the first of it in time.
    const stopped = startCommand(['export', '--out', join(folder.path, 'list.csv')], {
      dataDir: large.path,
      under: ['nice', '-n', '10'],
    })
    await expect.poll(() => readdir(folder.path)).toEqual(['list.csv'])
    stopped.kill('SIGINT')
    expect(await stopped.ended).toEqual({
      code: 1,
      stdout: '',
      stderr: 'Stopped before everything was done.\n',
    })
    expect(await readdir(folder.path)).toEqual([])
    const unread = startCommand(['export'], { dataDir: large.path })
    await expect.poll(unread.stdout).not.toBe('')
    unread.closeOutput()
    expect(await unread.ended).toMatchObject({ code: 1, stderr: '' })
  },
)

const fields = [
  { name: 'topics', type: 'choices', label: { en: 'Topics', de: 'Themen' }, options: ['a', 'b'] },
  { name: 'why', type: 'textarea' },
]
const withFields = { ROLLCALL_CONFIG: JSON.stringify({ sites: { default: { fields } } }) }
const values = { topics: ['a', 'b'], why: 'one\n\n"two"' }

test.each(['csv', 'ndjson'])(
  'several choices and lines of text come back by an import of a %s export',
  async (format) => {
    await using from = await tempFolder()
    await using to = await tempFolder()
    await appendTo(from.path, [makeSignup({ email: 'ada@example.com', fields: values })])
    const exported = await runCommand(['export', '--format', format], {
      dataDir: from.path,
      env: withFields,
    })
    const file = join(to.path, `list.${format}`)
    await writeFile(file, exported.stdout)
    const into = { dataDir: join(to.path, 'data'), env: withFields }
    const { code, stderr } = await runCommand(['import', file], into)
    expect(code, stderr).toBe(0)
    const again = await runCommand(['export', '--format', 'ndjson'], into)
    expect(JSON.parse(again.stdout)).toMatchObject(values)
    const csv = await runCommand(['export'], into)
    expect(csv.stdout).toContain(',Topics,why\r\n')
    expect(csv.stdout).toContain(',"a, b","one\n\n""two"""\r\n')
  },
)
