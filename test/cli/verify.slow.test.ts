// @module-tag slow
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { EmulatorOptions } from '../../emulators/google-sheets/emulator.ts'
import { allDelivered } from '../../harness/delivery-state.ts'
import { createGoogleWorld, type GoogleWorld } from '../../harness/google-world.ts'
import { postSignups } from '../../harness/post-signup.ts'
import { type CommandOptions, runCommand } from '../../harness/run-command.ts'
import { type RunningService, startService } from '../../harness/start-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'

interface Report {
  readonly signups: Readonly<Record<string, number>>
  readonly rows: Readonly<Record<string, number>>
  readonly missing: readonly { readonly email: string }[]
  readonly edited: readonly { readonly email: string }[]
  readonly double: readonly { readonly sheetTab: string; readonly extra: number }[]
  readonly repaired: number | null
}

const people = ['ada', 'bob', 'eve', 'tim'].map((name) => `${name}@example.com`)

/** A service that has delivered `people`. */
interface Delivered extends AsyncDisposable {
  readonly service: RunningService
  readonly options: CommandOptions
  verify(...args: string[]): Promise<{ code: number | null; stderr: string; report: Report }>
  /** Changes the rows of the only tab as a person does, header left out. */
  change(edit: (rows: string[]) => string[]): Promise<void>
}

async function inWorkbook(): Promise<Delivered> {
  const data = await tempFolder()
  const file = join(data.path, 'sheets', 'Sheet1.csv')
  return delivered({ dataDir: data.path }, data, async (edit) => {
    const [header = '', ...lines] = (await readFile(file, 'utf8')).trimEnd().split('\r\n')
    await writeFile(file, [header, ...edit(lines)].join('\r\n') + '\r\n')
  })
}

async function inGoogle(
  emulated: EmulatorOptions = {},
): Promise<Delivered & { readonly google: GoogleWorld }> {
  const data = await tempFolder()
  const google = await createGoogleWorld(emulated)
  const handle = google.emulator.spreadsheet(google.spreadsheetId)
  const world = await delivered({ dataDir: data.path, env: google.env }, data, async (edit) => {
    const rows = handle.rows('Sheet1').slice(1)
    const edited = edit(rows.map((cells) => cells.join(','))).map((line) => line.split(','))
    handle.clearRows('Sheet1', 2)
    handle.appendRows('Sheet1', edited)
  })
  return {
    ...world,
    google,
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]()
      await google[Symbol.asyncDispose]()
    },
  }
}

