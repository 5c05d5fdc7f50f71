import { readFile, stat, statfs, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { makeCrowd } from '../../harness/crowd.ts'
import { startCommand } from '../../harness/run-command.ts'
import { startService, type StartOptions } from '../../harness/start-service.ts'
import { filesWith } from '../../src/platform/node/files-with.ts'
import { append, dataFolder, forget, left } from './erased-bytes-world.ts'

const gone = makeCrowd(200, 'gone')
const begins = 'the journal is written anew, once'
const done = 'the journal was written anew'
const failed = 'the journal cannot be written anew'

/** A `DATA_DIR` with a journal that an earlier version restored, and where these people were forgotten. */
async function restoredBefore(staying = makeCrowd(20, 'staying')) {
  await using stack = new AsyncDisposableStack()
  await using old = await dataFolder()
  const data = stack.use(await dataFolder())
  {
    await using journal = old.open()
    await append(journal, gone)
    await append(journal, staying)
  }
  {
    using plain = new DatabaseSync(old.file)
    plain.exec('PRAGMA application_id = 0')
    plain.prepare('VACUUM INTO ?').run(data.file)
  }
  {
    await using journal = data.open()
    await forget(journal, gone)
  }
  expect((await left(data.dataDir, gone)).length).toBeGreaterThan(0)
  const look = (sql: string) => {
    using reader = new DatabaseSync(data.file, { readOnly: true })
    return Object.values(reader.prepare(sql).get() ?? {})[0]
  }
  const all = stack.move()
  return {
    ...data,
    left: () => left(data.dataDir, gone),
    signups: () => {
      expect(look('PRAGMA integrity_check')).toBe('ok')
      return look('SELECT count(*) FROM signup')
    },
    applicationId: () => look('PRAGMA application_id'),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

/** Starts the service, stops it, and returns what it has logged. */
async function logOf(options: StartOptions): Promise<string> {
  await using service = await startService(options)
  await service.stop()
  return service.output()
}

test('the first start with a journal that an earlier version restored leaves no byte of forgotten people, and says so', async () => {
  await using data = await restoredBefore()
  const first = await logOf(data)
  expect(first).toContain(begins)
  expect(first).toContain(done)
  expect(await data.left()).toEqual([])
  expect(data.signups()).toBe(220)
  expect(await logOf(data)).not.toContain('written anew')
})

test('the first start with a journal of the last release leaves no byte of who was erased from it', async () => {
  await using data = await dataFolder()
  const released = join(import.meta.dirname, '..', 'upgrade')
  const journal = gunzipSync(await readFile(join(released, 'journal.db.gz')))
  await writeFile(data.file, journal, { mode: 0o600 })
  const secret = await readFile(join(released, 'journal.secret'))
  await writeFile(join(data.dataDir, 'journal.secret'), secret, { mode: 0o600 })
  const erased = 'erased@example.com'
  {
    using plain = new DatabaseSync(data.file)
    plain.exec(`CREATE TABLE once (email); INSERT INTO once VALUES ('${erased}'); DROP TABLE once`)
  }
  expect(await filesWith(data.dataDir, erased)).toEqual(['journal.db'])
  expect(await logOf(data)).toContain(done)
  expect(await filesWith(data.dataDir, erased)).toEqual([])
})

test('a new journal is not written anew', async () => {
  await using data = await dataFolder()
  for (let start = 0; start < 2; start++) expect(await logOf(data)).not.toContain('written anew')
})

test('a start that is killed while it writes the journal anew loses nothing, and the next one does it', async () => {
  await using data = await restoredBefore(makeCrowd(4000, 'staying'))
  const before = await readFile(data.file)
  const env = { HOST: '127.0.0.1', PORT: '0' }
  for (let tries = 1; ; tries++) {
    const service = startCommand([], { dataDir: data.dataDir, env })
    while (!service.stderr().includes(begins)) await sleep(1)
    service.kill('SIGKILL')
    await service.ended
    expect(data.signups()).toBe(4200)
    if (data.applicationId() === 0) break
    expect(tries, 'the kill came too late').toBeLessThan(20)
    await writeFile(data.file, before)
  }
  expect((await data.left()).length).toBeGreaterThan(0)
  expect(await logOf(data)).toContain(done)
  expect(await data.left()).toEqual([])
  expect(data.signups()).toBe(4200)
})

test('without room to write the journal anew the service starts, says so, and does it at the next start', async () => {
  await using data = await restoredBefore()
  const { size } = await stat(data.file)
  const { bavail, bsize } = await statfs(data.dataDir)
  // It seems to take all that is free.
  await truncate(data.file, bavail * bsize)
  expect(await logOf(data)).toContain(failed)
  await truncate(data.file, size)
  const under = ['prlimit', `--fsize=${Math.round(size / 2)}:`]
  if (process.platform === 'linux') expect(await logOf({ ...data, under })).toContain(failed)
  expect(data.signups()).toBe(220)
  expect((await data.left()).length).toBeGreaterThan(0)
  expect(await logOf(data)).toContain(done)
  expect(await data.left()).toEqual([])
})
