import { readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createGoogleWorld } from '../../harness/google-world.ts'
import { postBulk } from '../../harness/post-signup.ts'
import { runCommand } from '../../harness/run-command.ts'
import { startService } from '../../harness/start-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'

test('status tells beside a running service, and after it was killed, how many signups wait', async () => {
  await using google = await createGoogleWorld()
  await using data = await tempFolder()
  // There is no such spreadsheet, so all signups wait.
  const env = { ...google.env, SHEETS_SHEET_ID: `${google.spreadsheetId}x` }
  await using service = await startService({ env, dataDir: data.path })
  const signups = ['ada', 'bob', 'eve'].map((name) => ({ email: `${name}@example.com` }))
  expect((await postBulk(service.url, { signups })).status).toBe(202)
  const tell = () => runCommand(['status', '--json'], { env, dataDir: data.path })
  const beside = await tell()
  expect(beside).toMatchObject({ code: 0, stderr: '' })
  expect(JSON.parse(beside.stdout)).toEqual({ waiting: 3, waitingSince: expect.any(String) })
  await service.kill()
  expect(await tell()).toEqual(beside)
  const { stdout } = await runCommand(['status'], { env, dataDir: data.path })
  expect(stdout).toMatch(/^Waiting for the spreadsheet {2}3\n/)
  // What it leaves behind is as private as the journal, and the service starts with it.
  for (const name of await readdir(data.path)) {
    expect((await stat(join(data.path, name))).mode & 0o077, name).toBe(0)
  }
  expect(await (await startService({ env, dataDir: data.path })).stop()).toBe(0)
})

test('status without a journal says what to do, and makes none', async () => {
  await using folder = await tempFolder()
  const { code, stdout, stderr } = await runCommand(['status'], { dataDir: folder.path })
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(/^The journal \S*journal\.db cannot be opened: .* Check DATA_DIR, .*\n$/)
  expect(await readdir(folder.path)).toEqual([])
})

test('status reads the settings from the file .env in its working folder', async () => {
  await using folder = await tempFolder()
  await writeFile(join(folder.path, '.env'), 'DATA_DIR=elsewhere\n')
  const { stderr } = await runCommand(['status'], { folder: folder.path })
  expect(stderr).toContain(join(folder.path, 'elsewhere', 'journal.db'))
})