async function delivered(
  options: CommandOptions & { readonly dataDir: string },
  folder: AsyncDisposable,
  change: Delivered['change'],
): Promise<Delivered> {
  await using started = new AsyncDisposableStack()
  started.use(folder)
  const service = started.use(await startService(options))
  await postSignups(service.url, people, 1)
  await allDelivered(service)
  const running = started.move()
  return {
    ...{ service, options, change },
    async verify(...args) {
      const { code, stdout, stderr } = await runCommand(['verify', '--json', ...args], options)
      const report = stdout === '' ? undefined : JSON.parse(stdout)
      return { code, stderr, report: report as Report }
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

describe.each([
  ['the workbook', inWorkbook],
  ['a Google Sheet', () => inGoogle()],
])('verify with %s', (_, create) => {
  test('finds that all agrees, however people sort and whatever they add', async () => {
    await using world = await create()
    const emptied = '                 ,,,,,,'
    const others = ['typed@example.com,2026-11-20', '', emptied]
    await world.change((rows) => [...rows.toReversed(), ...others])
    const { code, stderr, report } = await world.verify()
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(report).toMatchObject({
      signups: { present: 4, missing: 0, edited: 0, waiting: 0, elsewhere: 0, erased: 0 },
      rows: { all: 5, double: 0, others: 1 },
      missing: [],
    })
  })

  test('tells what is missing, double and edited, and repairs only what is missing', async () => {
    await using world = await create()
    await world.change(([ada = '', bob = '', eve = '', ...rest]) => [
      ada,
      ada,
      eve.replace('eve@', 'eva@'),
      ...rest.map((row) => row.replace(/T..:/, 'T99:')),
      ...(bob === '' ? ['bob was not there'] : []),
    ])
    const first = await world.verify()
    expect(first.code).toBe(1)
    expect(first.report).toMatchObject({
      signups: { present: 1, missing: 1, edited: 2 },
      rows: { all: 4, double: 1, others: 2 },
      missing: [{ email: 'bob@example.com', sheetTab: 'Sheet1' }],
      edited: [{ email: 'eve@example.com' }, { email: 'tim@example.com' }],
      double: [{ sheetTab: 'Sheet1', extra: 1 }],
      repaired: null,
    })
    expect(await world.verify('--repair', '--yes')).toMatchObject({
      code: 1,
      report: { repaired: 1 },
    })
    await allDelivered(world.service)
    const { report } = await world.verify('--repair', '--yes')
    expect(report).toMatchObject({
      signups: { present: 2, missing: 0, edited: 2, waiting: 0 },
      rows: { all: 5, double: 1, others: 2 },
      repaired: 0,
    })
  })

  test('--repair shows what it would write and asks, and only a yes changes anything', async () => {
    await using world = await create()
    await world.change((rows) => rows.slice(1))
    const ask = (input: string) => runCommand(['verify', '--repair'], { ...world.options, input })
    for (const input of ['', 'n\n', '\ny\n']) {
      const { code, stdout, stderr } = await ask(input)
      expect(code).toBe(1)
      expect(stdout).toContain('ada@example.com')
      expect(stderr).toBe(
        'Write 1 signup again? The rows come at the end of their tabs. [y/N]\nNothing was changed.\n',
      )
    }
    const repaired = await ask('yes\n')
    expect(repaired.code).toBe(0)
    expect(repaired.stderr).toContain('1 signup put back.')
    await allDelivered(world.service)
    expect(await world.verify()).toMatchObject({ code: 0, report: { rows: { all: 4 } } })
  })
})

test('a row that a person has doubled is a fault of its own, and no name of a tab rules the terminal', async () => {
  await using data = await tempFolder()
  await using service = await startService({ dataDir: data.path })
  await postSignups(service.url, people, 1)
  await allDelivered(service)
  await service.stop()
  const text = await readFile(join(data.path, 'sheets', 'Sheet1.csv'), 'utf8')
  const [, ada = ''] = text.split('\r\n')
  await writeFile(join(data.path, 'sheets', 'Sh\u001b[31m\u202e\nmet.csv'), `${text}${ada}\r\n`)
  await rm(join(data.path, 'sheets', 'Sheet1.csv'))
  const { code, stdout } = await runCommand(['verify'], { dataDir: data.path })
  expect(code).toBe(1)
  expect(stdout).toMatch(/^\S+Z {2}Sh\\u\{1b\}\[31m\\u\{202e\}\\u\{a\}met {2}1 too many$/m)
})

test('calls that fail for a moment are made again, and each one is in the ledger', async () => {
  await using world = await inGoogle()
  const { emulator } = world.google
  await world.service.stop()
  const before = emulator.counters.reads
  emulator.faults.add({ on: 'read', answer: 'drop', times: 2 })
  expect(await world.verify()).toMatchObject({ code: 0 })
  expect(emulator.counters.reads - before).toBe(5)
  const { stdout } = await runCommand(['status', '--json'], world.options)
  const { quota } = JSON.parse(stdout) as { quota: { perDay: { limit: number; left: number } } }
  const { reads, writes } = emulator.counters
  expect(quota.perDay.limit - quota.perDay.left).toBe(reads + writes)
})

test('a spreadsheet that cannot be read is told with what to do, and nothing is repaired', async () => {
  await using world = await inGoogle()
  const handle = world.google.emulator.spreadsheet(world.google.spreadsheetId)
  handle.share(world.google.email, 'none')
  const { code, stderr } = await world.verify('--repair', '--yes')
  expect(code).toBe(1)
  expect(stderr).toMatch(
    /^The spreadsheet cannot be read: The caller does not have permission\. Share/,
  )
})

test('while Google cannot read the title of a tab in a range, nothing is put back, and verify says what to do', async () => {
  await using world = await inGoogle({ model: { unreadableTitles: ['Odd'] } })
  const handle = world.google.emulator.spreadsheet(world.google.spreadsheetId)
  handle.addTab('Odd', handle.rows('Sheet1').slice(0, 2))
  handle.deleteRows('Sheet1', 2)
  const { code, stderr } = await world.verify('--repair', '--yes')
  expect(code).toBe(1)
  expect(stderr).toMatch(/Google cannot read the title of a tab: rename it\.\n$/)
  handle.renameTab('Odd', 'Even')
  expect(await world.verify('--repair', '--yes')).toMatchObject({ code: 0 })
})

test('verify makes no journal, and does not stop at a folder without tabs', async () => {
  await using data = await tempFolder()
  const { code, stderr } = await runCommand(['verify'], { dataDir: join(data.path, 'none') })
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('no such file') })
  await (await startService({ dataDir: data.path })).stop()
  expect(await runCommand(['verify'], { dataDir: data.path })).toMatchObject({ code: 0 })
})

test.each([
  [['--yes'], /^--yes goes with --repair\.\n$/],
  [['--repair', '--json'], /^--json asks nothing/],
])('%j is refused in one line', async (args, message) => {
  const { code, stderr } = await runCommand(['verify', ...args])
  expect(code).toBe(2)
  expect(stderr).toMatch(message)
})

test('a person sees the figures and who is missing', async () => {
  await using world = await inGoogle()
  await world.change((rows) => rows.slice(1))
  const { stdout } = await runCommand(['verify'], world.options)
  expect(stdout).toMatch(/^Signups with their row +3$/m)
  expect(stdout).toMatch(/^Missing: .*\n\d{4}-\S+Z {2}Sheet1 {2}ada@example\.com\n$/m)
})
