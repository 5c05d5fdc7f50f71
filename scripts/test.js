/**
 * `npm test`: installs what the tests need and runs all but the slow ones. With names, it runs the test files
 * that have one of them in their path, slow or not, and installs Chromium only when one of these opens a
 * browser. It is plain JavaScript because it runs on any Node from 20, as scripts/setup.js does.
 *
 * usage: node scripts/test.js [NAME...] [options of vitest]
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const browser = join(root, 'harness', 'browser.ts')

const args = process.argv.slice(2)
const names = args.filter((it) => !it.startsWith('-'))
const isProjectChosen = args.some((it) => it.startsWith('--project'))
const chosen = testFiles().filter((path) =>
  names.some((name) => relative(root, path).includes(name)),
)
const needsBrowser = chosen.length === 0 || withImports(chosen).has(browser)

const purpose = needsBrowser ? 'test' : 'test-without-browser'
process.exitCode = await run('node', [join(root, 'scripts/setup.js'), '--for', purpose])
if (process.exitCode === 0) {
  const projects = names.length === 0 && !isProjectChosen ? ['--project=!slow'] : []
  process.exitCode = await run('vitest', ['run', ...projects, ...args])
}

function testFiles() {
  return ['src', 'browser', 'test', 'harness', 'emulators', 'scripts', 'bench']
    .map((folder) => join(root, folder))
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder, { recursive: true }).map((path) => join(folder, path)))
    .filter((path) => path.endsWith('.test.ts'))
}

/** These files and all files that they import. */
function withImports(paths) {
  const found = new Set(paths)
  // The loop also visits files that are added to the set during it.
  for (const path of found) {
    for (const [, target] of readFileSync(path, 'utf8').matchAll(/ from '(\.[^']+)'/g)) {
      const imported = join(dirname(path), target)
      if (existsSync(imported)) found.add(imported)
    }
  }
  return found
}

/** Runs a program of node_modules/.bin or of the machine. Returns its exit code. */
async function run(program, args) {
  const child = spawn(program, args, { stdio: 'inherit', shell: process.platform === 'win32' })
  const stop = (signal) => child.kill(signal)
  process.on('SIGINT', stop).on('SIGTERM', stop)
  const [code] = await once(child, 'close')
  process.off('SIGINT', stop).off('SIGTERM', stop)
  return code ?? 1
}
