import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const run = promisify(execFile)
/** Debian keeps servers where only root looks. */
const env = { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin` }

const programs = [
  ['haproxy', '-v'],
  ['nginx', '-v'],
  ['caddy', 'version'],
  ['soffice', '--version'],
  ['strace', '--version'],
  ['faketime', '--version'],
] as const

test.each(programs)('%s is installed', async (program, argument) => {
  const { stdout, stderr } = await run(program, [argument], { env })
  expect(stdout + stderr).toMatch(/\d+\.\d+/)
})
