import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { wordsIn } from './command-words.ts'

test.each([
  ['/home/ann/rollcall/src/platform', 'npm run -s rollcall -- doctor', 'npm start'],
  ['C:\\site\\node_modules\\rollcall\\src\\platform', 'npx rollcall doctor', 'npx rollcall'],
  ['/app/src/platform', 'node src/start.js doctor', 'node src/start.js'],
  ['/app/node_modules/rollcall/src/platform', 'npx rollcall doctor', 'npx rollcall'],
  ['/opt/rollcall/src/platform', 'sudo rollcall doctor', 'sudo systemctl start rollcall'],
])('in %s a person types %s', (folder, doctor, start) => {
  const { rollcall, serve } = wordsIn(folder)
  expect([rollcall('doctor'), serve]).toEqual([doctor, start])
})

test('no message names a command in other words', () => {
  const program = readFileSync('src/cli/program.ts', 'utf8')
  const commands = Array.from(program.matchAll(/^ {2}\['([a-z-]+)', async/gm), ([, name]) => name)
  expect(commands).toContain('doctor')
  const named = new RegExp(`(?<!\`)\\brollcall (${commands.join('|')})\\b`)
  const told = globSync('src/**/*.ts', { exclude: ['**/*.test.ts'] }).flatMap((path) =>
    readFileSync(path, 'utf8')
      .replaceAll(/['`] \+\n +['`]/g, '')
      .split('\n')
      .filter((line) => named.test(line) && !/^\s*(\/?\*|\/\/)/.test(line))
      .map((line) => `${path}: ${line}`),
  )
  expect(told).toEqual([])
})
