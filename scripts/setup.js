/**
 * Gets a fresh clone ready: runs before `npm start`, `npm test` and the like, on any Node from 20,
 * with nothing installed yet. That is why it is plain JavaScript and imports nothing but Node.
 *
 * usage: node scripts/setup.js [--for start|check|test|system|bench]
 */
import { spawn } from 'node:child_process'
import {
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimes,
  writeFileSync,
} from 'node:fs'
import { basename, delimiter, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const lockfile = join(root, 'package-lock.json')
/** npm writes it last, after a good install. Its content can be ahead of what is installed. */
const installedLockfile = join(root, 'node_modules', '.package-lock.json')
const turnFile = join(root, '.setup-running')
const turnTouchMs = 1_000
const turnStaleMs = 5_000
/** What npm prints when it cannot get through to the registry. */
const unreachable =
  /ENOTFOUND|EAI_AGAIN|ECONN|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET|SELF_SIGNED|UNABLE_TO_/
/** As `engines` in package.json. */
const nodeMajorMin = 24

/** A step that looks first, and does nothing when everything is there. */
const dependencies = { ready: dependenciesReady, install: installDependencies }

const browserFiles = { ready: browserFilesReady, install: buildBrowserFiles }
const compiled = { ready: compiledReady, install: compile }
const chromium = { ready: chromiumReady, install: installChromium }
const systemPrograms = { ready: systemProgramsReady, install: installSystemPrograms }
const wrk = { ready: wrkReady, install: installWrk }

/** What each command needs, in order. */
const needs = {
  start: [dependencies, browserFiles, compiled],
  check: [dependencies],
  test: [dependencies, browserFiles, chromium, wrk],
  system: [dependencies, browserFiles, chromium, systemPrograms],
  bench: [dependencies, browserFiles, compiled, wrk],
}

class SetupError extends Error {}

try {
  for (const step of stepsFor(process.argv.slice(2))) {
    if (!(await step.ready())) await oneAtATime(async () => (await step.ready()) || step.install())
  }
} catch (error) {
  if (!(error instanceof SetupError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}

function stepsFor(args) {
  const command = args.length === 0 ? 'start' : args[0] === '--for' ? args[1] : undefined
  if (command !== undefined && Object.hasOwn(needs, command)) return needs[command]
  const known = Object.keys(needs).join('|')
  throw new SetupError(`Cannot set up for ${args.join(' ')}: use --for ${known}.`)
}

/** Looks at what is really there, so that an install by hand counts too. */
function dependenciesReady() {
  if (!existsSync(installedLockfile)) return false
  const { '': ourselves, ...packages } = readJson(lockfile)?.packages ?? {}
  const isThere = ([path, { version, optional }]) => {
    const installed = readJson(join(root, path, 'package.json'))?.version
    return installed === version || (optional && installed === undefined)
  }
  return ourselves !== undefined && Object.entries(packages).every(isThere) && nodeReady()
}

function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return undefined
  }
}

/** The `node` package gets its program from an install script, which npm can be told not to run. */
function nodeReady() {
  const nodeMajor = Number(process.versions.node.split('.')[0])
  const program = join(root, 'node_modules', 'node', 'bin', 'node')
  return nodeMajor >= nodeMajorMin || existsSync(program) || !existsSync(dirname(dirname(program)))
}

async function installDependencies() {
  process.stdout.write('Installing what is missing (npm ci), this can take a minute ...\n')
  // With this note gone, an install that is interrupted from here on is seen as missing next time.
  rmSync(installedLockfile, { force: true })
  // Errors only: engine warnings speak of the Node that runs npm, and our scripts bring their own.
  const flags = ['--include=dev', '--no-audit', '--no-fund', '--loglevel=error']
  const { code, output } = await runNpm(['ci', ...flags])
  if (code !== 0) throw new SetupError(`\nInstalling with npm ci failed. ${whatToDo(code, output)}`)
  if (!nodeReady()) {
    throw new SetupError(
      'npm ci did not run the install script of the package "node", which brings the Node.js that this ' +
        'project runs on. Allow install scripts (npm config get ignore-scripts should say false) ' +
        `or use Node.js ${nodeMajorMin} or newer, then try again.`,
    )
  }
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
    return 'The disk is full, about 400 MB are needed: make room, then try again.'
  }
  return 'The reason is above; once it is mended, try again.'
}

/** Whether what browsers load is newer than what it is built from. */
function browserFilesReady() {
  const sources = join(root, 'browser')
  if (!existsSync(sources)) return true
  const builtAt = statSync(join(root, 'dist', 'embed.js'), { throwIfNoEntry: false })?.mtimeMs ?? 0
  // Folders too: theirs is the age of a file that was removed.
  const paths = ['.', ...readdirSync(sources, { recursive: true })].map((it) => join(sources, it))
  const newest = [...paths, join(root, 'scripts', 'build-browser.js')]
  return newest.every((path) => statSync(path).mtimeMs <= builtAt)
}

