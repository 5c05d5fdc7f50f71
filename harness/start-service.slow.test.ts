// @module-tag slow
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { failedStart, startService } from './start-service.ts'

/** A stand-in for the service. It prints its settings, listens, and ends as `END` says. */
const standIn = `
import { createServer } from 'node:http'
console.error(JSON.stringify({ secret: process.env.SECRET ?? null, data: process.env.DATA_DIR }))
if (process.env.END === 'early') {
  console.error('PORT: expected a number')
  process.exitCode = 2
} else {
  const server = createServer((request, response) => response.end('here'))
  server.listen(Number(process.env.PORT), process.env.HOST, () => {
    console.log('Rollcall listens on http://127.0.0.1:' + server.address().port)
  })
  process.on('SIGTERM', () => server.close(() => (process.exitCode = 3)))
}
`

let folder = ''
let program = ''

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rollcall-stand-in-'))
  program = join(folder, 'stand-in.mjs')
  await writeFile(program, standIn)
})

afterAll(() => rm(folder, { recursive: true }))

test.each(['SIGTERM', 'exit'])(
  'it ends with the process that started it, when that ends by %s',
  async (end) => {
    const starter = `
      const { startService } = await import(${JSON.stringify(join(import.meta.dirname, 'start-service.ts'))})
      console.log((await startService({ program: ${JSON.stringify(program)} })).pid)
      if (${JSON.stringify(end)} === 'exit') process.exit()`
    const child = spawn(process.execPath, ['--input-type=module', '--eval', starter], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [printed]: unknown[] = await once(child.stdout, 'data')
    const pid = Number(printed)
    expect(pid).toBeGreaterThan(0)
    if (end === 'SIGTERM') child.kill(end)
    await once(child, 'exit')
    try {
      await expect.poll(() => isRunning(pid)).toBe(false)
    } finally {
      if (isRunning(pid)) process.kill(pid, 'SIGKILL')
    }
  },
)

test('a start that should fail and does not is an error, and leaves no process', async () => {
  const error = await failedStart({ program, dataDir: folder }).catch((it: unknown) => it)
  expect(String(error)).toContain('The service should not have started')
  const ended = await failedStart({ program, env: { END: 'early' } })
  expect(ended.code).toBe(2)
})

test('settings of this machine do not reach it, settings of the test do', async () => {
  process.env['SECRET'] = 'of this machine'
  try {
    await using without = await startService({ program })
    expect(without.output()).toContain('"secret":null')
    await using given = await startService({ program, env: { SECRET: 'of the test' } })
    expect(given.output()).toContain('"secret":"of the test"')
  } finally {
    delete process.env['SECRET']
  }
})

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
