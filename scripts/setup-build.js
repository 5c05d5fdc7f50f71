/** Steps of the set-up: what is made from our own sources. */
import { spawn } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { installedNode, root } from './setup-dependencies.js'

export const browserFiles = { ready: browserFilesReady, install: buildBrowserFiles }
export const compiled = { ready: compiledReady, install: compile }

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
  return new Promise((resolve) => {
    const program = installedNode() ?? process.execPath
    const child = spawn(program, [join(root, 'src', 'start.js'), '--help'], { stdio: 'ignore' })
    child.on('error', resolve).on('close', resolve)
  })
}
