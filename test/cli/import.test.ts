import { existsSync } from 'node:fs'
import { mkdir, readFile, readdir, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
import { signupIds } from '../../src/signup/id.ts'
import { parseSignup } from '../../src/signup/parse.ts'
import { readiness } from '../../harness/delivery-state.ts'
import { postSignup } from '../../harness/post-signup.ts'
import { addressesIn } from '../../harness/read-workbook.ts'
import { type CommandResult, runCommand, startCommand } from '../../harness/run-command.ts'
import { startService } from '../../harness/start-service.ts'
import { makePipe, type TempFolder, tempFolder } from '../../harness/temp-folder.ts'

/** A folder with a data folder in it. */
async function makeWorld() {
  const folder: TempFolder = await tempFolder()
  const dataDir = join(folder.path, 'data')
  const path = (name: string) => join(folder.path, name)
  return {
    dataDir,
    path,
    write: (name: string, content: string | Buffer) => writeFile(path(name), content),
    run: (...args: string[]): Promise<CommandResult> =>
      runCommand(args, { dataDir, folder: folder.path }),
    /** The journal's signups, as CSV rows without the header row. */
    rows: async (): Promise<string[][]> => {
      const { stdout } = await runCommand(['export'], { dataDir })
      const rows: string[][] = parse(stdout)
      return rows.slice(1)
    },
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  }
}

const list = (count: number, from = 0) =>
  Array.from({ length: count }, (_, at) => `person${from + at}@example.com`)

test('the columns of a file become the fields of signups, and the rest goes into Metadata', async () => {
  await using world = await makeWorld()
  await world.write(
    'list.csv',
    '\uFEFFName;E-Mail;Datum;Schlagworte;Ort\r\n' +
      'Ada;ada@example.com;20.11.2025 10:00;"early, press";Köln\r\n' +
      '"Bob ""B"" B.";BOB@EXAMPLE.COM;2025-11-21T08:00:00+01:00;;\r\n\r\n',
  )
  const map = ['--map', 'timestamp=Datum', '--map', 'tags=Schlagworte']
  const { code, stdout, stderr } = await world.run('import', 'list.csv', ...map, '--tab', 'News')
  expect({ code, stdout, stderr }).toEqual({
    code: 0,
    stdout:
      'Column "Name": name\n' +
      'Column "E-Mail": email\n' +
      'Column "Datum": timestamp\n' +
      'Column "Schlagworte": tags\n' +
      'Column "Ort": into Metadata\n' +
      'Dates from 2025-11-20T10:00:00.000Z to 2025-11-21T07:00:00.000Z.\n' +
      '2 rows read: 2 added; 0 skipped, as their tab has the address; 0 rejected.\n',
    stderr: '',
  })
  expect(await world.rows()).toEqual([
    [
      'ada@example.com',
      '2025-11-20T10:00:00.000Z',
      'import',
      'Ada',
      'early, press',
      '{"Ort":"Köln"}',
      'News',
    ],
    ['BOB@example.com', '2025-11-21T07:00:00.000Z', 'import', 'Bob "B" B.', '', '', 'News'],
  ])
})

test('NDJSON with the names of the signup request is imported, and other names become metadata', async () => {
  await using world = await makeWorld()
  const ada = { email: 'ada@example.com', tags: ['a', 'b'], metadata: { x: 1 }, city: 'Köln' }
  const bob = {
    email: 'bob@example.com',
    source: 'fair',
    sheetTab: 'Beta',
    timestamp: '2025-01-01',
  }
  await world.write('list.ndjson', [ada, bob].map((it) => JSON.stringify(it)).join('\n'))
  expect(await world.run('import', 'list.ndjson')).toMatchObject({ code: 0 })
  const [first, second] = await world.rows()
  expect(first?.slice(2)).toEqual(['import', '', 'a, b', '{"x":1,"city":"Köln"}', 'Sheet1'])
  expect(second).toEqual([bob.email, '2025-01-01T00:00:00.000Z', 'fair', '', '', '', 'Beta'])
})

/** Signups with all that cells may have: formulas, apostrophes, delimiters, quotes, other alphabets. */
function unusualSignups(count: number) {
  const text = fc.string({
    unit: fc.constantFrom(...Array.from('=+-@＝＠\'",;\t\r\n a\\é😀\u00a0\ufffd{}[]:')),
    maxLength: 20,
  })
  const seed = 20_261_120
  const all = fc.record({
    name: text,
    source: text,
    // In CSV, a comma in a tag cannot be told from one between two tags.
    tags: fc.array(
      text.map((tag) => tag.replaceAll(',', '')),
      { maxLength: 3 },
    ),
    metadata: fc.dictionary(text, fc.oneof(text, fc.integer(), fc.array(text)), { maxKeys: 3 }),
    sheetTab: fc.constantFrom('News', '=Tab', "'=Tab", '+1;=2'),
    local: fc.constantFrom('a', '=a', "'=a", "''-a", '+a'),
  })
  const newId = signupIds()
  return fc.sample(all, { numRuns: count, seed }).map(({ local, ...fields }, number) => {
    const email = `${local}${number}@example.com`
    const context = { source: 'api', defaultTab: 'Sheet1' } as const
    const parsed = parseSignup({ ...fields, email }, context)
    if (!parsed.ok) throw new Error(parsed.problems.map(({ message }) => message).join())
    const receivedAt = Date.UTC(2024, 1, 29) + number * 100_001
    return { ...parsed.value, id: newId(receivedAt), receivedAt }
  })
}

test.each(['csv', 'ndjson'])('an export as %s is imported with the same cells', async (format) => {
  await using first = await makeWorld()
  await using second = await makeWorld()
  const count = 500
  {
    await mkdir(first.dataDir)
    await using journal = openSqliteJournal(join(first.dataDir, 'journal.db'))
    await journal.intake.append(unusualSignups(count))
  }
  const { stdout: exported } = await first.run('export', '--format', format)
  await second.write(`all.${format}`, exported)
  const { code, stdout } = await second.run('import', `all.${format}`)
  expect({ code, stdout }).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`${count} added`),
  })
  const cells = async (world: typeof first) => {
    const { stdout: text } = await world.run('export', '--format', 'ndjson')
    return text
      .trimEnd()
      .split('\n')
      .map((line) => ({ ...(JSON.parse(line) as object), id: '' }))
  }
  expect(await second.rows()).toEqual(await first.rows())
  if (format === 'ndjson') expect(await cells(second)).toEqual(await cells(first))
})

