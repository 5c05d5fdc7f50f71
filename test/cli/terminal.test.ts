import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
import { makeSignup } from '../../harness/make-signup.ts'
import { runCommand } from '../../harness/run-command.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import { keys, startOnTerminal } from '../../harness/terminal.ts'

/** It turns what follows around, and begins a sequence that a terminal obeys. */
const evil = '\u202egnp\u009b2J'
const shown = '\\u{202e}gnp\\u{9b}2J'
const ruling = /[\u202e\u009b]/

async function withJournal(dataDir: string): Promise<void> {
  await mkdir(join(dataDir, 'sheets'), { recursive: true })
  await using journal = openSqliteJournal(join(dataDir, 'journal.db'))
  await journal.intake.append([makeSignup({ name: evil })])
  const trouble = { reason: 'tabFile', error: 'cannot be written', hint: 'Mend it' }
  const tabs = [{ name: `News${evil}`, place: 'tab 2', ...trouble }]
  const note = { delivery: { state: 'ok' }, tabs, warnings: [], since: '2026-11-20T10:00:00.000Z' }
  await journal.delivery.noteFact('delivery', JSON.stringify(note))
}

test('a name in a table does not rule the terminal', async () => {
  await using data = await tempFolder()
  await withJournal(data.path)
  using terminal = startOnTerminal(['status'], { folder: data.path, env: { DATA_DIR: '.' } })
  await terminal.sees(`News${shown}: cannot be written`)
  expect(await terminal.ended).toBe(1)
  expect(terminal.text()).not.toMatch(ruling)
})

test('a name in JSON does not rule the terminal, and is the same for a program', async () => {
  await using data = await tempFolder()
  await withJournal(data.path)
  const { stdout } = await runCommand(['status', '--json'], { dataDir: data.path })
  expect(stdout).not.toMatch(ruling)
  expect(JSON.parse(stdout)).toHaveProperty('tabsSetAside.0.tab', `News${evil}`)
})

test('a name in an error does not rule the terminal', async () => {
  await using data = await tempFolder()
  await withJournal(data.path)
  for (const args of [
    ['status', '--site', evil],
    ['status', `--watch${evil}`],
    ['verify', '--site', `la\u202eunch`],
  ]) {
    const { code, stderr } = await runCommand(args, { dataDir: data.path })
    expect(code).toBe(2)
    expect(stderr).not.toMatch(ruling)
    expect(stderr).toContain('\\u{202e}')
  }
})

test('a value in a question does not rule the terminal', async () => {
  await using folder = await tempFolder()
  await writeFile(join(folder.path, '.env'), `ALLOWED_ORIGINS=https://${evil}.example\n`)
  using terminal = startOnTerminal(['init'], { folder: folder.path })
  const { enter, down } = keys
  for (const [asks, typed] of [
    ['Where should the signups go?', down + enter],
    ['A challenge that keeps bots out?', enter],
    ['The web pages that may send signups', `*${enter}`],
  ] as const) {
    await terminal.sees(asks)
    terminal.type(typed)
  }
  await terminal.sees(`.env sets ALLOWED_ORIGINS to "https://${shown}.example"`)
  terminal.type(keys.ctrlC)
  expect(await terminal.ended).toBe(1)
  expect(terminal.text()).not.toMatch(ruling)
})

test('an export has each name as it is', async () => {
  await using data = await tempFolder()
  await withJournal(data.path)
  const { stdout } = await runCommand(['export'], { dataDir: data.path })
  expect(stdout).toContain(`,${evil},`)
})
