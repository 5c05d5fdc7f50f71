import { execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { glob, readFile, writeFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { endWithUs } from '../../harness/end-with-us.ts'
import { environmentOfAnyProgram } from '../../harness/environment.ts'
import { patienceMs } from '../../harness/patience.ts'
import { projectRoot } from '../../harness/source-file.ts'
import { tempFolder, type TempFolder } from '../../harness/temp-folder.ts'

const run = promisify(execFile)
const bin = (name: string) => join(projectRoot, 'node_modules/.bin', name)
/** In bytes: as packed, and as a tar file, which is a little more than what is installed. */
const sizeMax = { packed: 600_000, unpacked: 2_500_000 }

let packed: TempFolder
let tarball: string

beforeAll(async () => {
  packed = await tempFolder()
  const script = join(projectRoot, 'scripts/package.ts')
  execFileSync(process.execPath, [script, '--to', packed.path], { encoding: 'utf8' })
  const { version } = JSON.parse(
    await readFile(join(projectRoot, 'package.json'), 'utf8'),
  ) as Record<string, string>
  tarball = join(packed.path, `rollcall-${version}.tgz`)
})

afterAll(() => packed[Symbol.asyncDispose]())

/** Installs the package into an empty folder, and Node of this version beside it. */
async function install(version: number) {
  await using stack = new AsyncDisposableStack()
  const { path } = stack.use(await tempFolder())
  const node = `node-${process.platform}-${process.arch}`
  await writeFile(join(path, 'package.json'), '{ "private": true, "type": "module" }')
  const flags = ['--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline']
  await run('npm', ['install', ...flags, tarball, `${node}@${version}`], { cwd: path })
  const env = {
    ...environmentOfAnyProgram(),
    PATH: join(path, 'node_modules', node, 'bin') + delimiter + (process.env['PATH'] ?? ''),
  }
  const rollcall = join(path, 'node_modules/.bin/rollcall')
  const command = (...args: string[]) => run(rollcall, args, { cwd: path, env })
  const all = stack.move()
  return { path, env, rollcall, command, [Symbol.asyncDispose]: () => all.disposeAsync() }
}

/** `rollcall` in its folder, as a person starts it. */
async function serve({ path, env, rollcall }: Awaited<ReturnType<typeof install>>) {
  const child = spawn(rollcall, {
    cwd: path,
    env: { ...env, HOST: '127.0.0.1', PORT: '0' },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  endWithUs(child)
  const ended = once(child, 'exit')
  let printed = ''
  child.stdout.on('data', (text: Buffer) => (printed += text.toString()))
  const url = await vi.waitUntil(() => /http:\/\/[\w.]+:\d+/.exec(printed)?.[0], patienceMs)
  return {
    url,
    async [Symbol.asyncDispose]() {
      child.kill()
      expect(await ended).toEqual([0, null])
    },
  }
}

test.each([24, 26])(
  'in an empty folder, the package serves and runs its commands on Node %i',
  async (version) => {
    await using folder = await install(version)
    expect(await run('node', ['--version'], { env: folder.env })).toMatchObject({
      stdout: expect.stringMatching(`^v${version}\\.`),
    })
    await using service = await serve(folder)
    const client = `import { createClient } from 'rollcall/client'
      const client = createClient({ baseUrl: '${service.url}' })
      const { status } = await client.signup({ email: 'ada@example.com' }, { wait: 20 })
      console.log(status)`
    const { stdout } = await run('node', ['--input-type=module', '-e', client], {
      cwd: folder.path,
      env: folder.env,
    })
    expect(stdout).toBe('written\n')
    const rows = await readFile(join(folder.path, 'data/sheets/Sheet1.csv'), 'utf8')
    expect(rows.split('\r\n')).toEqual([
      'Email,Timestamp,Source,Name,Tags,Metadata,Sheet Tab',
      expect.stringMatching(/^ada@example.com,/),
      '',
    ])
    for (const path of ['/', '/embed.js', '/embed/later.js', '/api/config.schema.json']) {
      expect(await fetch(service.url + path)).toMatchObject({ status: 200 })
    }
    expect((await folder.command('doctor')).stdout).toContain('No fault found.')
    expect((await folder.command('export')).stdout).toContain('ada@example.com')
  },
)

test('the client of the package has types, and fits into a script for browsers', async () => {
  await using folder = await install(26)
  const source = `import { createClient, type SignupResult } from 'rollcall/client'
    const client = createClient({ baseUrl: 'https://signup.example.com' })
    export const accepted: Promise<SignupResult> = client.signup({ email: 'ada@example.com' })\n`
  await writeFile(join(folder.path, 'page.ts'), source)
  const types = (resolution: readonly string[]) =>
    run(bin('tsc'), ['--noEmit', '--strict', ...resolution, 'page.ts'], { cwd: folder.path })
  await types(['--module', 'nodenext'])
  await types(['--module', 'esnext', '--moduleResolution', 'bundler'])
  await writeFile(join(folder.path, 'page.ts'), source.replace('email:', 'mail:'))
  await expect(types(['--module', 'nodenext'])).rejects.toMatchObject({
    stdout: expect.stringContaining("'mail' does not exist"),
  })
  const { errors } = await build({
    entryPoints: [join(folder.path, 'page.ts')],
    ...{ bundle: true, write: false, format: 'esm', platform: 'browser', logLevel: 'silent' },
  })
  expect(errors).toEqual([])
})

test('publint and attw find nothing in the package', async () => {
  expect((await run(bin('publint'), [tarball])).stdout).toContain('All good!')
  // A package of ES modules: resolutions of CommonJS are not meant to work.
  await run(bin('attw'), [tarball, '--profile', 'esm-only'])
})

test('the package may be published', async () => {
  const { stdout } = await run('tar', ['xOf', tarball, 'package/package.json'])
  expect(JSON.parse(stdout)).toMatchObject({ name: 'rollcall', version: expect.anything() })
  expect(JSON.parse(stdout)).not.toHaveProperty('private')
})

test('the package is small, and has no test, no TypeScript and no data', async () => {
  const packed = await readFile(tarball)
  expect(packed.length).toBeLessThan(sizeMax.packed)
  expect(gunzipSync(packed).length).toBeLessThan(sizeMax.unpacked)
  const { stdout } = await run('tar', ['tzf', tarball])
  const names = stdout.trim().split('\n')
  const others = names.filter((name) => !/\.(js|json|css|md|d\.ts|html|yml|svg)$/.test(name))
  expect(others.toSorted()).toEqual([
    'package/.env.example',
    'package/LICENSE',
    'package/examples/components/Signup.astro',
    'package/examples/components/Signup.jsx',
    'package/examples/components/Signup.svelte',
    'package/examples/components/Signup.vue',
    'package/examples/proxies/Caddyfile',
    'package/examples/proxies/nginx.conf',
    'package/examples/systemd/rollcall',
    'package/examples/systemd/rollcall-backup.service',
    'package/examples/systemd/rollcall-backup.timer',
    'package/examples/systemd/rollcall.service',
    'package/examples/webhooks/receiver.mjs',
    'package/examples/webhooks/receiver.py',
  ])
  expect(
    names.filter((name) => /\.test\.|^package\/(test|harness|data|scripts)\//.test(name)),
  ).toEqual([])
})

test('every link of a page of the package leads to a file of the package', async () => {
  await using folder = await tempFolder()
  await run('tar', ['xzf', tarball, '-C', folder.path])
  const links: string[] = []
  for await (const page of glob('package/{*,docs/**/*,examples/**/*}.md', { cwd: folder.path })) {
    const text = await readFile(join(folder.path, page), 'utf8')
    for (const [, path = ''] of text.matchAll(/\]\(([^\s()#]+)/g)) {
      if (!/^\w+:/.test(path)) links.push(join(dirname(page), path))
    }
  }
  expect(links).toContain('package/docs/privacy.md')
  expect(links.filter((path) => !existsSync(join(folder.path, path)))).toEqual([])
})