test(
  'a service delivers what is imported while it runs, and an import that is killed can be completed',
  { tags: 'slow' },
  async () => {
    await using world = await makeWorld()
    await using service = await startService({ dataDir: world.dataDir })
    const people = list(20_000)
    await world.write('list.csv', ['Email', ...people].join('\n'))
    const killed = startCommand(['import', world.path('list.csv')], { dataDir: world.dataDir })
    await expect
      .poll(async () => (await readiness(service)).body.delivery.backlog, { interval: 1 })
      .toBeGreaterThan(0)
    killed.kill('SIGKILL')
    expect(await killed.ended).toMatchObject({ code: null })
    expect(await postSignup(service.url, { email: 'visitor@example.com' })).toMatchObject({
      status: 202,
    })
    const { code, stdout } = await world.run('import', 'list.csv', '--json')
    const report = JSON.parse(stdout) as { read: number; added: number; skipped: number }
    expect({ code, ...report }).toMatchObject({
      code: 0,
      complete: true,
      read: 20_000,
      rejected: 0,
    })
    expect(report.skipped).toBeGreaterThan(0)
    expect(report.added + report.skipped).toBe(20_000)
    await expect.poll(() => addressesIn(world.dataDir).length).toBe(20_001)
    expect(addressesIn(world.dataDir).toSorted()).toEqual(
      [...people, 'visitor@example.com'].toSorted(),
    )
  },
)

test('an import that is stopped says what it has done, and keeps the rejected rows', async () => {
  await using world = await makeWorld()
  await world.write('list.csv', ['Email', 'nobody', ...list(100_000)].join('\n'))
  const stopped = startCommand(['import', world.path('list.csv'), '--json'], {
    dataDir: world.dataDir,
  })
  const rejected = world.path('list.csv.rejected.csv')
  await expect.poll(() => existsSync(rejected)).toBe(true)
  stopped.kill('SIGINT')
  const { code, stdout, stderr } = await stopped.ended
  expect({ code, stderr }).toEqual({ code: 1, stderr: 'Stopped before everything was done.\n' })
  const report = JSON.parse(stdout) as { complete: boolean; read: number; added: number }
  expect(report).toMatchObject({ complete: false, rejected: 1, rejectedFile: rejected })
  expect(report.read).toBe(report.added + 1)
  expect(report.added).toBeLessThan(100_000)
  expect(await world.rows()).toHaveLength(report.added)
  expect(await readFile(rejected, 'utf8')).toContain('nobody,2,')
})

