import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runCommand } from '../../harness/run-command.ts'
import { tempFolder } from '../../harness/temp-folder.ts'

/** Imports a file into a new journal. */
async function importing(content: string, ...args: string[]) {
  await using folder = await tempFolder()
  const options = { dataDir: join(folder.path, 'data'), folder: folder.path }
  await writeFile(join(folder.path, 'list'), content)
  const result = await runCommand(['import', 'list', ...args], options)
  const isDry = args.includes('--dry-run') || result.code === 2
  const exported = isDry ? '' : (await runCommand(['export', '--format', 'ndjson'], options)).stdout
  const signups = exported.split('\n').filter((line) => line !== '')
  return { ...result, signups: signups.map((line) => JSON.parse(line) as Record<string, unknown>) }
}

const twins = 'Contact,Name,Contact\nada,Ada,ada@example.com\n'

test.each([
  [twins, 'C'],
  [twins, '3'],
  ['Contact,Name,\nada,Ada,ada@example.com\n', '3'],
  ['Contact,Name,"3"\nada,Ada,ada@example.com\n', '3'],
  // A name comes before a number or a letter.
  ['"3",Contact\nada@example.com,ada,', '3'],
  ['C,Contact\nada@example.com,ada', 'C'],
])('of %j, --map email=%s takes the column with the address', async (content, column) => {
  const { code, signups } = await importing(content, '--map', `email=${column}`)
  expect({ code, signups }).toMatchObject({ code: 0, signups: [{ email: 'ada@example.com' }] })
})

test.each([
  [26, 'Z'],
  [27, 'AA'],
  [702, 'ZZ'],
  [703, 'AAA'],
])('the column with the number %d is %s', async (number, letters) => {
  const before = ','.repeat(number - 1)
  const content = `${before}x\n${before}ada@example.com\n`
  const { signups } = await importing(content, '--map', `email=${letters}`)
  expect(signups).toMatchObject([{ email: 'ada@example.com' }])
})

test('the first twenty rejected rows are shown', async () => {
  const { stdout } = await importing(`Email\n${'nobody\n'.repeat(21)}`, '--dry-run')
  expect(stdout.match(/^Row \d+/gm)).toEqual(Array.from({ length: 20 }, (_, at) => `Row ${at + 2}`))
})

test('columns of one name go into Metadata, all but the first with their letters', async () => {
  const { signups } = await importing('Note,Email,Note,Note\nx,ada@example.com,y,z\n')
  expect(signups).toMatchObject([
    { metadata: { Note: 'x', 'Note (column C)': 'y', 'Note (column D)': 'z' } },
  ])
})

test('a column that is called as a later one of its name gets is told to be renamed', async () => {
  const content = 'Note,Email,Note,Note (column C)\nx,ada@example.com,y,z\n'
  const { stdout } = await importing(content, '--dry-run')
  expect(stdout).toContain('have one name: rename that column')
})

test.each([
  [['email=Contact'], /^Columns A and C have the name that --map email= says: .*--map email=A\b/],
  [
    ['email=D'],
    /no column "D" that --map email= says\. It has A "Contact", B "Name", C "Contact"\./,
  ],
  [
    ['email=4'],
    /no column "4" that --map email= says\. It has A "Contact", B "Name", C "Contact"\./,
  ],
  [['email=0'], /no column "0" that --map email= says/],
  [['email=c'], /no column "c" that --map email= says/],
  [['email=ada@example.com'], /no column that --map email= says/],
  [['email=C', 'name=3'], /^--map email= and --map name= say one column\. Leave one of them out\./],
  [['tags=B'], /no column Email: say which it is by --map email=COLUMN\. It has A "Contact", B/],
])('of two columns with one name, --map %j is refused with what to do', async (given, message) => {
  const { code, stderr } = await importing(twins, ...given.flatMap((it) => ['--map', it]))
  expect(code).toBe(2)
  expect(stderr).toMatch(message)
})

test('a wrong --map shows no data of a file without a header row', async () => {
  const { code, stderr } = await importing('ada@example.com,Ada\n', '--map', 'name=Who')
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(/no header row/) })
})

test.each(['--map=email=1', '--dry-run'])(
  'with %s, a first row with an address is no header: its person would be lost',
  async (arg) => {
    const list = ' Ada@Example.COM ,Ada\ngrace@example.com,Grace\n'
    expect(await importing(list, arg)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(
        /has no header row.*: put one above it, with a column Email\.\n$/,
      ),
    })
  },
)

test('a dry run shows what each column becomes, and the dates that signups get', async () => {
  const content =
    'Name,E-mail,Joined,City,City,Tab,Rejected row,Rejected row\n' +
    'Ada,ada@example.com,2025-11-20,London,x,News,7,8\n' +
    'Grace,grace@navy.example,9.12.2025 14:30,Arlington,,News,,\n' +
    'Bob,bob@example.com,2025-11-01,,,,,\n' +
    'Alan,alan@example.com,,Wilmslow,,News,,\n'
  const map = ['--map', 'timestamp=Joined', '--map', 'sheetTab=Tab']
  const { code, stdout } = await importing(content, ...map, '--dry-run', '--tab', 'All')
  expect({ code, lines: stdout.trimEnd().split('\n') }).toEqual({
    code: 0,
    lines: [
      'Column A "Name": name',
      'Column B "E-mail": email',
      'Column C "Joined": timestamp',
      'Column D "City": into Metadata',
      'Column E "City": into Metadata as "City (column E)"',
      'Column F "Tab": left out',
      'Column G "Rejected row": left out',
      'Column H "Rejected row": left out',
      'Dates from 2025-11-01T00:00:00.000Z to 2025-12-09T14:30:00.000Z.',
      'Rows without a date get the time of the import: 1.',
      '4 rows read: 4 would be added; 0 skipped, as their tab has the address; 0 rejected.',
    ],
  })
})

test('a dry run of NDJSON shows what each name becomes, and its JSON has all of it', async () => {
  const content = '{"email":"ada@example.com","timestamp":"1970-01-01","city":"London"}\n'
  const { stdout } = await importing(content, '--dry-run')
  expect(stdout).toContain('Name "email": email\nName "timestamp": timestamp\nName "city": into Me')
  const { stdout: json } = await importing(content, '--dry-run', '--json')
  const at = '1970-01-01T00:00:00.000Z'
  expect(JSON.parse(json)).toMatchObject({
    columns: [
      { column: null, name: 'email', field: 'email', metadataKey: null },
      { column: null, name: 'timestamp', field: 'timestamp', metadataKey: null },
      { column: null, name: 'city', field: null, metadataKey: 'city' },
    ],
    dates: {
      earliest: at,
      latest: at,
      without: 0,
    },
  })
})
