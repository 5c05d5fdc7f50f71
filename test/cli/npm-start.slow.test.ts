// @module-tag slow
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { copyFile, mkdir, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { kill } from 'node:process'
import { expect, test } from 'vitest'
import { endWithUs } from '../../harness/end-with-us.ts'
import { freePort } from '../../harness/free-port.ts'
import { postSignup } from '../../harness/post-signup.ts'
import { projectRoot } from '../../harness/source-file.ts'
import { tempFolder } from '../../harness/temp-folder.ts'

// As with a process manager, the signal reaches only npm and not the processes that npm started.
test.each([
  ['start', 'SIGTERM'],
  ['start', 'SIGINT'],
  ['sandbox', 'SIGTERM'],
  ['dev', 'SIGINT'],
] as const)(
  'npm run %s stops with %s, and starts again on the same port',
  async (script, signal) => {
    await using data = await tempFolder()
    const port = String(await freePort())
    await using first = await startByNpm(script, { DATA_DIR: data.path, PORT: port })
    first.npm.kill(signal)
    expect(await first.exited).toEqual([0, null])
    await using second = await startByNpm(script, { DATA_DIR: data.path, PORT: port })
    expect((await fetch(`${second.url}/api/health`)).status).toBe(200)
    second.npm.kill(signal)
    expect(await second.exited).toEqual([0, null])
    await expect(fetch(`${second.url}/api/health`)).rejects.toThrow()
  },
)

test('npm run dev starts the service again with its data when a source file changes', async () => {
  await using dev = await startByNpm('dev', { PORT: '0' })
  const { npm, url, output, exited } = dev
  const first = { email: 'ada@example.com', sheetTab: 'News' }
  expect((await postSignup(url, first)).status).toBe(202)
  await expect.poll(output).toContain('News 2 │ ada@example.com')
  await utimes(join(projectRoot, 'src/main.ts'), new Date(), new Date())
  const urls = () =>
    Array.from(output().matchAll(new RegExp(listens, 'g')), (match) => match[1] ?? '')
  await expect.poll(urls).toHaveLength(2)
  expect((await postSignup(urls()[1] ?? '', { ...first, email: 'bob@example.com' })).status).toBe(
    202,
  )
  await expect.poll(output).toContain('News 3 │ bob@example.com')
  npm.kill('SIGINT')
  expect(await exited).toEqual([0, null])
  await expect(fetch(`${urls()[1] ?? ''}/api/health`)).rejects.toThrow()
})

test.each([
  ['in a clone', 'src', /npm start/],
  ['in the package', 'node_modules/rollcall/src', /Install a newer one/],
])('a start with an old Node.js %s ends with what to do', async (_, folder, advice) => {
  await using project = await tempFolder()
  await mkdir(join(project.path, folder), { recursive: true })
  const start = join(project.path, folder, 'start.js')
  await copyFile(join(projectRoot, 'src/start.js'), start)
  await writeFile(join(project.path, folder, '../package.json'), '{ "type": "module" }')
  const old = `data:text/javascript,Object.defineProperty(process,"versions",{value:{node:"20.20.2"}})`
  const child = spawn(process.execPath, ['--import', old, start], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const { output, exited } = watch(child)
  expect(await exited).toEqual([2, null])
  expect(output()).toMatch(/^Rollcall needs Node\.js 24 or newer, and this is 20\.20\.2\. .*\n$/)
  expect(output()).toMatch(advice)
})

async function startByNpm(script: string, settings: Record<string, string>) {
  const ours = Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name))
  const npm = spawn('npm', ['run', script], {
    cwd: projectRoot,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...Object.fromEntries(ours), HOST: '127.0.0.1', ...settings },
    // A process group, so that a test that fails ends what npm has started, too.
    detached: true,
  })
  const killGroup = () => npm.exitCode === null && kill(-(npm.pid ?? 0), 'SIGKILL')
  endWithUs(npm, killGroup)
  const { output, exited } = watch(npm)
  const end = async () => {
    killGroup()
    await exited
  }
  try {
    const url = () => listens.exec(output())?.[1] ?? ''
    await expect.poll(url).toMatch(/^http:/)
    return { npm, url: url(), output, exited, [Symbol.asyncDispose]: end }
  } catch (error) {
    await end()
    throw error
  }
}

const listens = /Rollcall listens on (http:\/\/[\w.:]+)/

/** The output of a process so far, and its exit code and signal once it and its output have ended. */
function watch(child: ChildProcessByStdio<null, Readable, Readable>) {
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text))
  return { output: () => output, exited: once(child, 'close') }
}
