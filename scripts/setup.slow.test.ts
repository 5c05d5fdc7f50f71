// @module-tag slow
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'

/** What Node.js 20 says of itself. */
const oldNode =
  'data:text/javascript,Object.defineProperty(process,"versions",{value:{node:"20.20.2"}})'
/** A package with a Node.js for this machine, and one for no machine that we know. */
const here = { os: [process.platform], cpu: [process.arch], bin: { node: 'bin/node' } }
const elsewhere = { ...here, os: ['aix'] }
const packagesToRun = packagesOf('55 MB')
const allPackages = packagesOf('460 MB')
const nodeHere = 'Installing Node.js, 211 MB, from the npm registry (npm ci) ...\n'

let folder = ''
let clone = ''

interface Result {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** The project's own package.json. */
const ours = JSON.parse(await readFile(join(import.meta.dirname, '../package.json'), 'utf8')) as {
  readonly scripts: { readonly prerollcall: string }
}

/** A small project with our set-up script and two dependencies, tarballs: no registry is needed. */
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rollcall-setup-'))
  clone = join(folder, 'clone')
  await mkdir(join(clone, 'scripts'), { recursive: true })
  const scripts = (await readdir(import.meta.dirname)).filter((it) => /^setup.*\.js$/.test(it))
  for (const name of scripts) {
    await copyFile(join(import.meta.dirname, name), join(clone, 'scripts', name))
  }
  await depend('1.0.0')
  await bringNode({})
})

afterEach(() => rm(folder, { recursive: true, force: true }))

test('a fresh clone gets only what runs, with one line, and a second run finds nothing to do', async () => {
  expect(await setup()).toEqual({ code: 0, stdout: packagesToRun, stderr: '' })
  expect(await installedVersion()).toBe('1.0.0')
  await expect(installedVersion('tool')).rejects.toThrow('ENOENT')
  expect(await setup()).toEqual({ code: 0, stdout: '', stderr: '' })
})

test('the tools for tests come when they are asked for, and then stay up to date', async () => {
  await setup()
  expect((await setup('--for', 'check')).stdout).toBe(allPackages)
  expect(await installedVersion('tool')).toBe('1.0.0')
  await depend('1.1.0')
  expect((await setup('--for', 'start')).stdout).toBe(allPackages)
  expect(await installedVersion('tool')).toBe('1.1.0')
})

test('an install runs no script of a package, even one that npm would run', async () => {
  const postinstall = `node -e "require('fs').writeFileSync('ran', '')"`
  await bringNode({ here: { ...here, hasInstallScript: true, scripts: { postinstall } } })
  const installed = join(clone, 'scripts/node/node_modules/here')
  expect(await setup('--for', 'service')).toMatchObject({ code: 0 })
  expect(await readdir(installed)).not.toContain('ran')
})

test('what was installed by hand is not installed again', async () => {
  expect(await run('npm', ['ci', '--include=dev', '--no-audit'])).toMatchObject({ code: 0 })
  expect(await setup()).toEqual({ code: 0, stdout: '', stderr: '' })
})

test('a start is content with what npm ci --omit=dev installed', async () => {
  expect(await run('npm', ['ci', '--omit=dev', '--no-audit'])).toMatchObject({ code: 0 })
  expect(await setup('--for', 'start')).toEqual({ code: 0, stdout: '', stderr: '' })
})

test('our Node.js comes only where that of the machine is too old', async () => {
  await bringNode({ here, elsewhere })
  expect((await setup()).stdout).toBe(packagesToRun)
  expect(await setupOnOldNode()).toEqual({ code: 0, stdout: nodeHere, stderr: '' })
  expect(await readlink(linkOfNode())).toBe('../../scripts/node/node_modules/here/bin/node')
  expect(await setupOnOldNode()).toEqual({ code: 0, stdout: '', stderr: '' })
})

test.each(['check', 'service'])(
  'our Node.js comes for a %s, whatever the machine has, and stays when npm removes its link',
  async (purpose) => {
    await bringNode({ here, elsewhere })
    expect((await setup('--for', purpose)).stdout).toContain(nodeHere)
    await rm(linkOfNode())
    expect(await setup('--for', purpose)).toEqual({ code: 0, stdout: '', stderr: '' })
    expect(await readlink(linkOfNode())).toBe('../../scripts/node/node_modules/here/bin/node')
    await bringNode({ here, elsewhere }, '1.1.0')
    expect((await setup('--for', purpose)).stdout).toBe(nodeHere)
  },
)

