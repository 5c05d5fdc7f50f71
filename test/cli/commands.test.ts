import { execFile } from 'node:child_process'
import { symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { runCommand } from '../../harness/run-command.ts'
import { projectRoot } from '../../harness/source-file.ts'
import { startService } from '../../harness/start-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'

/** The arguments that each command needs. A new command needs a line here. */
const needed: Readonly<Record<string, readonly string[]>> = {
  serve: [],
  init: [],
  doctor: [],
  status: [],
  import: ['signups.csv'],
  export: [],
  verify: [],
  backfill: ['--all'],
  backup: ['journal.backup'],
  quarantine: [],
  person: ['-'],
  mail: ['allow', '-'],
  webhooks: [],
  forget: ['-'],
  restore: ['backup.db'],
  'migrate-journal': [],
}
const names = Object.keys(needed)

test('the help lists every command, and what every exit code means', async () => {
  const { code, stdout, stderr } = await runCommand(['--help'])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const [, list = ''] = stdout.split('Commands:\n')
  const listed = Array.from(list.matchAll(/^ {2}([\w-]+) /gm), ([, name]) => name)
  expect(listed).toEqual([...names, 'help'])
  expect(stdout).toMatch(/Exit codes: 0 .*; 1 .*; 2 /)
  expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(100)
})

test('a wrong command is refused with the nearest right one', async () => {
  expect(await runCommand(['statsu'])).toEqual({
    code: 2,
    stdout: '',
    stderr:
      "rollcall: unknown command 'statsu' (Did you mean status?) Use --help to see what there is.\n",
  })
})

test('with ROLLCALL_FOLDER, settings come from there, and file names stay those of the caller', async () => {
  await using home = await tempFolder()
  await using caller = await tempFolder()
  await writeFile(join(home.path, '.env'), 'DEFAULT_SHEET_TAB=Of the file\n')
  await writeFile(join(caller.path, 'list.csv'), 'Email\nada@example.com\n')
  const options = { folder: caller.path, env: { ROLLCALL_FOLDER: home.path } }
  expect(await runCommand(['import', 'list.csv'], options)).toMatchObject({ code: 0 })
  const { stdout } = await runCommand(['export'], { dataDir: join(home.path, 'data') })
  expect(stdout).toContain(',Of the file\r\n')
})

test('init refuses to set up one site when a file names the sites', async () => {
  const env = { ROLLCALL_CONFIG: '{"sites":{"launch":{}}}' }
  expect(await runCommand(['init'], { env })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Change that file'),
  })
})

test('a wrong argument that may be an address or a name is not repeated', async () => {
  const mistakes = [['ada@example.com'], ['status', 'ada@example.com'], ['status', 'Lovelace']]
  for (const args of mistakes) {
    const { code, stdout, stderr } = await runCommand(args)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/^rollcall: \S/)
    expect(stderr).not.toMatch(/ada|example\.com|Lovelace/i)
  }
})

test.each(names)('%s --help says how to use it', async (name) => {
  const { code, stdout, stderr } = await runCommand([name, '--help'])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(new RegExp(`^Usage: rollcall ${name} `))
})

test.each(names)(
  '%s refuses an unknown option in one line, with the nearest right one',
  async (name) => {
    const { code, stdout, stderr } = await runCommand([name, ...(needed[name] ?? []), '--hlep'])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/^rollcall: unknown option '--hlep' \(Did you mean --help\?\)[^\n]*\n$/)
  },
)

// Webhooks takes the number of one, and quarantine says what there is.
const few = names.filter((name) => name !== 'webhooks' && name !== 'quarantine')

test.each(few)('%s refuses an argument too many', async (name) => {
  const { code, stderr } = await runCommand([name, ...(needed[name] ?? []), 'more'])
  expect(code).toBe(2)
  expect(stderr).toMatch(/^rollcall: too many arguments for '[\w-]+'\.[^\n]*\n$/)
})

test.each(['quarantine ada@example.com', 'mail alow', 'mail'])(
  '%s is refused with the words that there are, and not repeated',
  async (words) => {
    const { code, stderr } = await runCommand(words.split(' '))
    expect(code).toBe(2)
    expect(stderr).toMatch(
      /^rollcall: right behind \w+, say ([a-z]+, )*[a-z]+ or help\. [^\n@]*\n$/,
    )
  },
)

test.each(names)('%s refuses wrong settings, all at once', async (name) => {
  const env = { PORT: 'eighty', DUPLICATES: 'perhaps' }
  const { code, stdout, stderr } = await runCommand([name, ...(needed[name] ?? [])], { env })
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toMatch(/^There are 2 problems in the settings\.\n/)
  for (const setting of Object.keys(env)) expect(stderr).toContain(`  ${setting}: `)
})

const reading = ['status', 'export', 'verify', 'backfill', 'backup', 'forget', 'import']
test.each(reading)('%s says what to do when DATA_DIR cannot be looked into', async (name) => {
  await using folder = await tempFolder()
  await writeFile(join(folder.path, 'signups.csv'), 'Email\nada@example.com\n')
  // As root may look into every folder, this one is a link to itself.
  await symlink('data', join(folder.path, 'data'))
  const options = { folder: folder.path, input: 'ada@example.com' }
  const { code, stderr } = await runCommand([name, ...(needed[name] ?? [])], options)
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringMatching(
      /^The data directory .*\/data cannot be used: .*\. Check the disk and the rights of the user/,
    ),
  })
})

test(
  'a command runs by npm, whatever Node.js npm has, and standard output is only its own',
  { tags: 'slow' },
  async () => {
    await using data = await tempFolder()
    await (await startService({ dataDir: data.path })).stop()
    const settings = { PATH: process.env['PATH'], HOME: process.env['HOME'], DATA_DIR: data.path }
    const { stdout } = await promisify(execFile)(
      'npm',
      ['run', '--silent', 'rollcall', '--', 'status', '--json'],
      { cwd: projectRoot, env: settings },
    )
    expect(JSON.parse(stdout)).toHaveProperty('waiting.signups', 0)
  },
)
