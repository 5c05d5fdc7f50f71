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

test('the 28th column is AB', async () => {
  const content = `${','.repeat(27)}x\n${','.repeat(27)}ada@example.com\n`
  const { signups } = await importing(content, '--map', 'email=AB')
  expect(signups).toMatchObject([{ email: 'ada@example.com' }])
})

test('columns of one name go into Metadata, all but the first with their letters', async () => {
  const content = 'Note,Email,Note,Note,Note (column C)\nx,ada@example.com,y,z,w\n'
  const { signups } = await importing(content)
  expect(signups).toMatchObject([
    {
      metadata: {
        Note: 'x',
        'Note (column C)': 'w',
        'Note (column C, 2)': 'y',
        'Note (column D)': 'z',
      },
    },
  ])
})

test.each([
  [['email=Contact'], /^Columns A and C have the name that --map email= says: .*--map email=A\b/],
  [['email=D'], /no column that --map email= says\. It has A "Contact", B "Name", C "Contact"\./],
  [['email=4'], /no column that --map email= says\. It has A "Contact", B "Name", C "Contact"\./],
  [['email=0'], /no column that --map email= says/],
  [['email=c'], /no column that --map email= says/],
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
