import { execFile } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { writeFile } from 'node:fs/promises'
import { tempFolder } from '../harness/temp-folder.ts'

const quick = ['--project=!slow', '--tags-filter=!slow']
/** The files of vitest.config.ts in which something is slow. */
const slow = globSync('{src,browser,test,harness,emulators,scripts,bench}/**/*.test.ts')
  .filter((file) => !/^test.(system|long)/.test(file))
  .filter((file) => /(@module-tag |tags: ')slow/.test(readFileSync(file, 'utf8')))
  .toSorted()

test.each([
  [['page'], ['page']],
  [
    ['plain', '-t', 'a title'],
    ['plain', '-t', 'a title'],
  ],
  [['--slow', 'page'], ['page']],
  [[], quick],
  [['--slow'], ['--tags-filter=slow', ...slow]],
  [['--reporter=json'], [...quick, '--reporter=json']],
])('npm test -- %j runs vitest with %j, and ends with its code', async (args, given) => {
  await using programs = await tempFolder()
  const path = join(programs.path, 'vitest')
  await writeFile(path, '#!/bin/sh\necho "$@"\nexit 3\n', { mode: 0o755 })
  const env = { ...process.env, PATH: `${programs.path}:${process.env['PATH'] ?? ''}` }
  const script = join(import.meta.dirname, 'test.js')
  const result = await new Promise((resolve) => {
    const child = execFile(process.execPath, [script, ...args], { env }, (_, stdout) => {
      resolve([child.exitCode, stdout])
    })
  })
  expect(result).toEqual([3, `${['run', ...given].join(' ')}\n`])
})
