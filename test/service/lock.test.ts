import { existsSync } from 'node:fs'
import { rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'

import { postSignup } from '../../harness/post-signup.ts'
import { readTab } from '../../harness/read-workbook.ts'
import { startCommand } from '../../harness/run-command.ts'
import { failedStart, type ServiceEnded, startService } from '../../harness/start-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'

const refused = {
  code: 1,
  output: expect.stringMatching(/in use by another process[\s\S]*Deleting \S+lock does not help/),
} satisfies Partial<Record<keyof ServiceEnded, unknown>>

test(
  'a process makes its lock again when it is deleted, with a warning, and the lock keeps the next process out',
  { tags: 'slow' },
  async () => {
    await using folder = await tempFolder()
    await using service = await startService({ dataDir: folder.path })
    const lock = join(folder.path, 'lock')
    await rm(lock)
    await expect.poll(service.output).toContain('it was made again')
    const { mode } = await stat(lock)
    if (process.platform !== 'win32') expect(mode & 0o777).toBe(0o600)
    const second = await failedStart({ dataDir: folder.path })
    expect(second).toMatchObject(refused)
    // The first one notices nothing.
    expect((await postSignup(service.url, { email: 'ada@example.com' })).status).toBe(202)
    expect(await service.stop()).toBe(0)
  },
)

test(
  'a start waits for the process that holds the lock, says so, and serves when that has ended',
  { tags: 'slow' },
  async () => {
    await using folder = await tempFolder()
    await using first = await startService({ dataDir: folder.path })
    const env = { HOST: '127.0.0.1', PORT: '0' }
    const next = startCommand(['serve'], { env, dataDir: folder.path })
    await expect
      .poll(next.stderr)
      .toMatch(/Another process uses DATA_DIR\. The start waits for it, for 10 seconds at most/)
    expect(await first.stop()).toBe(0)
    await expect.poll(next.stdout).toContain('Rollcall listens on')
    next.kill('SIGTERM')
    expect(await next.ended).toMatchObject({ code: 0 })
  },
)

test.each(['journal.db', ''])(
  'a service stops when data/%s is moved away, and says that the journal is gone',
  async (name) => {
    await using folder = await tempFolder()
    const dataDir = join(folder.path, 'data')
    await using service = await startService({ dataDir })
    await rename(join(dataDir, name), join(folder.path, 'elsewhere'))
    expect(await service.exited).toBe(1)
    expect(service.output()).toContain('the journal was deleted or replaced')
  },
)

test(
  'a process whose lock another one has taken stops, and no row is written twice',
  { tags: 'slow' },
  async () => {
    await using folder = await tempFolder()
    await using first = await startService({ dataDir: folder.path })
    let isLoading = true
    const accepted: string[] = []
    const load = async (url: string, name: string) => {
      for (let index = 0; isLoading; index++) {
        const email = `${name}-${index}@example.com`
        const status = await postSignup(url, { email }).then(
          (answer) => answer.status,
          () => 0,
        )
        if (status === 202) accepted.push(email)
        else await new Promise((resolve) => setTimeout(resolve, 20))
      }
    }
    const loads = ['a', 'b', 'c', 'd'].map((name) => load(first.url, `first-${name}`))
    await expect.poll(() => accepted.length).toBeGreaterThan(100)

    // The first process stands still while the lock is deleted and the second one takes it.
    process.kill(first.pid, 'SIGSTOP')
    await rm(join(folder.path, 'lock'))
    const starting = startService({ dataDir: folder.path })
    // The second process locks the file right after it makes it, and then waits for a second.
    let seen = 0
    await expect.poll(() => (existsSync(join(folder.path, 'lock')) ? ++seen : 0)).toBe(12)
    process.kill(first.pid, 'SIGCONT')

    expect(await first.exited).toBe(1)
    expect(first.output()).toContain('another process uses DATA_DIR now: this one stops')
    await using second = await starting
    loads.push(load(second.url, 'second'))
    await expect.poll(() => accepted.some((email) => email.startsWith('second'))).toBe(true)
    isLoading = false
    await Promise.all(loads)
    await expect
      .poll(async (): Promise<unknown> => (await fetch(`${second.url}/api/ready`)).json())
      .toMatchObject({ delivery: { backlog: 0 } })

    const rows = readTab(folder.path, 'Sheet1.csv').map(([email]) => email)
    expect(rows).toHaveLength(new Set(rows).size)
    expect(rows).toEqual(expect.arrayContaining(accepted))
  },
)
