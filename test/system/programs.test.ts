import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { path } from './world/program.ts'

const run = promisify(execFile)
const env = { ...process.env, PATH: path }

const programs = [
  ['haproxy', '-v'],
  ['nginx', '-v'],
  ['caddy', 'version'],
  ['soffice', '--version'],
  ['strace', '--version'],
  ['faketime', '--version'],
  ['pgbouncer', '--version'],
  ['pg_basebackup', '--version'],
  ['firefox-esr', '--version'],
  ['promtool', '--version'],
  ['buildah', '--version'],
] as const

test.each(programs)('%s is installed', async (program, argument) => {
  const { stdout, stderr } = await run(program, [argument], { env })
  expect(stdout + stderr).toMatch(/\d+\.\d+/)
})