test('where there is no Node.js of ours for the machine, its own does, unless it is too old', async () => {
  await bringNode({ elsewhere })
  expect(await setup('--for', 'check')).toMatchObject({ code: 0 })
  expect(await setupOnOldNode()).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /^Rollcall needs Node\.js 24 or newer\. This one is .* install it .*\n$/,
    ),
  })
})

test('an install that was interrupted is made anew, and its lock holds nobody up', async () => {
  await setup()
  await rm(join(clone, 'node_modules', '.package-lock.json'))
  await rm(join(clone, 'node_modules', 'dependency'), { recursive: true })
  const turnOfTheKilled = join(clone, '.setup-running')
  await writeFile(turnOfTheKilled, '')
  await utimes(turnOfTheKilled, 0, 0)
  expect(await setup()).toMatchObject({ code: 0 })
  expect(await installedVersion()).toBe('1.0.0')
})

test('of two commands at once one installs and the other waits for it', async () => {
  const both = await Promise.all([setup(), setup()])
  expect(both.map(({ code }) => code)).toEqual([0, 0])
  const printed = both.map(({ stdout }) => stdout).join('')
  expect(printed.match(/Installing/g)).toHaveLength(1)
  expect(await installedVersion()).toBe('1.0.0')
})

test('npm start installs first and then starts', async () => {
  const started = await run('npm', ['start', '--silent'])
  expect(started.code).toBe(0)
  expect(started.stdout).toContain('started with 1.0.0')
})

test('npm run rollcall installs first, and standard output has only what the command prints', async () => {
  const { stdout, stderr } = await run('npm', ['run', '--silent', 'rollcall', '--', 'status'])
  expect(stdout).toBe('rollcall status\n')
  expect(stderr).toBe(packagesToRun)
})

test('a registry that cannot be reached is reported with what to do', async () => {
  const lockfile = join(clone, 'package-lock.json')
  const resolved = 'http://127.0.0.1:1/dependency.tgz'
  const lock = (await readFile(lockfile, 'utf8')).replace(
    /"file:[^"]*1\.0\.0\.tgz"/g,
    `"${resolved}"`,
  )
  const manifest = await readFile(join(clone, 'package.json'), 'utf8')
  await writeFile(lockfile, lock)
  await writeFile(
    join(clone, 'package.json'),
    manifest.replaceAll(/"file:[^"]*"/g, `"${resolved}"`),
  )
  const emptyCache = { npm_config_cache: join(folder, 'empty') }
  const failed = await run(process.execPath, ['scripts/setup.js'], emptyCache)
  expect(failed.code).toBe(1)
  expect(failed.stderr).toContain('Installing with npm ci failed. Check the network')
})

test('a machine without npm is told where to get it', async () => {
  const failed = await run(process.execPath, ['scripts/setup.js'], { PATH: folder })
  expect(failed.code).toBe(1)
  expect(failed.stderr).toContain('npm itself could not be run')
  expect(failed.stderr).toContain('https://nodejs.org')
})

test('what browsers load is built when its sources are newer, and not otherwise', async () => {
  await setup()
  const source = join(clone, 'browser', 'embed.ts')
  const built = join(clone, 'dist', 'embed.js')
  const build = `import { appendFileSync, mkdirSync } from 'node:fs'
    export async function buildBrowser() {
      mkdirSync('dist', { recursive: true })
      appendFileSync('dist/embed.js', 'built ')
    }`
  await mkdir(join(clone, 'browser'))
  await writeFile(source, '')
  await writeFile(join(clone, 'scripts', 'build-browser.js'), build)
  await setup()
  await setup()
  expect(await readFile(built, 'utf8')).toBe('built ')
  const later = Date.now() / 1000 + 60
  await utimes(source, later, later)
  await setup()
  expect(await readFile(built, 'utf8')).toBe('built built ')
})

test('after an install the service is compiled, once', async () => {
  await setup()
  const program = `import { appendFileSync, mkdirSync } from 'node:fs'
    mkdirSync('node_modules/.cache/rollcall', { recursive: true })
    appendFileSync('started', process.argv.slice(2).join(' ') + ';')`
  await mkdir(join(clone, 'src'))
  await writeFile(join(clone, 'src', 'start.js'), program)
  const started = () => readFile(join(clone, 'started'), 'utf8')
  await setup()
  await setup()
  expect(await started()).toBe('--help;')
  await depend('1.1.0')
  await setup('--for', 'bench')
  expect(await started()).toBe('--help;--help;')
})

