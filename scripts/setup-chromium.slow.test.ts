// @module-tag slow
import { execFile } from 'node:child_process'
import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { tempFolder, type TempFolder } from '../harness/temp-folder.ts'

interface Result {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

let clone: TempFolder

/** Has our set-up and nothing to install but a browser, which is there once the file `browser-is-here` is. */
beforeEach(async () => {
  clone = await tempFolder()
  await mkdir(join(clone.path, 'scripts'))
  const ours = (await readdir(import.meta.dirname)).filter((name) => /^setup.*\.js$/.test(name))
  for (const name of ours)
    await copyFile(join(import.meta.dirname, name), join(clone.path, 'scripts', name))
  await write('package.json', '{ "type": "module" }')
  await write('package-lock.json', '{ "packages": { "": {} } }')
  await write('node_modules/.package-lock.json', '{}')
  await write('scripts/build-browser.js', 'export const buildBrowser = () => {}')
  await write(
    'scripts/find-chromium.js',
    `import { existsSync } from 'node:fs'
     export const findChromium = () => existsSync('browser-is-here') ? 'browser-is-here' : undefined`,
  )
  await mkdir(join(clone.path, 'browser'))
})

afterEach(() => clone[Symbol.asyncDispose]())

test('a browser that the machine has is enough', async () => {
  await write('browser-is-here', '')
  expect(await setUpTests('root')).toEqual({ code: 0, stdout: '', stderr: '' })
})

test('Playwright downloads one for any user', async () => {
  await playwright(`writeFileSync('browser-is-here', process.argv.slice(2).join(' '))`)
  expect(await setUpTests('somebody')).toEqual({
    code: 0,
    stdout:
      'Downloading Chromium, some 170 MB, from Playwright into its cache, for the tests in a browser ...\n',
    stderr: '',
  })
  const asked = await readFile(join(clone.path, 'browser-is-here'), 'utf8')
  expect(asked).toBe('install --no-shell chromium')
})

test('where Playwright cannot, root gets the package of Debian', async () => {
  await playwright(failing)
  const { code, stdout, stderr } = await setUpTests('root')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toContain(
    'That failed. Installing Chromium, 80 MB and what it needs, from the packages',
  )
  expect(await readFile(join(clone.path, 'browser-is-here'), 'utf8')).toMatch(/install .*chromium/)
})

test('where nobody can, the reason is told with what to do, and the other tests run', async () => {
  await playwright(failing)
  const { code, stderr } = await setUpTests('somebody')
  expect(code).toBe(0)
  expect(stderr).toContain('getaddrinfo ENOTFOUND cdn.example')
  expect(stderr).toContain('Install Chromium or Chrome (Debian: sudo apt-get install chromium)')
})

const failing = `console.error('getaddrinfo ENOTFOUND cdn.example'); process.exitCode = 1`

/** What stands in for Playwright's installer. */
function playwright(program: string): Promise<void> {
  const text = `const { writeFileSync } = require('node:fs')\n${program}`
  return write('node_modules/playwright-core/cli.js', text)
}

async function write(path: string, text: string): Promise<void> {
  const file = join(clone.path, path)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, text, { mode: 0o755 })
}

/** With an apt-get that only notes what it was asked for. */
async function setUpTests(user: 'root' | 'somebody') {
  const aptGet = '#!/bin/sh\nif [ "$2" = install ]; then echo "$@" > browser-is-here; fi\n'
  await write('programs/apt-get', aptGet)
  const asUser = `data:text/javascript,process.getuid=()=>${user === 'root' ? 0 : 1000}`
  const args = ['--import', asUser, 'scripts/setup.js', '--for', 'test']
  const PATH = `${join(clone.path, 'programs')}${delimiter}${process.env['PATH'] ?? ''}`
  const options = { cwd: clone.path, env: { ...process.env, PATH } }
  return new Promise((resolve: (result: Result) => void) => {
    const child = execFile(process.execPath, args, options, (_, stdout, stderr) => {
      resolve({ code: child.exitCode, stdout, stderr })
    })
  })
}
