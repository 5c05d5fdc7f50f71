import { execFile } from 'node:child_process'
import { chown, mkdir, readFile, readdir, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { projectRoot } from '../../harness/source-file.ts'
import { tempFolder } from '../../harness/temp-folder.ts'

const examples = join(projectRoot, 'examples/systemd')
const nobody = 65534

interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** A machine where the service's user is "nobody", with folders of the unit and of the person who calls. */
async function makeMachine() {
  const folder = await tempFolder()
  const path = (...names: string[]) => join(folder.path, ...names)
  for (const name of ['state', 'caller', 'state/backups']) {
    await mkdir(path(name), { mode: 0o700 })
    await chown(path(name), nobody, nobody)
  }
  const onMachine = (text: string) =>
    text
      .replaceAll('/var/lib/rollcall', path('state'))
      .replaceAll('/etc/rollcall', path('etc'))
      .replaceAll('/opt/rollcall', projectRoot)
      .replace('user=rollcall', 'user=nobody')
  await mkdir(path('etc'), { mode: 0o700 })
  const command = path('rollcall')
  await writeFile(command, onMachine(await readFile(join(examples, 'rollcall'), 'utf8')), {
    mode: 0o755,
  })
  // Others may go through the folder, as through those of a real machine.
  await promisify(execFile)('chmod', ['711', folder.path])
  const run = (program: string, args: readonly string[], cwd: string, input = '') =>
    new Promise<Ran>((resolve) => {
      const env = {
        PATH: '/usr/bin:/bin',
        DEFAULT_SHEET_TAB: 'Of the caller',
        DATA_DIR: '/nowhere',
      }
      const child = execFile(program, [...args], { cwd, env }, (error, stdout, stderr) => {
        resolve({ code: error ? Number(error.code) : 0, stdout, stderr })
      })
      // A command may end before it has read what it does not want.
      child.stdin?.on('error', () => {}).end(input)
    })
  return {
    path,
    onMachine,
    run,
    /** Writes a file that only its owner may read. */
    async write(name: string, text: string, owner = nobody) {
      await writeFile(path(name), text, { mode: 0o600 })
      await chown(path(name), owner, owner)
    },
    rollcall: (args: readonly string[], input?: string) =>
      run(command, args, path('caller'), input),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  }
}

test('the installed command runs as the user of the service, with its settings, from any folder', async () => {
  await using machine = await makeMachine()
  await machine.write('state/.env', 'DEFAULT_SHEET_TAB=Of the service\nSHEET_TABS=Not these\n')
  const environment =
    '# Root\'s\n\nno line\n9X=1\nA B=1\nSHEET_TABS="Ada\'s  tab, other"\nMAX_SHEET_TABS=0'
  await machine.write('etc/environment', environment, 0)
  const list = `my "list" $HOME's.csv`
  await machine.write(`caller/${list}`, 'Email\nada@example.com\n')
  expect(await machine.rollcall(['import', list])).toMatchObject({ code: 0, stderr: '' })
  const inTab = ['import', list, '--tab', "Ada's  tab", '--json']
  const { code, stdout } = await machine.rollcall(inTab)
  expect({ code, report: JSON.parse(stdout) }).toMatchObject({ code: 0, report: { added: 1 } })
  expect(await machine.rollcall(['import', list, '--tab', 'Not these'])).toMatchObject({ code: 2 })
  expect(await machine.rollcall(['export', '--out', 'all people.csv'])).toMatchObject({ code: 0 })
  const file = machine.path('caller/all people.csv')
  expect(await stat(file)).toMatchObject({ uid: nobody, mode: 0o100600 })
  const rows = (await readFile(file, 'utf8')).trimEnd().split('\r\n').slice(1)
  expect(rows.map((row) => row.split(',').at(-1))).toEqual(['Of the service', "Ada's  tab"])
  const journal = await stat(machine.path('state/data/journal.db'))
  expect(journal).toMatchObject({ uid: nobody, gid: nobody })
})

test('no variable of the environment file changes which program the installed command runs, or as whom', async () => {
  await using machine = await makeMachine()
  await machine.write('etc/environment', 'user=root\nprogram=/nowhere\nPATH=/nowhere\n', 0)
  await machine.write('caller/list.csv', 'Email\nada@example.com\n')
  expect(await machine.rollcall(['import', 'list.csv'])).toMatchObject({ code: 0, stderr: '' })
  expect(await stat(machine.path('state/data/journal.db'))).toMatchObject({ uid: nobody })
})

test('the installed command passes on standard input and the exit code, and no right of root', async () => {
  await using machine = await makeMachine()
  await machine.write('caller/list.csv', 'Email\nada@example.com\n')
  expect(await machine.rollcall(['import', 'list.csv'])).toMatchObject({ code: 0 })
  const forgotten = await machine.rollcall(['forget', '-'], 'ada@example.com\n')
  expect(forgotten).toMatchObject({ code: 0, stdout: expect.stringContaining('1 signup') })
  expect(await machine.rollcall(['export', ''])).toMatchObject({ code: 2 })
  await machine.write('caller/of-root.csv', 'Email\nada@example.com\n', 0)
  expect(await machine.rollcall(['import', 'of-root.csv'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Run the command as a user who may read it'),
  })
  const daemon = [
    '--reuid',
    '1',
    '--regid',
    '1',
    '--clear-groups',
    machine.path('rollcall'),
    'status',
  ]
  expect(await machine.run('setpriv', daemon, '/')).toEqual({
    code: 2,
    stdout: '',
    stderr: 'rollcall: only root may run it: sudo rollcall status\n',
  })
})

test('the backup service makes a backup that can be restored, and keeps those of two weeks', async () => {
  await using machine = await makeMachine()
  await machine.write('caller/list.csv', 'Email\nada@example.com\n')
  expect(await machine.rollcall(['import', 'list.csv'])).toMatchObject({ code: 0 })
  const before = [
    ['rollcall-2026-01-01-000000.backup', 20],
    ['rollcall-2026-01-02-000000.backup.partial', 20],
    ['rollcall-2026-01-08-000000.backup', 13],
    ['mine.backup', 20],
  ] as const
  for (const [name, days] of before) {
    await machine.write(`state/backups/${name}`, '')
    const at = Date.now() / 1000 - days * 24 * 60 * 60
    await utimes(machine.path('state/backups', name), at, at)
  }
  const unit = await readFile(join(examples, 'rollcall-backup.service'), 'utf8')
  // systemd turns %% into %, and $$ into $.
  const lines = [...unit.matchAll(/^ExecStart=(.*)$/gm)].map(([, line = '']) =>
    machine
      .onMachine(line)
      .replaceAll('%%', '%')
      .replaceAll('$$', () => '$'),
  )
  expect(lines).toHaveLength(2)
  const asNobody = [
    '--reuid',
    'nobody',
    '--regid',
    'nogroup',
    '--clear-groups',
    'env',
    '-i',
    'sh',
    '-c',
  ]
  for (const line of lines) {
    const ran = await machine.run('setpriv', [...asNobody, line], machine.path('state'))
    expect(ran).toMatchObject({ code: 0, stderr: '' })
  }
  const [mine, old, made, ...others] = (await readdir(machine.path('state/backups'))).sort()
  expect({ mine, old, others }).toEqual({ mine: 'mine.backup', old: before[2][0], others: [] })
  expect(made).toMatch(/^rollcall-\d{4}-\d\d-\d\d-\d{6}\.backup$/)
  const restored = await machine.rollcall(['restore', `../state/backups/${made}`, '--replace'])
  expect(restored).toMatchObject({ code: 0, stdout: expect.stringContaining('with 1 signup') })
})
