// @module-tag slow
import { ESLint } from 'eslint'
import { expect, test } from 'vitest'
import tseslint from 'typescript-eslint'
import { projectRoot } from '../../harness/source-file.ts'

type Sample = readonly [rule: string, path: string, text: string]

const lines = (count: number) => '  step()\n'.repeat(count)
const longFunction = `function long() {\n${lines(69)}}\n`

const bad: readonly Sample[] = [
  ['no-restricted-properties', 'src/service/a.ts', `const port = process.env['PORT']`],
  ['no-restricted-properties', 'src/service/a.ts', `const { env } = process`],
  ['no-restricted-imports', 'src/service/a.ts', `import { env } from 'node:process'`],
  ['no-restricted-globals', 'src/intake/a.ts', `await fetch(url)`],
  ['no-restricted-globals', 'src/intake/a.ts', `const get = options.fetch ?? globalThis.fetch`],
  ['no-restricted-imports', 'src/challenge/a.ts', `import { request as send } from 'node:https'`],
  ['no-restricted-properties', 'src/delivery/a.ts', `const now = Date.now()`],
  ['no-restricted-syntax', 'src/delivery/a.ts', `const now = new Date()`],
  ['no-restricted-properties', 'src/delivery/a.ts', `const now = performance.now()`],
  ['no-restricted-syntax', 'src/service/a.ts', `log.warn({ error }, 'failed')`],
  ['no-restricted-syntax', 'src/alerts/a.ts', `this.#log.error({ hint, error: reason }, 'failed')`],
  ['no-restricted-globals', 'src/cli/a.ts', `console.log('ready')`],
  ['no-restricted-properties', 'src/cli/a.ts', `process.exit(1)`],
  ['no-restricted-imports', 'src/platform/clock.ts', `import { exit } from 'process'`],
  ['no-restricted-syntax', 'src/journal/sqlite/a.ts', `import { fsyncSync } from 'node:fs'`],
  ['no-restricted-syntax', 'src/journal/sqlite/a.ts', `const db = new DatabaseSync(file)`],
  ['no-restricted-syntax', 'src/spreadsheet/workbook/a.ts', `await file.sync()`],
  ['no-restricted-syntax', 'src/spreadsheet/workbook/a.ts', `await file.datasync()`],
  ['no-restricted-exports', 'src/a.ts', `export default function a() {}`],
  ['no-restricted-exports', 'src/a.ts', `const a = 1\nexport default a`],
  ['no-restricted-syntax', 'src/a.ts', `export { b } from './b.ts'`],
  ['no-restricted-syntax', 'src/a.ts', `export * from './b.ts'\nexport const c = 1`],
  ['max-lines-per-function', 'src/a.ts', longFunction],
  ['house/test-length', 'test/a.test.ts', `describe('a', () => {\ntest('b', ${longFunction})\n})`],
  ['check-file/filename-naming-convention', 'src/intake/rateLimit.ts', ''],
  ['check-file/folder-naming-convention', 'src/rateLimit/a.ts', ''],
  ['check-file/filename-blocklist', 'src/utils/text.ts', ''],
  ['no-warning-comments', 'src/a.ts', `// ${'TO' + 'DO'}: later`],
  ['vitest/no-disabled-tests', 'src/a.test.ts', `test.skip('a', () => {})`],
  ['vitest/no-focused-tests', 'src/a.test.ts', `describe.only('a', () => {})`],
  ['vitest/warn-todo', 'src/a.test.ts', `test.todo('a')`],
  ['no-restricted-syntax', 'src/a.test.ts', `test.fails('a', () => {})`],
  ['vitest/expect-expect', 'src/a.test.ts', `test('a', () => { run() })`],
  ['vitest/no-identical-title', 'src/a.test.ts', `test('a', run)\ntest('a', run)`],
]

/** The project's own configuration, without the rules that need types, as the sample files do not exist. */
const eslint = new ESLint({
  cwd: projectRoot,
  overrideConfig: [tseslint.configs.disableTypeChecked, { rules: { 'no-undef': 'off' } }],
})

test.each(bad)('%s reports %s: %s', async (rule, path, text) => {
  expect(await reports(path, text)).toContain(rule)
})

test('a report says what to use in place of the forbidden code', async () => {
  const [result] = await eslint.lintText('Date.now()', {
    filePath: `${projectRoot}/src/delivery/a.ts`,
  })
  const messages = result?.messages.map(({ message }) => message).join()
  expect(messages).toContain('Use the Clock that you are given: clock.now(), clock.elapsed().')
})

/** The names of the rules that find something in a file of this path and text. */
async function reports(path: string, text: string) {
  const [result] = await eslint.lintText(text, { filePath: `${projectRoot}/${path}` })
  return result?.messages.map(({ ruleId, message }) => ruleId ?? message) ?? []
}
