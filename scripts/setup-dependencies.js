/** The steps of the set-up that install the packages of package-lock.json, and the Node.js of scripts/node. */
import { spawn } from 'node:child_process'
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = dirname(dirname(fileURLToPath(import.meta.url)))
/** It has a package-lock.json of its own, because not every machine needs it. */
const nodeFolder = join(root, 'scripts', 'node')
/** The Node.js of scripts/node, as npm scripts find it. */
const link = join(root, 'node_modules', '.bin', process.platform === 'win32' ? 'node.exe' : 'node')
/** npm writes this file last. Its content can name packages that are not installed. */
const installedLockfile = join('node_modules', '.package-lock.json')
/** The same as `engines` in package.json. */
const nodeMajorMin = 24

/** An error whose message is for the person who ran the command. */
export class SetupError extends Error {}

/** A step that does nothing when everything is installed. */
export const allPackages = {
  ready: () => arePackagesThere(() => true),
  install: () => installAll(),
}

/** Only what runs the service. A clone that has the tools for tests gets those anew with it. */
export const packagesToRun = {
  ready: () => arePackagesThere((locked) => !isForTests(locked)),
  install: () => (hasToolsForTests() ? installAll() : installToRun()),
}

/** Our Node.js where that of the machine is too old. */
export const newEnoughNode = {
  ready: () => isNewEnough() || isOurNodeThere(),
  install: installNode,
}

/** Our Node.js, which is the same for everybody, where there is a package of it for the machine. */
export const ourNode = {
  ready: () => isOurNodeThere() || (isNewEnough() && packageOfNode() === undefined),
  install: installNode,
}

const packages = 'the packages of package-lock.json'
const installAll = () => runNpmCi(root, packages, '460 MB', ['--include=dev'])
const installToRun = () => runNpmCi(root, packages, '55 MB', ['--omit=dev'])
const isForTests = ({ dev, devOptional }) => Boolean(dev || devOptional)

function hasToolsForTests() {
  const installed = readJson(join(root, installedLockfile))?.packages ?? {}
  return Object.values(installed).some(isForTests)
}

/** Looks at the installed packages themselves, so that an install by hand counts. */
function arePackagesThere(isNeeded) {
  if (!existsSync(join(root, installedLockfile))) return false
  const { '': ourselves, ...packages } = packagesOf(root)
  if (ourselves === undefined) return false
  return Object.entries(packages).every(([path, locked]) => {
    if (!isNeeded(locked)) return true
    const installed = readJson(join(root, path, 'package.json'))?.version
    return installed === undefined ? locked.optional : installed === locked.version
  })
}

function packagesOf(folder) {
  return readJson(join(folder, 'package-lock.json'))?.packages ?? {}
}

function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return undefined
  }
}

/** Decides as npm does. */
function isForUs({ os = process.platform, cpu = process.arch, libc }) {
  const isOne = (value, of) => [of].flat().includes(value)
  const fits = isOne(process.platform, os) && isOne(process.arch, cpu)
  return fits && (libc === undefined || isOne(ourLibc(), libc))
}

function ourLibc() {
  process.report.excludeNetwork = true
  return process.report.getReport().header.glibcVersionRuntime ? 'glibc' : 'musl'
}

/** The package of Node.js for this machine: its path and its entry of package-lock.json. */
function packageOfNode() {
  return Object.entries(packagesOf(nodeFolder)).find(
    ([path, locked]) => path !== '' && isForUs(locked),
  )
}

/** The path of our Node.js. Undefined when it is not installed, or another version of it is. */
export function installedNode() {
  const [path, { version } = {}] = packageOfNode() ?? []
  if (path === undefined) return undefined
  const folder = join(nodeFolder, path)
  if (readJson(join(folder, 'package.json'))?.version !== version) return undefined
  return ['bin/node', 'bin/node.exe'].map((name) => join(folder, name)).find(existsSync)
}

/** Each npm ci of the other packages removes the link. */
function isOurNodeThere() {
  return existsSync(link) && installedNode() !== undefined
}

async function installNode() {
  if (packageOfNode() === undefined) {
    throw new SetupError(
      `Rollcall needs Node.js ${nodeMajorMin} or newer. This one is ${process.version}, and no npm package ` +
        `brings a newer one for this machine (${process.platform}, ${process.arch}): install it ` +
        '(https://nodejs.org), then try again.',
    )
  }
  if (installedNode() === undefined) await runNpmCi(nodeFolder, 'Node.js', '211 MB', [])
  const program = installedNode()
  mkdirSync(dirname(link), { recursive: true })
  rmSync(link, { force: true })
  // Not every user of Windows may make a symbolic link.
  if (process.platform === 'win32') linkSync(program, link)
  else symlinkSync(relative(dirname(link), program), link)
}

function isNewEnough() {
  return Number(process.versions.node.split('.')[0]) >= nodeMajorMin
}

/** Installs what the package-lock.json of a folder has. */
async function runNpmCi(folder, what, size, kinds) {
  process.stdout.write(`Installing ${what}, ${size}, from the npm registry (npm ci) ...\n`)
  // Remove npm's note first, so that an interrupted install counts as missing next time.
  rmSync(join(folder, installedLockfile), { force: true })
  const [program, ...first] = npmCommand()
  // npm 10 does not know `allowScripts` of package.json, and later ones run scripts that it does not list.
  const flags = ['--include=optional', '--ignore-scripts', '--no-audit', '--no-fund']
  // Show errors only: warnings about engines mean the Node that runs npm, which our scripts do not use.
  const quiet = ['--no-update-notifier', '--loglevel=error']
  const { code, output } = await run(program, [...first, 'ci', ...kinds, ...flags, ...quiet], {
    cwd: folder,
    shell: process.platform === 'win32' && program === 'npm',
  })
  if (code === 0) return
  const todo =
    code === undefined
      ? 'npm itself could not be run. Install Node.js with npm (https://nodejs.org)'
      : 'Check the network, a proxy (npm config get proxy https-proxy), the registry ' +
        `(npm config get registry), and whether ${size} are free on the disk`
  throw new SetupError(`${output}\nInstalling with npm ci failed. ${todo}, then try again.`)
}

/** Runs a program. Resolves with what it wrote to standard error, and its exit code: undefined when it cannot run. */
export function run(program, args, options = {}) {
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'], ...options })
    let output = ''
    child.stderr?.setEncoding('utf8').on('data', (text) => (output += text))
    child.on('error', (error) => resolve({ code: undefined, output: error.message }))
    child.on('close', (code) => resolve({ code: code ?? 1, output }))
  })
}

/** The npm that started this script, on its own Node, because the one in node_modules is being replaced. */
function npmCommand() {
  const { npm_execpath: npm, npm_node_execpath: ownNode } = process.env
  return npm && basename(npm).startsWith('npm') && npm.endsWith('.js')
    ? [ownNode ?? process.execPath, npm]
    : ['npm']
}
