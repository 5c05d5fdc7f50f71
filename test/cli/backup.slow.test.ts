// @module-tag slow
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
import { makeSignup, makeSignups } from '../../harness/make-signup.ts'
import { postSignup } from '../../harness/post-signup.ts'
import { runCommand, startCommand } from '../../harness/run-command.ts'
import { startService } from '../../harness/start-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'

interface Report {
  readonly file: string
  readonly completeTo: string
  readonly signups: number
  readonly notIncluded: readonly string[]
}

/** The ids of the signups in a copied journal. */
async function idsIn(file: string): Promise<ReadonlySet<string>> {
  await using journal = openSqliteJournal(file)
  return new Set((await journal.reader.page(0, 1_000_000)).map(({ signup }) => signup.id))
}

test('a backup under load is sound, and has every signup that was answered before it began', async () => {
  await using folder = await tempFolder()
  const dataDir = join(folder.path, 'data')
  await using service = await startService({ dataDir, env: { RATE_LIMIT_PER_MINUTE: '0' } })
  const answered: { readonly id: string; readonly at: number }[] = []
  let isDone = false
  let number = 0
  const visit = async () => {
    while (!isDone) {
      number += 1
      const response = await postSignup(service.url, { email: `person${number}@example.com` })
      const { id } = (await response.json()) as { id: string }
      answered.push({ id, at: Date.now() })
    }
  }
  const visits = Promise.all(Array.from({ length: 20 }, visit))
  await expect.poll(() => answered.length).toBeGreaterThan(1_000)
  const before = answered.map(({ id }) => id)
  const file = join(folder.path, 'backup.db')
  const backup = startCommand(['backup', file, '--json'], { dataDir })
  const { code, stdout, stderr } = await backup.ended
  const after = answered.length
  isDone = true
  await visits
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(after, 'signups while the backup ran').toBeGreaterThan(before.length)
  const report = JSON.parse(stdout) as Report
  expect(report.notIncluded).toEqual([join(dataDir, 'sheets'), join(dataDir, 'journal.secret')])
  expect(await readdir(folder.path)).toEqual(['backup.db', 'data'])
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  {
    using copy = new DatabaseSync(file, { readOnly: true })
    expect(copy.prepare('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }])
  }
  const ids = await idsIn(file)
  expect(ids.size).toBe(report.signups)
  expect(ids.isSupersetOf(new Set(before))).toBe(true)
  const toldAt = Date.parse(report.completeTo)
  const told = answered.filter(({ at }) => at < toldAt).map(({ id }) => id)
  expect(told.length).toBeGreaterThanOrEqual(before.length)
  expect(ids.isSupersetOf(new Set(told))).toBe(true)
})

async function withJournal(dataDir: string): Promise<void> {
  await mkdir(dataDir)
  await using journal = openSqliteJournal(join(dataDir, 'journal.db'))
  await journal.intake.append([makeSignup(), makeSignup()])
}

test('a backup tells what it has and has not, for people', async () => {
  await using folder = await tempFolder()
  const dataDir = join(folder.path, 'data')
  await withJournal(dataDir)
  const file = join(folder.path, 'backup.db')
  const { code, stdout } = await runCommand(['backup', file], { dataDir })
  expect(code).toBe(0)
  expect(stdout).toMatch(/^2 signups are in \S+backup\.db: all that were answered before 2\S+Z\.\n/)
  expect(stdout).toContain(`Not in it: ${join(dataDir, 'sheets')}, `)
})

test.each(['backup.db', 'backup.db.partial'])(
  'a backup never goes over %s or through a link of that name',
  async (name) => {
    await using folder = await tempFolder()
    const dataDir = join(folder.path, 'data')
    await withJournal(dataDir)
    const backup = () => runCommand(['backup', join(folder.path, 'backup.db')], { dataDir })
    const taken = join(folder.path, name)
    await writeFile(join(folder.path, 'target'), 'kept')
    await symlink('target', taken)
    const refused = {
      code: 1,
      stdout: '',
      stderr: expect.stringContaining(`${name} cannot be made: it exists`),
    }
    expect(await backup()).toEqual(refused)
    expect(await readFile(join(folder.path, 'target'), 'utf8')).toBe('kept')
    expect((await readdir(folder.path)).sort()).toEqual([name, 'data', 'target'].sort())
  },
)

/** Begins a backup of 50 MB, and sends it a signal in the middle. */
async function interrupted(folder: string, signal: NodeJS.Signals) {
  const dataDir = join(folder, 'data')
  await mkdir(dataDir)
  {
    await using journal = openSqliteJournal(join(dataDir, 'journal.db'))
    await journal.intake.append(makeSignups(5_000, { metadata: `{"a":"${'x'.repeat(9_900)}"}` }))
  }
  const file = join(folder, 'backup.db')
  // So that this process sees the first of it in time.
  const command = startCommand(['backup', file], { dataDir, under: ['nice', '-n', '10'] })
  const sizeOf = () =>
    stat(`${file}.partial`).then(
      ({ size }) => size,
      () => 0,
    )
  await expect.poll(sizeOf, { interval: 1 }).toBeGreaterThan(0)
  command.kill(signal)
  const result = await command.ended
  // Else the signal came when all was done.
  expect(existsSync(file), 'the backup was not done yet').toBe(false)
  return { dataDir, file, result }
}

test('Ctrl-C ends a backup in the middle, and leaves nothing of it', async () => {
  await using folder = await tempFolder()
  const { result } = await interrupted(folder.path, 'SIGINT')
  const stderr = 'Stopped before everything was done.\n'
  expect(result).toEqual({ code: 1, stdout: '', stderr })
  expect(await readdir(folder.path)).toEqual(['data'])
})

test('what a killed backup has left is named with what to do, and the next one is sound', async () => {
  await using folder = await tempFolder()
  const { dataDir, file, result } = await interrupted(folder.path, 'SIGKILL')
  expect(result.code).toBe(null)
  const again = await runCommand(['backup', file], { dataDir })
  expect(again).toMatchObject({ code: 1, stdout: '' })
  expect(again.stderr).toMatch(/backup\.db\.partial .* killed .* When none is running, delete it/)
  await rm(`${file}.partial`)
  expect(await runCommand(['backup', file], { dataDir })).toMatchObject({ code: 0, stderr: '' })
  expect(await readdir(folder.path)).toEqual(['backup.db', 'data'])
  expect((await idsIn(file)).size).toBe(5_000)
})
