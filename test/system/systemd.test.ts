import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { allDelivered } from '../../harness/delivery-state.ts'
import { createGoogleWorld } from '../../harness/google-world.ts'
import { postSignup } from '../../harness/post-signup.ts'
import { projectRoot } from '../../harness/source-file.ts'
import { startService } from '../../harness/start-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'

const unitFile = join(projectRoot, 'examples/systemd/rollcall.service')

async function analyze(...words: readonly string[]): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)('systemd-analyze', [...words])
  return stdout + stderr
}

/** The calls of a set such as `@system-service`, as systemd has it. */
async function callsOf(set: string): Promise<readonly string[]> {
  const lines = (await analyze('syscall-filter', set)).split('\n').map((line) => line.trim())
  const names = lines.filter((line) => /^@?\w/.test(line) && line !== set)
  const calls = names.map(async (name) => (name.startsWith('@') ? callsOf(name) : [name]))
  return (await Promise.all(calls)).flat()
}

/** The calls that the unit allows: its lines one after the other, of which those with `~` take away. */
async function allowedCalls(): Promise<ReadonlySet<string>> {
  const allowed = new Set<string>()
  const lines = (await readFile(unitFile, 'utf8')).matchAll(/^SystemCallFilter=(~?)(.*)$/gm)
  for (const [, without, sets = ''] of lines) {
    const calls = (await Promise.all(sets.split(' ').map(callsOf))).flat()
    for (const call of calls) {
      if (without === '~') allowed.delete(call)
      else allowed.add(call)
    }
  }
  return allowed
}

test.each([
  ['as it is', (unit: string) => unit],
  ['with its lines for the key file', (unit: string) => unit.replace(/^#(?=\w+=)/gm, '')],
])('systemd understands the unit %s', async (_, change) => {
  await using folder = await tempFolder()
  const copy = join(folder.path, 'rollcall.service')
  const unit = change(await readFile(unitFile, 'utf8'))
  await writeFile(copy, unit.replaceAll('/opt/rollcall/', `${projectRoot}/`))
  expect(await analyze('verify', '--man=no', copy)).toBe('')
})

test('systemd understands the units of the backup', async () => {
  await using folder = await tempFolder()
  const names = ['rollcall-backup.service', 'rollcall-backup.timer']
  for (const name of names) {
    const unit = await readFile(join(projectRoot, 'examples/systemd', name), 'utf8')
    await writeFile(join(folder.path, name), unit.replaceAll('/opt/rollcall/', `${projectRoot}/`))
  }
  const copies = names.map((name) => join(folder.path, name))
  expect(await analyze('verify', '--man=no', ...copies)).toBe('')
})

test.each([
  ['rollcall.service', 15],
  ['rollcall-backup.service', 20],
])('systemd calls the exposure of %s OK', async (name, threshold) => {
  const unit = join(projectRoot, 'examples/systemd', name)
  const report = await analyze('security', '--offline=yes', `--threshold=${threshold}`, unit)
  expect(report).toContain(`Overall exposure level for ${name}: 1.`)
})

test('the service makes no system call that the unit forbids', async () => {
  await using folder = await tempFolder()
  await using world = await createGoogleWorld()
  const trace = join(folder.path, 'trace')
  const under = ['strace', '-D', '-f', '-qq', '-e', 'signal=none', '-o', trace]
  await using service = await startService({ env: world.env, under })
  await postSignup(service.url, { email: 'ada@example.com' })
  await allDelivered(service)
  expect(await service.stop()).toBe(0)
  const made = (await readFile(trace, 'utf8')).matchAll(/^\d+ +(\w+)\(/gm)
  const calls = new Set([...made].map(([, name = '']) => name))
  expect(calls).toContain('fsync')
  // SQLite makes this call only for root, who runs the test.
  const allowed = new Set(await allowedCalls()).add('fchown')
  expect([...calls].filter((name) => !allowed.has(name))).toEqual([])
})
