import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, test } from 'vitest'

import { endWithUs } from '../../harness/end-with-us.ts'
import { startMailServer } from '../../harness/mail-world.ts'
import { postSignup } from '../../harness/post-signup.ts'
import { runCommand } from '../../harness/run-command.ts'
import { startService } from '../../harness/start-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'

/** From now on, each sync of this process fails. */
async function failSyncs(pid: number): Promise<AsyncDisposable> {
  const inject = 'inject=fsync,fdatasync:error=EIO'
  const strace = spawn('strace', ['-f', '-p', String(pid), '-e', inject, '-o', '/dev/null'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  endWithUs(strace)
  const ended = once(strace, 'close')
  let output = ''
  for await (const chunk of strace.stderr.setEncoding('utf8')) {
    output += String(chunk)
    if (output.includes('attached')) break
  }
  return {
    [Symbol.asyncDispose]: async () => {
      strace.kill()
      await ended
    },
  }
}

test('a signup whose commit the disk did not confirm is told as unknown, and is one row after a crash and a retry', async () => {
  await using folder = await tempFolder()
  const dataDir = join(folder.path, 'data')
  const [ada, key] = [{ email: 'ada@example.com' }, { 'idempotency-key': 'the-same-request' }]
  {
    await using service = await startService({ dataDir })
    await using _ = await failSyncs(service.pid)
    const answer = await postSignup(service.url, ada, key)
    expect(answer.status).toBe(503)
    expect(await answer.json()).toMatchObject({ outcome: 'unknown' })
    await service.kill()
  }
  await using service = await startService({ dataDir })
  const again = await postSignup(service.url, ada, key)
  expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([202, 'true'])
  const { stdout } = await runCommand(['export', '--format', 'ndjson'], { dataDir })
  expect(stdout.match(/ada@example\.com/g)).toHaveLength(1)
})

test('while a commit fails, no mail goes for it', async () => {
  await using mail = await startMailServer()
  await using service = await startService({ env: { ...mail.env, CONFIRMATION: 'mail' } })
  await using _ = await failSyncs(service.pid)
  expect((await postSignup(service.url, { email: 'ada@example.com' })).status).toBe(503)
  await service.kill()
  expect(await mail.mails()).toEqual([])
})
