/** Steps of the set-up: the packages of package-lock.json, and the Node.js among them. */
import { spawn } from 'node:child_process'
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = dirname(dirname(fileURLToPath(import.meta.url)))
const modules = join(root, 'node_modules')
const lockfile = join(root, 'package-lock.json')
/** npm writes it last, after a good install. Its content can be ahead of what is installed. */
const installedLockfile = join(modules, '.package-lock.json')
/** What npm prints when it cannot get through to the registry. */
const unreachable =
  /ENOTFOUND|EAI_AGAIN|ECONN|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET|SELF_SIGNED|UNABLE_TO_/
/** As `engines` in package.json. */
const nodeMajorMin = 24

/** Has a message for the person who ran the command. */
export class SetupError extends Error {}

/** A step that looks first, and does nothing when everything is there. */
export const allPackages = { ready: () => arePackagesThere(() => true), install: installPackages }

/** What `npm ci --omit=dev` installs is enough for it. */
export const packagesToRun = {
  ready: () => arePackagesThere(({ dev, devOptional }) => !dev && !devOptional),
  install: installPackages,
}

export const node = { ready: nodeReady, install: linkNode }

/** Looks at what is really there, so that an install by hand counts too. */
function arePackagesThere(isNeeded) {
  if (!existsSync(installedLockfile)) return false
  const { '': ourselves, ...packages } = readJson(lockfile)?.packages ?? {}
  if (ourselves === undefined) return false
  const ours = Object.keys(ourselves.optionalDependencies ?? {})
  const mayBeMissing = (path, locked) =>
    locked.optional && !(ours.some((name) => path === `node_modules/${name}`) && isForUs(locked))
  return Object.entries(packages).every(([path, locked]) => {
    if (!isNeeded(locked)) return true
    const installed = readJson(join(root, path, 'package.json'))?.version
    return installed === undefined ? mayBeMissing(path, locked) : installed === locked.version
  })
}

function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return undefined
  }
}

/** As npm decides it. */
function isForUs({ os = process.platform, cpu = process.arch, libc }) {
  const isOne = (value, of) => [of].flat().includes(value)
  const fits = isOne(process.platform, os) && isOne(process.arch, cpu)
  return fits && (libc === undefined || isOne(ourLibc(), libc))
}

function ourLibc() {
  process.report.excludeNetwork = true
  return process.report.getReport().header.glibcVersionRuntime ? 'glibc' : 'musl'
}

/** The Node.js that `package-lock.json` brings for this machine, if there is one. */
export function installedNode() {
  const names = Object.keys(readJson(join(root, 'package.json'))?.optionalDependencies ?? {})
  return names
    .flatMap((name) => [join(modules, name, 'bin/node'), join(modules, name, 'bin/node.exe')])
    .find((path) => existsSync(path))
}

/** Whether npm scripts find a Node.js to run on: that one, or else the machine's own. */
function nodeReady() {
  if (installedNode() === undefined) return ourNodeMajor() >= nodeMajorMin
  return ['node', 'node.exe'].some((name) => existsSync(join(modules, '.bin', name)))
}

/**
 * npm 10 and early versions of 11 take the link to it away again, with those of the packages for other
 * machines: all are named `node`.
 */
function linkNode() {
  const program = installedNode()
  if (program === undefined) {
    throw new SetupError(
      `Rollcall needs Node.js ${nodeMajorMin} or newer. This one is ${process.version}, and no npm package ` +
        `brings a newer one for this machine (${process.platform}, ${process.arch}): install it ` +
        '(https://nodejs.org), then try again.',
    )
  }
  const link = join(modules, '.bin', basename(program))
  mkdirSync(dirname(link), { recursive: true })
  rmSync(link, { force: true })
  // Windows lets not everybody make a symbolic link.
  if (process.platform === 'win32') linkSync(program, link)
  else symlinkSync(relative(dirname(link), program), link)
}

function ourNodeMajor() {
  return Number(process.versions.node.split('.')[0])
}

async function installPackages() {
  process.stdout.write(
    'Installing the packages of package-lock.json, 500 MB, from the npm registry into node_modules (npm ci) ...\n',
  )
  // With this note gone, an install that is interrupted from here on is seen as missing next time.
  rmSync(installedLockfile, { force: true })
  // Errors only: engine warnings speak of the Node that runs npm, and our scripts bring their own.
  const flags = [
    '--include=dev',
    '--include=optional',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  ]
  const { code, output } = await runNpm(['ci', ...flags])
  if (code !== 0) throw new SetupError(`\nInstalling with npm ci failed. ${whatToDo(code, output)}`)
}

function whatToDo(code, output) {
  if (code === undefined) {
    return `npm itself could not be run: ${output}. Install Node.js with npm (https://nodejs.org), then try again.`
  }
  if (unreachable.test(output)) {
    return (
      'The npm registry cannot be reached. Check the network, a proxy (npm config get proxy https-proxy) ' +
      'and the registry (npm config get registry), then try again: what came through is kept in the npm cache.'
    )
  }
  if (output.includes('ENOSPC')) {
    return 'The disk is full, about 500 MB are needed: make room, then try again.'
  }
  return 'The reason is above; once it is mended, try again.'
}

/** Exit code (undefined when npm cannot be run) and what npm wrote as errors, which is shown too. */
function runNpm(args) {
  const [program, ...first] = npmCommand()
  const windowsScript = process.platform === 'win32' && program === 'npm'
  return new Promise((resolve) => {
    const child = spawn(program, [...first, ...args], {
      cwd: root,
      stdio: ['ignore', 'ignore', 'pipe'],
      shell: windowsScript,
    })
    let output = ''
    child.stderr.setEncoding('utf8').on('data', (text) => {
      output += text
      process.stderr.write(text)
    })
    child.on('error', (error) => resolve({ code: undefined, output: error.message }))
    child.on('close', (code) => resolve({ code: code ?? 1, output }))
  })
}

/** The npm that started us, on the Node it runs on: the one in node_modules is about to be replaced. */
function npmCommand() {
  const { npm_execpath: npm, npm_node_execpath: ownNode } = process.env
  return npm && basename(npm).startsWith('npm') && npm.endsWith('.js')
    ? [ownNode ?? process.execPath, npm]
    : ['npm']
}