test('an unknown purpose is refused with the known ones', async () => {
  expect(await setup('--for', 'tests')).toEqual({
    code: 1,
    stdout: '',
    stderr:
      'Cannot set up for --for tests: use --for start|sandbox|service|check|test|system|bench.\n',
  })
})

function packagesOf(size: string): string {
  return `Installing the packages of package-lock.json, ${size}, from the npm registry (npm ci) ...\n`
}

/** Makes the clone depend on this version of a package to run and of a tool for tests. */
async function depend(version: string): Promise<void> {
  const locked = [
    await pack({ name: 'dependency', version }, {}),
    await pack({ name: 'tool', version }, { dev: true }),
  ]
  const manifest = {
    name: 'clone',
    type: 'module',
    version: '0.0.0',
    scripts: {
      prestart: 'node scripts/setup.js',
      prerollcall: ours.scripts.prerollcall,
      rollcall: 'echo rollcall',
      start: `node -p "'started with ' + require('dependency/package.json').version"`,
    },
    dependencies: { dependency: tarball('dependency', version) },
    devDependencies: { tool: tarball('tool', version) },
  }
  await writeManifest(clone, manifest, locked)
}

/** Makes the clone bring a Node.js in these packages, each for some machines. */
async function bringNode(packages: Record<string, object>, version = '1.0.0'): Promise<void> {
  const names = Object.keys(packages)
  const locked = await Promise.all(
    names.map((name) => pack({ name, version, ...packages[name] }, { optional: true })),
  )
  const manifest = {
    name: 'node-of-clone',
    version: '0.0.0',
    optionalDependencies: Object.fromEntries(names.map((name) => [name, tarball(name, version)])),
  }
  const nodeFolder = join(clone, 'scripts/node')
  await mkdir(nodeFolder, { recursive: true })
  await writeManifest(nodeFolder, manifest, locked)
}

async function writeManifest(
  to: string,
  manifest: { readonly name: string; readonly version: string },
  locked: readonly (readonly [string, object])[],
): Promise<void> {
  const { name, version } = manifest
  const packages = { '': manifest, ...Object.fromEntries(locked) }
  const lock = { name, version, lockfileVersion: 3, requires: true, packages }
  await writeFile(join(to, 'package.json'), JSON.stringify(manifest))
  await writeFile(join(to, 'package-lock.json'), JSON.stringify(lock))
}

function tarball(name: string, version: string): string {
  return `file:${join(folder, `${name}-${version}.tgz`)}`
}

/** A tarball of a package, with a program, and the entry of package-lock.json for it. */
async function pack(manifest: { name: string; version: string }, kind: object) {
  const source = join(folder, `${manifest.name}-${manifest.version}`)
  await mkdir(join(source, 'package/bin'), { recursive: true })
  await writeFile(join(source, 'package/bin/node'), '')
  await writeFile(join(source, 'package/package.json'), JSON.stringify(manifest))
  const packed = await run('tar', ['-czf', `${source}.tgz`, '-C', source, 'package'])
  expect(packed).toMatchObject({ code: 0 })
  const digest = createHash('sha512')
    .update(await readFile(`${source}.tgz`))
    .digest('base64')
  const resolved = tarball(manifest.name, manifest.version)
  const entry = { ...manifest, ...kind, resolved, integrity: `sha512-${digest}` }
  return [`node_modules/${manifest.name}`, entry] as const
}

async function installedVersion(name = 'dependency'): Promise<unknown> {
  const path = join(clone, 'node_modules', name, 'package.json')
  const manifest = JSON.parse(await readFile(path, 'utf8')) as { version: unknown }
  return manifest.version
}

function linkOfNode(): string {
  return join(clone, 'node_modules', '.bin', 'node')
}

function setupOnOldNode(): Promise<Result> {
  return run(process.execPath, ['--import', oldNode, 'scripts/setup.js'])
}

function setup(...args: string[]): Promise<Result> {
  return run(process.execPath, ['scripts/setup.js', ...args])
}

/** In the clone, without what npm tells the scripts that it runs, and with a cache of its own. */
function run(program: string, args: string[], env: NodeJS.ProcessEnv = {}): Promise<Result> {
  const variables = Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name))
  const npm = {
    npm_config_cache: join(folder, 'cache'),
    npm_config_fetch_retries: '0',
    NODE_ENV: 'production',
  }
  const options = { cwd: clone, env: { ...Object.fromEntries(variables), ...npm, ...env } }
  return new Promise((resolve) => {
    const child = execFile(program, args, options, (_, stdout, stderr) => {
      resolve({ code: child.exitCode ?? -1, stdout, stderr })
    })
  })
}