test('rejected rows go to a new private file, which can be corrected and imported', async () => {
  await using world = await makeWorld()
  await world.write('list.csv', 'Email,Name\nada@example.com,Ada\nnobody,"=1+1"\nbob@b,Bob\n')
  // A link to nowhere, and a file: both stay as they are.
  await symlink(world.path('elsewhere'), world.path('list.csv.rejected.csv'))
  await world.write('list.csv.rejected-2.csv', 'kept')
  const file = world.path('list.csv.rejected-3.csv')
  const { code, stdout } = await world.run('import', 'list.csv')
  expect(code).toBe(1)
  expect(stdout).toBe(
    'Column "Email": email\nColumn "Name": name\n' +
      'Rows without a date get the time of the import: 1.\n' +
      '3 rows read: 1 added; 0 skipped, as their tab has the address; 2 rejected.\n' +
      `The rejected rows are in ${file}\n`,
  )
  expect(existsSync(world.path('elsewhere'))).toBe(false)
  expect(await readFile(world.path('list.csv.rejected-2.csv'), 'utf8')).toBe('kept')
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  const text = await readFile(file, 'utf8')
  const reason = 'Enter an email address such as name@example.com.'
  expect(parse(text)).toEqual([
    ['Email', 'Name', 'Rejected row', 'Rejected because'],
    ['nobody', "'=1+1", '3', reason],
    ['bob@b', 'Bob', '4', reason],
  ])
  await world.write(
    'corrected.csv',
    text.replace('nobody', 'eve@example.com').replace('@b,', '@b.co,'),
  )
  expect(await world.run('import', 'corrected.csv')).toMatchObject({ code: 0 })
  expect(
    (await world.rows()).map(([email, , , name, , metadata]) => [email, name, metadata]),
  ).toEqual([
    ['ada@example.com', 'Ada', ''],
    ['eve@example.com', "'=1+1", ''],
    ['bob@b.co', 'Bob', ''],
  ])
})

test('a dry run tells what would be done, and changes nothing', async () => {
  await using world = await makeWorld()
  await world.write('list.csv', 'Email,Sheet Tab\na@b.co,A\nA@B.CO,a\nx,A\nb@b.co,B\n')
  const dry = () => world.run('import', 'list.csv', '--dry-run')
  const expected = {
    code: 1,
    stdout:
      'Column "Email": email\n' +
      'Column "Sheet Tab": sheetTab\n' +
      'Rows without a date get the time of the import: 3.\n' +
      '4 rows read: 2 would be added; 1 skipped, as their tab has the address; 1 rejected.\n' +
      'Row 4: Enter an email address such as name@example.com.\n',
    stderr: '',
  }
  expect(await dry()).toEqual(expected)
  expect(await readdir(world.path('.'))).toEqual(['list.csv'])
  await world.write('one.csv', 'Email,Sheet Tab\nb@b.co,b\n')
  await world.run('import', 'one.csv')
  expect((await dry()).stdout).toContain('1 would be added; 2 skipped')
  expect(await world.rows()).toHaveLength(1)
})

test('addresses that their tab has are skipped, unless duplicates are asked for', async () => {
  await using world = await makeWorld()
  await world.write('list.csv', 'Email\nada@example.com\nADA@example.com\n')
  expect((await world.run('import', 'list.csv')).stdout).toContain('1 added; 1 skipped')
  expect((await world.run('import', 'list.csv')).stdout).toContain('0 added; 2 skipped')
  const { stdout } = await world.run('import', 'list.csv', '--duplicates')
  expect(stdout).toContain('2 added; 0 skipped')
  const ignoring = await runCommand(['import', world.path('list.csv'), '--duplicates'], {
    env: { DUPLICATES: 'ignore' },
  })
  expect(ignoring).toMatchObject({ code: 2, stderr: expect.stringContaining('DUPLICATES=ignore') })
})

test('only tabs that the settings allow get imported signups', async () => {
  await using world = await makeWorld()
  await world.write('list.csv', 'Email,Sheet Tab\na@b.co,beta\nb@b.co,Other\n')
  const env = { SHEET_TABS: 'Beta', DATA_DIR: world.dataDir }
  const { stdout } = await runCommand(['import', world.path('list.csv'), '--json'], { env })
  expect(JSON.parse(stdout)).toMatchObject({
    added: 1,
    problems: [{ row: 3, reason: expect.stringContaining('takes no signups') }],
  })
  expect((await world.rows()).map((row) => row[6])).toEqual(['Beta'])
})