/** Loaded only now: before, esbuild may not have been there. */
async function buildBrowserFiles() {
  const { buildBrowser } = await import('./build-browser.js')
  await buildBrowser()
}

/** Whether a start finds the service compiled: see `src/start.js`. An install takes that away. */
function compiledReady() {
  const isThere = existsSync(join(root, 'node_modules', '.cache', 'rollcall'))
  return isThere || !existsSync(join(root, 'src', 'start.js'))
}

/** To ask for help loads the whole service, and ends. Without it the first start takes longer, and 30 MB more. */
function compile() {
  const installed = join(root, 'node_modules', 'node', 'bin', 'node')
  const node = existsSync(installed) ? installed : process.execPath
  return new Promise((resolve) => {
    const child = spawn(node, [join(root, 'src', 'start.js'), '--help'], { stdio: 'ignore' })
    child.on('error', resolve).on('close', resolve)
  })
}

async function chromiumReady() {
  if (!existsSync(join(root, 'browser'))) return true
  const { findChromium } = await import('./find-chromium.js')
  return findChromium() !== undefined
}

/** From Debian's packages, where that is possible. Without it only the tests that need it fail. */
async function installChromium() {
  if (canAptInstall()) {
    process.stdout.write('Installing Chromium for the tests in a browser (apt-get) ...\n')
    await aptInstall('chromium')
  }
  if (await chromiumReady()) return
  process.stderr.write(
    'The tests in a browser will fail, as no Chromium was found: install it (Debian: sudo apt-get ' +
      'install chromium), or set CHROMIUM to the path of a Chromium or Chrome.\n',
  )
}

/** The load generator of the bench. */
function wrkReady() {
  if (!existsSync(join(root, 'bench'))) return true
  const folders = (process.env.PATH ?? '').split(delimiter)
  return folders.some((folder) => existsSync(join(folder, 'wrk')))
}

async function installWrk() {
  if (canAptInstall()) {
    process.stdout.write('Installing wrk for the bench (apt-get) ...\n')
    await aptInstall('wrk')
  }
  if (wrkReady()) return
  process.stderr.write(
    'The bench will fail, as there is no wrk: install it (Debian: sudo apt-get install wrk).\n',
  )
}

/** The script looks what is missing, and says itself what it does. */
function systemProgramsReady() {
  return !existsSync(join(root, 'test', 'system'))
}

async function installSystemPrograms() {
  const script = join(root, 'scripts', 'install-system-programs.sh')
  const code = await new Promise((resolve) => {
    const child = spawn('sh', [script], { stdio: ['ignore', 'inherit', 'inherit'] })
    child.on('error', () => resolve(1)).on('close', resolve)
  })
  if (code !== 0) throw new SetupError('The system tests cannot run: the reason is above.')
}

function canAptInstall() {
  return process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')
}

function aptInstall(name) {
  const command = `apt-get -qq update && apt-get -qq install -y --no-install-recommends ${name}`
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  return new Promise((resolve) => {
    const child = spawn('sh', ['-c', command], { env, stdio: ['ignore', 'ignore', 'inherit'] })
    child.on('error', resolve).on('close', resolve)
  })
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
  const { npm_execpath: npm, npm_node_execpath: node } = process.env
  return npm && basename(npm).startsWith('npm') && npm.endsWith('.js')
    ? [node ?? process.execPath, npm]
    : ['npm']
}

/**
 * Two commands in a fresh clone must not install at once: the second waits for the first. Whoever
 * holds the turn keeps touching the file, so that the file of one that was killed is recognised.
 */
async function oneAtATime(work) {
  if (!takeTurn()) {
    process.stdout.write('Another command is installing, waiting for it ...\n')
    while (!takeTurn()) await sleep(200)
  }
  const touch = setInterval(() => utimes(turnFile, new Date(), new Date(), () => {}), turnTouchMs)
  try {
    await work()
  } finally {
    clearInterval(touch)
    rmSync(turnFile, { force: true })
  }
}

function takeTurn() {
  try {
    writeFileSync(turnFile, String(process.pid), { flag: 'wx' })
    return true
  } catch (error) {
    if (error.code !== 'EEXIST') {
      throw new SetupError(`Cannot write to the project's folder ${root}: ${error.message}`)
    }
    const touchedAt = statSync(turnFile, { throwIfNoEntry: false })?.mtimeMs
    if (touchedAt !== undefined && Date.now() - touchedAt > turnStaleMs) {
      rmSync(turnFile, { force: true })
    }
    return false
  }
}
