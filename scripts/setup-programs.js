/** The steps of the set-up that install programs for tests and the bench. */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { root, SetupError } from './setup-dependencies.js'

export const chromium = { ready: chromiumReady, install: installChromium }
export const wrk = { ready: wrkReady, install: installWrk }
export const systemPrograms = { ready: systemProgramsReady, install: installSystemPrograms }

async function chromiumReady() {
  if (!existsSync(join(root, 'browser'))) return true
  const { findChromium } = await import('./find-chromium.js')
  return findChromium() !== undefined
}

/** Installs Chromium by Playwright, which any user may, or from Debian. Without it, only browser tests fail. */
async function installChromium() {
  process.stdout.write(
    'Downloading Chromium, some 170 MB, from Playwright into its cache, for the tests in a browser ...\n',
  )
  const playwright = join(root, 'node_modules', 'playwright-core', 'cli.js')
  const args = [playwright, 'install', '--no-shell', 'chromium']
  const { output } = await run(process.execPath, args)
  if (await chromiumReady()) return
  if (canAptInstall()) {
    process.stdout.write(
      'That failed. Installing Chromium, 80 MB and what it needs, from the packages of Debian (apt-get) ...\n',
    )
    await aptInstall('chromium')
  }
  if (await chromiumReady()) return
  // Hide its output, which is long for each try.
  const reason = /^Error: .*/m.exec(output)?.[0] ?? output
  process.stderr.write(
    `${reason.trim()}\nThe tests in a browser will fail, as no Chromium was found and Playwright could not download one ` +
      '(its reason is above). Install Chromium or Chrome (Debian: sudo apt-get install chromium), or set ' +
      'CHROMIUM to the path of one.\n',
  )
}

function wrkReady() {
  return !existsSync(join(root, 'bench')) || isInPath('wrk')
}

async function installWrk() {
  if (canAptInstall()) {
    process.stdout.write(
      'Installing wrk, 0.1 MB, from the packages of Debian for the bench (apt-get) ...\n',
    )
    await aptInstall('wrk')
  }
  if (wrkReady()) return
  process.stderr.write(
    'There is no wrk: the bench measures with a slower load generator of its own. Better figures need wrk ' +
      '(Debian: sudo apt-get install wrk).\n',
  )
}

/** The script itself finds out what is missing. */
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

function isInPath(name) {
  const folders = (process.env.PATH ?? '').split(delimiter)
  return folders.some((folder) => existsSync(join(folder, name)))
}

function canAptInstall() {
  return process.getuid?.() === 0 && isInPath('apt-get')
}

async function aptInstall(name) {
  const command = `apt-get -qq update && apt-get -qq install -y --no-install-recommends ${name}`
  const { output } = await run('sh', ['-c', command], { DEBIAN_FRONTEND: 'noninteractive' })
  process.stderr.write(output)
}

/** Resolves with its exit code and with what it wrote to standard error. */
function run(program, args, env = {}) {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let output = ''
    child.stderr.setEncoding('utf8').on('data', (text) => (output += text))
    child.on('error', (error) => resolve({ output: error.message }))
    child.on('close', () => resolve({ output }))
  })
}