test.each([
  ['Nope', '"Sheet1", "Beta".'],
  ['Bete', 'Did you mean "Beta"?'],
])('--tab %s is refused at once when the settings do not allow it', async (tab, hint) => {
  await using world = await makeWorld()
  await world.write('list.csv', 'Email\na@b.co\n')
  const env = { SHEET_TABS: 'Beta', DATA_DIR: world.dataDir }
  const result = await runCommand(['import', world.path('list.csv'), '--tab', tab], { env })
  expect(result).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(hint) })
  expect(existsSync(world.path('list.csv.rejected.csv'))).toBe(false)
  const allowed = await runCommand(['import', world.path('list.csv'), '--tab', 'BETA'], { env })
  expect(allowed).toMatchObject({ code: 0 })
  expect((await world.rows()).map((row) => row[6])).toEqual(['Beta'])
})

const utf16 = Buffer.from('\uFEFFEmail\nada@b.co\n', 'utf16le')

test('an import does not bring a person back who was forgotten', async () => {
  await using world = await makeWorld()
  await world.write('list.csv', 'Email\na@b.co\n')
  await world.run('import', 'list.csv')
  expect(await world.run('forget', 'a@b.co')).toMatchObject({ code: 0 })
  const { code, stdout } = await world.run('import', 'list.csv', '--json')
  expect({ code, report: JSON.parse(stdout) }).toMatchObject({
    code: 1,
    report: { added: 0, skipped: 0, rejected: 1, problems: [{ row: 2 }] },
  })
  expect(await world.rows()).toEqual([])
})

test.each<[string, string | Buffer, RegExp]>([
  ['a file in UTF-16', utf16, /UTF-16.*save it as "CSV UTF-8"/],
  ['a file in UTF-16 without a mark', utf16.subarray(2), /UTF-16.*save it as "CSV UTF-8"/],
  ['a workbook', 'PK\u0003\u0004rest', /is a workbook.*save it as "CSV UTF-8"/],
  ['a JSON list', '[{"email":"a@b.co"}]', /JSON list.*one JSON object a line/],
  ['an empty file', '', /The file is empty/],
  ['a file without a column Email', 'Mail,Name\n', /--map email=COLUMN\. It has "Mail", "Name"/],
  [
    'a file with two such columns',
    'Email,E-Mail\n',
    /Columns "Email" and "E-Mail" may be the email: say which by --map email="Email",/,
  ],
])('%s is refused with what to do', async (_, content, message) => {
  await using world = await makeWorld()
  await world.write('list.csv', content)
  const { code, stdout, stderr } = await world.run('import', 'list.csv')
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toMatch(message)
  expect(existsSync(world.dataDir)).toBe(false)
})

test.each([
  [['missing.csv'], /missing\.csv cannot be read: there is no such file/],
  [['.'], /is not a file\. Give a CSV or NDJSON file/],
  [['pipe'], /is not a file\. Give a CSV or NDJSON file/],
  [['list.csv', '--map', 'emial=Mail'], /Did you mean email\?/],
  [['list.csv', '--map', 'Mail'], /Give it as FIELD=COLUMN\. Did you mean email\?/],
  [['list.csv', '--map', 'name=A', '--map', 'name=B'], /--map name= is given twice/],
  [['list.csv', '--dates', 'american'], /Allowed choices are day-first, month-first/],
])('%j is refused in one line', async (args, message) => {
  await using world = await makeWorld()
  await world.write('list.csv', 'Email\na@b.co\n')
  makePipe(world.path('pipe'))
  const { code, stdout, stderr } = await world.run('import', ...args)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toMatch(message)
  expect(stderr.trimEnd()).not.toContain('\n')
})

test('a file that breaks off is imported up to there, and the command says where', async () => {
  await using world = await makeWorld()
  await world.write('list.csv', 'Email,Name\na@b.co,A\nb@b.co,"B\nc@b.co,C\n')
  const { code, stdout, stderr } = await world.run('import', 'list.csv', '--json')
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringContaining('Row 3 does not end'),
  })
  expect(JSON.parse(stdout)).toMatchObject({ complete: false, read: 1, added: 1 })
})
