import { readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { makeCrowd } from '../../harness/crowd.ts'
import { startCommand } from '../../harness/run-command.ts'
import { ServiceEnded, startService, type StartOptions } from '../../harness/start-service.ts'
import { layoutVersion } from '../../src/journal/tables/layout.ts'
import { dataFolder, left } from './erased-bytes-world.ts'

const gone = makeCrowd(200, 'gone')

/** A `DATA_DIR` with a journal of the last release, with more signups, and with remains of erased people. */
async function ofLastRelease({ more = 0 } = {}) {
  await using stack = new AsyncDisposableStack()
  const data = stack.use(await dataFolder())
  const folder = join(import.meta.dirname, '../upgrade/0.1.0')
  const journal = gunzipSync(await readFile(join(folder, 'journal.db.gz')))
  await writeFile(data.file, journal, { mode: 0o600 })
  const secret = await readFile(join(folder, 'journal.secret'))
  await writeFile(join(data.dataDir, 'journal.secret'), secret, { mode: 0o600 })
  {
    using plain = new DatabaseSync(data.file)
    plain.exec(`
      WITH RECURSIVE numbers (number) AS (
        SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < ${more})
      INSERT INTO signup SELECT number + 1000, randomblob(16), 1, 0, 'p' || number || '@example.com',
        'api', '', '', '', 0, '' FROM numbers WHERE ${more} > 0;
      CREATE TABLE once (email, filler); BEGIN`)
    // Each in a page of its own: the upgrade uses some of the free pages.
    const add = plain.prepare('INSERT INTO once VALUES (?, zeroblob(3000))')
    for (const { email } of gone) add.run(email)
    plain.exec('COMMIT; DROP TABLE once')
  }
  expect(await left(data.dataDir, gone)).toHaveLength(gone.length)
  const look = (sql: string) => {
    using reader = new DatabaseSync(data.file, { readOnly: true })
    return Object.values(reader.prepare(sql).get() ?? {})[0]
  }
  const signups = () => {
    expect(look('PRAGMA integrity_check')).toBe('ok')
    return look('SELECT count(*) FROM signup')
  }
  const version = () => look('PRAGMA user_version')
  const all = stack.move()
  return {
    ...data,
    before: { signups: signups(), version: version() },
    ...{ signups, version },
    left: () => left(data.dataDir, gone),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

async function startOnce(options: StartOptions): Promise<void> {
  await using service = await startService(options)
  await service.stop()
}

test('a start that is killed while it writes the journal anew loses nothing, and the next one does it', async () => {
  await using data = await ofLastRelease({ more: 4000 })
  const before = await readFile(data.file)
  const logged = async () => (await stat(`${data.file}-wal`).catch(() => undefined))?.size ?? 0
  const env = { HOST: '127.0.0.1', PORT: '0' }
  for (let tries = 1; ; tries++) {
    const service = startCommand([], { dataDir: data.dataDir, env })
    while ((await logged()) === 0) await sleep(1)
    service.kill('SIGKILL')
    await service.ended
    expect(data.signups()).toBe(data.before.signups)
    if (data.version() === data.before.version) break
    expect(tries, 'the kill came too late').toBeLessThan(20)
    for (const end of ['-wal', '-shm']) await rm(data.file + end, { force: true })
    await writeFile(data.file, before)
  }
  await startOnce(data)
  expect(await data.left()).toEqual([])
  expect(data.version()).toBe(layoutVersion)
  expect(data.signups()).toBe(data.before.signups)
})

test.runIf(process.platform === 'linux').each([
  ['write the journal anew', 100_000, gone.length],
  ['upgrade what was written anew', 200_000, 0],
])(
  'without room to %s, the service does not start, says so and loses nothing, and the next start does it',
  async (_, bytes, remains) => {
    await using data = await ofLastRelease()
    const under = ['prlimit', `--fsize=${bytes}:`]
    const ended = await startOnce({ ...data, under }).catch((error: unknown) => error)
    expect(ended).toBeInstanceOf(ServiceEnded)
    expect(String(ended)).toMatch(/journal\.db cannot be opened: disk I\/O error\. Check the disk/)
    expect(data.version()).toBe(data.before.version)
    expect(data.signups()).toBe(data.before.signups)
    expect(await data.left()).toHaveLength(remains)
    await startOnce(data)
    expect(await data.left()).toEqual([])
    expect(data.signups()).toBe(data.before.signups)
  },
)

test('while another process writes to a journal of the last release, the service does not start and changes nothing', async () => {
  await using data = await ofLastRelease()
  using other = new DatabaseSync(data.file)
  other.exec('PRAGMA journal_mode = WAL; BEGIN IMMEDIATE')
  await expect(startOnce(data)).rejects.toThrow(/journal\.db cannot be opened: database is locked/)
  expect(data.version()).toBe(data.before.version)
})
