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

test('--map takes a column by its name, and a number or a letter is a name like any other', async () => {
  const content = 'C,Contact,3\nx,ada@example.com,y\n'
  const { code, signups } = await importing(content, '--map', 'email=Contact', '--map', 'name=3')
  expect({ code, signups }).toMatchObject({
    code: 0,
    signups: [{ email: 'ada@example.com', name: 'y', metadata: { C: 'x' } }],
  })
})

test('a column without a name goes into Metadata by its number', async () => {
  const { signups } = await importing('Email,,Note\nada@example.com,x,y\n')
  expect(signups).toMatchObject([{ metadata: { 'Column 2': 'x', Note: 'y' } }])
})

test('the first twenty rejected rows are shown', async () => {
  const { stdout } = await importing(`Email\n${'nobody\n'.repeat(21)}`, '--dry-run')
  expect(stdout.match(/^Row \d+/gm)).toEqual(Array.from({ length: 20 }, (_, at) => `Row ${at + 2}`))
})

test.each([[[]], [['email=Contact']]])(
  'two columns of one name are refused with what to do, also with --map %j',
  async (given) => {
    const twins = 'Contact,Email,Contact\nada,ada@example.com,x\n'
    const { code, stderr } = await importing(twins, ...given.flatMap((it) => ['--map', it]))
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: 'Two columns are called "Contact": rename one of them.\n',
    })
  },
)

test('a column that is called as a key of the metadata is told to be renamed', async () => {
  const content = 'Metadata,Email,Note\n"{""Note"":1}",ada@example.com,y\n'
  const { stdout } = await importing(content, '--dry-run')
  expect(stdout).toContain('have one name: rename that column')
})

test.each([
  [['email=D'], /no column "D" that --map email= says\. It has "Contact", "Name"\./],
  [['email=1'], /no column "1" that --map email= says/],
  [['email=contact'], /no column "contact" that --map email= says/],
  [['email=ada@example.com'], /no column that --map email= says/],
  [
    ['email=Name', 'name=Name'],
    /^--map email= and --map name= say one column\. Leave one of them out\./,
  ],
  [['tags=Name'], /no column Email: say which it is by --map email=COLUMN\. It has "Contact", "N/],
])('--map %j is refused with what to do', async (given, message) => {
  const content = 'Contact,Name\nada@example.com,Ada\n'
  const { code, stderr } = await importing(content, ...given.flatMap((it) => ['--map', it]))
  expect(code).toBe(2)
  expect(stderr).toMatch(message)
})

test.each(['--map=name=Ada', '--dry-run'])(
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
    'Name,E-mail,Joined,City,Tab,Rejected row,Rejected because\n' +
    'Ada,ada@example.com,2025-11-20,London,News,7,x\n' +
    'Grace,grace@navy.example,9.12.2025 14:30,Arlington,News,,\n' +
    'Bob,bob@example.com,2025-11-01,,,,\n' +
    'Alan,alan@example.com,,Wilmslow,News,,\n'
  const map = ['--map', 'timestamp=Joined', '--map', 'sheetTab=Tab']
  const { code, stdout } = await importing(content, ...map, '--dry-run', '--tab', 'All')
  expect({ code, lines: stdout.trimEnd().split('\n') }).toEqual({
    code: 0,
    lines: [
      'Column "Name": name',
      'Column "E-mail": email',
      'Column "Joined": timestamp',
      'Column "City": into Metadata',
      'Column "Tab": left out',
      'Dates from 2025-11-01T00:00:00.000Z to 2025-12-09T14:30:00.000Z.',
      'Rows without a date get the time of the import: 1.',
      '4 rows read: 4 would be added; 0 skipped, as their tab has the address; 0 rejected.',
    ],
  })
})

test('a dry run of NDJSON shows what each name becomes, and its JSON has all of it', async () => {
  const content = '{"email":"ada@example.com","timestamp":"1970-01-01","city":"London"}\n'
  const { stdout } = await importing(content, '--dry-run')
  expect(stdout).toContain(
    'Column "email": email\nColumn "timestamp": timestamp\nColumn "city": into',
  )
  const { stdout: json } = await importing(content, '--dry-run', '--json')
  const at = '1970-01-01T00:00:00.000Z'
  expect(JSON.parse(json)).toMatchObject({
    columns: [
      { name: 'email', field: 'email' },
      { name: 'timestamp', field: 'timestamp' },
      { name: 'city', field: null },
    ],
    dates: {
      earliest: at,
      latest: at,
      without: 0,
    },
  })
})
