/** The steps of the set-up that install the packages of package-lock.json, with Node.js among them. */
import { spawn } from 'node:child_process'
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = dirname(dirname(fileURLToPath(import.meta.url)))
const modules = join(root, 'node_modules')
const lockfile = join(root, 'package-lock.json')
/** npm writes this file last. Its content can name packages that are not installed. */
const installedLockfile = join(modules, '.package-lock.json')
/** The errors of npm that mean that it cannot reach the registry. */
const unreachable =
  /ENOTFOUND|EAI_AGAIN|ECONN|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET|SELF_SIGNED|UNABLE_TO_/
/** The same as `engines` in package.json. */
const nodeMajorMin = 24

/** An error whose message is for the person who ran the command. */
export class SetupError extends Error {}

/** A step that does nothing when everything is installed. */
export const allPackages = { ready: () => arePackagesThere(() => true), install: installPackages }

/** Needs only the packages that `npm ci --omit=dev` installs. */
export const packagesToRun = {
  ready: () => arePackagesThere(({ dev, devOptional }) => !dev && !devOptional),
  install: installPackages,
}

export const node = { ready: nodeReady, install: linkNode }

/** Looks at the installed packages themselves, so that an install by hand counts. */
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

/** The path of the Node.js for this machine in `package-lock.json`; undefined when it has none. */
export function installedNode() {
  const names = Object.keys(readJson(join(root, 'package.json'))?.optionalDependencies ?? {})
  return names
    .flatMap((name) => [join(modules, name, 'bin/node'), join(modules, name, 'bin/node.exe')])
    .find((path) => existsSync(path))
}

/** Whether npm scripts have a Node.js to run on: that of the packages or that of the machine. */
function nodeReady() {
  if (installedNode() === undefined) return ourNodeMajor() >= nodeMajorMin
  return ['node', 'node.exe'].some((name) => existsSync(join(modules, '.bin', name)))
}

/**
 * Makes the link `node` again. npm 10 and early versions of 11 remove it with the links of the packages
 * for other machines, which have the same name.
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
  // Not every user of Windows may make a symbolic link.
  if (process.platform === 'win32') linkSync(program, link)
  else symlinkSync(relative(dirname(link), program), link)
}

function ourNodeMajor() {
  return Number(process.versions.node.split('.')[0])
}

async function installPackages() {
  process.stdout.write(
    'Installing the packages of package-lock.json, 650 MB, from the npm registry into node_modules (npm ci) ...\n',
  )
  // Remove npm's note first, so that an interrupted install counts as missing next time.
  rmSync(installedLockfile, { force: true })
  // Show errors only: warnings about engines mean the Node that runs npm, which our scripts do not use.
  const flags = [
    '--include=dev',
    '--include=optional',
    // npm 10 does not know `allowScripts` of package.json, and later ones run scripts that it does not list.
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--no-update-notifier',
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
    return 'The disk is full, about 650 MB are needed: make room, then try again.'
  }
  return 'The reason is above. Solve that problem, then try again.'
}

/** Runs npm and shows its errors. Resolves with them and the exit code, undefined when npm cannot run. */
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

/** The npm that started this script, on its own Node, because the one in node_modules is being replaced. */
function npmCommand() {
  const { npm_execpath: npm, npm_node_execpath: ownNode } = process.env
  return npm && basename(npm).startsWith('npm') && npm.endsWith('.js')
    ? [ownNode ?? process.execPath, npm]
    : ['npm']
}
