import { execFile } from 'node:child_process'
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { tempFolder, type TempFolder } from '../harness/temp-folder.ts'

let clone: TempFolder

/** Has two tests, of which one opens a browser, and programs that only note how they are called. */
beforeEach(async () => {
  clone = await tempFolder()
  const note = (name: string) => `#!/bin/sh\necho ${name} "$@" >> ${join(clone.path, 'calls')}\n`
  await write('programs/node', note('node'))
  await write('programs/vitest', note('vitest'))
  await write('src/plain.test.ts', '')
  await write('test/page.test.ts', `import { world } from '../harness/world.ts'`)
  await write('harness/world.ts', `import { startBrowser } from './browser.ts'`)
  await write('harness/browser.ts', '')
  await write('package.json', '{ "type": "module" }')
  await mkdir(join(clone.path, 'scripts'))
  await copyFile(join(import.meta.dirname, 'test.js'), join(clone.path, 'scripts/test.js'))
})

afterEach(() => clone[Symbol.asyncDispose]())

test.each([
  [['page'], 'test'],
  [['plain'], 'test-without-browser'],
  [['plain', 'page'], 'test'],
  [['plain', '-t', 'a title'], 'test-without-browser'],
  [['--project=slow'], 'test'],
])('npm test -- %j gets ready for %s', async (args, purpose) => {
  expect(await run(args)).toBe(0)
  expect(await calls()).toEqual([
    `node ${clone.path}/scripts/setup.js --for ${purpose}`,
    ['vitest run', ...args].join(' '),
  ])
})

test.each([[[]], [['--reporter=json']]])(
  'npm test -- %j, without a name, leaves the slow tests out',
  async (args) => {
    expect(await run(args)).toBe(0)
    expect(await calls()).toEqual([
      `node ${clone.path}/scripts/setup.js --for test`,
      ['vitest run', '--project=!slow', ...args].join(' '),
    ])
  },
)

test('where the set-up fails no test is run', async () => {
  await write('programs/node', '#!/bin/sh\nexit 3\n')
  expect(await run([])).toBe(3)
  await expect(calls()).rejects.toThrow('ENOENT')
})

async function write(path: string, text: string): Promise<void> {
  const file = join(clone.path, path)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, text, { mode: 0o755 })
}

async function calls(): Promise<string[]> {
  return (await readFile(join(clone.path, 'calls'), 'utf8')).trim().split('\n')
}

function run(args: readonly string[]): Promise<number | null> {
  const PATH = `${join(clone.path, 'programs')}:${process.env['PATH'] ?? ''}`
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [join(clone.path, 'scripts/test.js'), ...args],
      { env: { ...process.env, PATH } },
      () => resolve(child.exitCode),
    )
  })
}
