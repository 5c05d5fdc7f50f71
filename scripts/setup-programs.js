/** The steps of the set-up that install programs for tests and the bench. */
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { root, run, SetupError } from './setup-dependencies.js'

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
  await aptInstall('chromium', 'That failed. Installing Chromium, 80 MB and what it needs,')
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
  await aptInstall('wrk', 'Installing wrk, 0.1 MB, for the bench')
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
  const { code } = await run('sh', [script], { stdio: ['ignore', 'inherit', 'inherit'] })
  if (code !== 0) throw new SetupError('The system tests cannot run: the reason is above.')
}

function isInPath(name) {
  const folders = (process.env.PATH ?? '').split(delimiter)
  return folders.some((folder) => existsSync(join(folder, name)))
}

/** Installs a package of Debian, where this user may. */
async function aptInstall(name, what) {
  if (process.getuid?.() !== 0 || !isInPath('apt-get')) return
  process.stdout.write(`${what} from the packages of Debian (apt-get) ...\n`)
  const command = `apt-get -qq update && apt-get -qq install -y --no-install-recommends ${name}`
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const { output } = await run('sh', ['-c', command], { env })
  process.stderr.write(output)
}
