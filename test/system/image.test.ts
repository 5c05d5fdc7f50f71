import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { freePort } from '../../harness/free-port.ts'
import { patienceMs } from '../../harness/patience.ts'
import { postSignup } from '../../harness/post-signup.ts'
import { addressesIn } from '../../harness/read-workbook.ts'
import { type TempFolder, tempFolder } from '../../harness/temp-folder.ts'
import { buildImage, type Image } from './world/image.ts'

let folder: TempFolder
let image: Image

beforeAll(async () => {
  folder = await tempFolder()
  image = await buildImage(folder.path)
})

afterAll(() => folder[Symbol.asyncDispose]())

/** Runs a command beside the service. Resolves with its exit code and output. */
async function run(command: readonly string[], settings: Readonly<Record<string, string>>) {
  const child = image.start(command, settings)
  const ended = once(child, 'close')
  const output = await Promise.all([text(child.stdout), text(child.stderr)])
  const [code] = (await ended) as [number]
  return { code, output: output.join('') }
}

/** Process 1 of a container, by its id outside. */
function processOne(pid = 0): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim())
}

test('the image stores a signup in its volume only, tells its health, and ends with 0 at SIGTERM as process 1', async () => {
  const port = String(await freePort())
  const settings = { PORT: port, HOST: '127.0.0.1' }
  const data = join(image.root, 'data')
  expect((await run(image.healthcheck, settings)).code).toBe(1)

  const child = image.start(image.entrypoint, settings)
  const output = Promise.all([text(child.stdout), text(child.stderr)])
  const ended = once(child, 'exit')
  const url = `http://127.0.0.1:${port}`
  await vi.waitFor(() => fetch(`${url}/api/health`), { timeout: patienceMs, interval: 50 })
  expect(await run(image.healthcheck, settings)).toEqual({ code: 0, output: '' })
  expect((await postSignup(url, { email: 'ada@example.com' })).status).toBe(202)
  await expect.poll(() => addressesIn(data)).toEqual(['ada@example.com'])
  const doctor = await run([...image.entrypoint, 'doctor'], settings)
  expect(doctor).toMatchObject({ code: 0, output: expect.stringContaining('No fault found.') })

  process.kill(processOne(child.pid), 'SIGTERM')
  expect(await ended).toEqual([0, null])
  expect((await output).join('')).not.toMatch(/EROFS|EACCES/)
  const { uid, mode } = await stat(join(data, 'journal.db'))
  expect([uid, mode & 0o777]).toEqual([1000, 0o600])
})

test('a start on a read-only disk finds its code compiled', async () => {
  const { output } = await run([...image.entrypoint, '--help'], {
    NODE_DEBUG_NATIVE: 'COMPILE_CACHE',
  })
  expect(output).toMatch(/reading cache from .*src\/cli\/program\.ts.*success/)
})

test('the image has what the service needs, without tests, keys and a second Node.js', async () => {
  const app = join(image.root, 'app')
  const entries = await readdir(app)
  expect(entries.toSorted()).toEqual([
    ...['config.schema.json', 'dist', 'node_modules', 'package-lock.json', 'package.json', 'src'],
  ])
  const files = await readdir(app, { recursive: true })
  const ours = files.filter((it) => !it.startsWith('node_modules/'))
  expect(ours.filter((it) => /\.test\.ts$|(^|\/)\.env/.test(it))).toEqual([])
  const sizes = await Promise.all(files.map(async (it) => (await stat(join(app, it))).size))
  const bytes = sizes.reduce((sum, it) => sum + it, 0)
  console.info(`the image adds ${(bytes / 1e6).toFixed(1)} MB to its base`)
  expect(bytes).toBeLessThan(32e6)
})

test('a builder sees the files that the image needs, and no secret, journal, test or package', async () => {
  const wanted = ['package.json', 'src/start.js', 'browser/embed.ts', 'config.schema.json']
  const others = [
    ...['.env', 'src/.env', 'service-account.json', 'data/journal.db', 'node_modules/zod/index.js'],
    ...['.git/config', 'src/signup/parse.test.ts', 'examples/compose/.env.rollcall'],
  ]
  expect((await image.copied([...wanted, ...others])).toSorted()).toEqual(wanted.toSorted())
})
