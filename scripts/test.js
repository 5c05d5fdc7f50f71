/**
 * `npm test`: runs all tests but the slow ones; with --slow, these; with names, the test files that have one of
 * them in their path, slow or not.
 *
 * usage: node scripts/test.js [--slow | NAME...] [options of vitest]
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, readFileSync } from 'node:fs'

const [first, ...others] = process.argv.slice(2)
const isSlow = first === '--slow'
const args = isSlow ? others : process.argv.slice(2)
const quick = ['--project=!slow', '--tags-filter=!slow']
const isNamed = args.some((it) => !it.startsWith('-'))
const chosen = isSlow ? ['--tags-filter=slow', ...slowFiles()] : quick
const all = ['run', ...(isNamed ? [] : chosen), ...args]
const child = spawn('vitest', all, { stdio: 'inherit', shell: process.platform === 'win32' })
const stop = (signal) => child.kill(signal)
process.on('SIGINT', stop).on('SIGTERM', stop)
const [code] = await once(child, 'close')
process.exitCode = code ?? 1

/** The files in which something is slow: all else need not be loaded. */
function slowFiles() {
  const exclude = ['test/{system,long}', '**/node_modules', 'dist']
  const files = globSync('**/*.test.ts', { exclude }).toSorted()
  return files.filter((file) => /@module-tag slow|tags: 'slow'/.test(readFileSync(file, 'utf8')))
}
