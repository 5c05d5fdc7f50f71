import { spawn, type StdioOptions } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

import { patienceMs } from '../../harness/patience.ts'
import { postSignup } from '../../harness/post-signup.ts'
import { readTab } from '../../harness/read-workbook.ts'
import { projectRoot } from '../../harness/source-file.ts'
import { tempFolder } from '../../harness/temp-folder.ts'

/** Starts the service, reads its first line, does `then`, signs up once, and stops it by SIGTERM. */
async function run(stdio: StdioOptions, then: 'closeBoth' | 'goOn') {
  await using folder = await tempFolder()
  const child = spawn(process.execPath, [join(projectRoot, 'src/start.js')], {
    cwd: folder.path,
    stdio,
    // A process that hangs is killed.
    signal: AbortSignal.timeout(patienceMs),
    killSignal: 'SIGKILL',
    env: { PATH: process.env['PATH'], HOST: '127.0.0.1', PORT: '0', LOG_LEVEL: 'trace' },
  })
  const closed = once(child, 'close')
  try {
    const [welcome]: unknown[] = await once(child.stdout ?? child, 'data')
    const url = /http:\S+/.exec(String(welcome))?.[0] ?? 'no url'
    if (then === 'closeBoth') {
      child.stdout?.destroy()
      child.stderr?.destroy()
    }
    const waiting = { prefer: 'wait=20' }
    const { status } = await postSignup(url, { email: 'ada@example.com' }, waiting)
    child.kill('SIGTERM')
    const [code, signal]: unknown[] = await closed
    const rows = readTab(join(folder.path, 'data'), 'Sheet1.csv')
    return { status, code, signal, rows: rows.length }
  } finally {
    child.kill('SIGKILL')
    await closed
  }
}

const drained = { status: 201, code: 0, signal: null, rows: 2 }

describe('output of the service', () => {
  test('the service goes on and stops as usual when nobody reads its output any more', async () => {
    expect(await run(['ignore', 'pipe', 'pipe'], 'closeBoth')).toEqual(drained)
  })

  test.skipIf(!existsSync('/dev/full'))(
    'the service goes on and stops as usual when the disk of its log file is full',
    async () => {
      const full = openSync('/dev/full', 'w')
      try {
        expect(await run(['ignore', 'pipe', full], 'goOn')).toEqual(drained)
      } finally {
        closeSync(full)
      }
    },
  )
})
