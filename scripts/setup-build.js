/** The steps of the set-up that build from our own sources. */
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { installedNode, root, run } from './setup-dependencies.js'

/** The sources of the service that the build of browser/ uses. */
const shared = [
  ...['src/pages/field-messages.ts', 'src/pages/page.css', 'src/signup/suggest-email.ts'],
  ...['src/admin/admin.css', 'src/admin/figures.css'],
]

export const browserFiles = { ready: browserFilesReady, install: buildBrowserFiles }
export const compiled = { ready: compiledReady, install: compile }

/** Whether the built scripts for browsers are newer than their sources. */
function browserFilesReady() {
  const sources = join(root, 'browser')
  if (!existsSync(sources)) return true
  const builtAt = statSync(join(root, 'dist', 'embed.js'), { throwIfNoEntry: false })?.mtimeMs ?? 0
  // Compare folders too: their time changes when a file is removed.
  const paths = ['.', ...readdirSync(sources, { recursive: true })].map((it) => join(sources, it))
  const others = ['scripts/build-browser.js', ...shared, ...languages()]
  const all = [...paths, ...others.map((it) => join(root, it))]
  return all.every((it) => (statSync(it, { throwIfNoEntry: false })?.mtimeMs ?? 0) <= builtAt)
}

/** The texts of our pages, which the scripts share. */
function languages() {
  const folder = 'src/pages/languages'
  if (!existsSync(join(root, folder))) return []
  return readdirSync(join(root, folder)).map((name) => `${folder}/${name}`)
}

/** Loads the build script late, because esbuild may not have been installed before. */
async function buildBrowserFiles() {
  const { buildBrowser } = await import('./build-browser.js')
  await buildBrowser()
}

/** Whether Node's compile cache for the service exists: see `src/start.js`. An install deletes it. */
function compiledReady() {
  const isThere = existsSync(join(root, 'node_modules', '.cache', 'rollcall'))
  return isThere || !existsSync(join(root, 'src', 'start.js'))
}

/** Fills the compile cache: `--help` loads the whole service. The first start is then faster and needs 30 MB less. */
function compile() {
  const program = installedNode() ?? process.execPath
  return run(program, [join(root, 'src', 'start.js'), '--help'])
}
