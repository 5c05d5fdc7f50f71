import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { checkCycles, checkImportRules, checkWebStandard } from './house-rules-imports.ts'
import {
  checkConfinedCalls,
  checkDependencyNotes,
  checkFunctionLength,
  checkNames,
  checkNoBarrel,
  checkNoDefaultExport,
  checkNoSkippedTests,
  checkNothingUnfinished,
  checkTestTitles,
} from './house-rules.ts'
import { parseSource, projectRoot, readSources } from '../../harness/source-file.ts'
import type { Finding, SourceFile } from '../../harness/source-file.ts'

type Sample = readonly [path: string, text: string]

interface Rule {
  readonly title: string
  readonly check: (file: SourceFile) => Finding[]
  readonly bad: readonly Sample[]
  readonly good: readonly Sample[]
}

const longFunction = `function long() {\n${'  step()\n'.repeat(69)}}\n`
const fullFunction = `function full() {\n${'  step()\n'.repeat(68)}}\n`

const rules: readonly Rule[] = [
  {
    title: 'imports follow the table "Who may import whom"',
    check: checkImportRules,
    bad: [
      ['src/intake/post-signup.ts', `import { writer } from '../delivery/writer.ts'`],
      [
        'src/intake/post-signup.ts',
        `import type { Spreadsheet } from '../spreadsheet/spreadsheet.ts'`,
      ],
      [
        'src/intake/post-signup.ts',
        `import { openSqlite } from '../journal/sqlite/sqlite-journal.ts'`,
      ],
      ['src/intake/post-signup.ts', `import { Logger } from '../ops/log.ts'`],
      ['src/signup/signup.ts', `import type { Clock } from '../platform/clock.ts'`],
      ['src/platform/clock.ts', `export type { Signup } from '../signup/signup.ts'`],
      ['src/delivery/writer.ts', `const google = await import('../spreadsheet/google/google.ts')`],
      ['src/delivery/writer.ts', `import { config } from '../config/config.ts'`],
      ['src/spreadsheet/google/google.ts', `import { toCsv } from '../workbook/csv.ts'`],
      ['src/spreadsheet/spreadsheet.ts', `type Csv = import('./workbook/csv.ts').Csv`],
      ['src/service/service.ts', `import { serve } from '../cli/serve.ts'`],
      ['src/main.ts', `import { createService } from './service/service.ts'`],
      ['src/cli/serve.ts', `import { startService } from '../../test/start-service.ts'`],
      ['src/cli/serve.ts', `import { emulator } from '../../emulators/google-sheets/server.ts'`],
      ['src/cli/serve.ts', `import { sample } from '../signup/parse.test.ts'`],
      ['src/client/client.ts', `import { limits } from '../signup/limits.ts'`],
      ['src/client/client.ts', `import { problem } from '../signup/wire.ts'`],
      ['src/newcomer/file.ts', ''],
    ],
    good: [
      ['src/intake/post-signup.ts', `import type { IntakeLog } from '../journal/intake-log.ts'`],
      ['src/intake/post-signup.ts', `import type { Logger } from '../ops/log.ts'`],
      ['src/intake/post-signup.ts', `import { type Logger, type Health } from '../ops/log.ts'`],
      ['src/intake/post-signup.ts', `import { readBody } from './body.ts'`],
      ['src/client/client.ts', `import type { Problem } from '../signup/wire.ts'`],
      ['src/service/service.ts', `import { google } from '../spreadsheet/google/google.ts'`],
      ['src/spreadsheet/google/google.ts', `import type { Outcome } from '../spreadsheet.ts'`],
      [
        'src/delivery/writer.test.ts',
        `import { openSqlite } from '../journal/sqlite/sqlite-journal.ts'`,
      ],
    ],
  },
  {
    title: "client, intake, challenge, signup, delivery and google use the web's own APIs only",
    check: checkWebStandard,
    bad: [
      ['src/intake/server.ts', `import { createServer } from 'node:http'`],
      ['src/signup/id.ts', `import type { UUID } from 'crypto'`],
      ['src/intake/server.ts', `import { serve } from 'some-server'`],
      ['src/spreadsheet/google/token.ts', `const key = Buffer.from(text, 'base64')`],
      ['src/delivery/writer.ts', `process.nextTick(run)`],
    ],
    good: [
      ['src/service/routes.ts', `import { cors } from 'hono/cors'`],
      ['src/spreadsheet/google/api.ts', `import type { sheets_v4 } from '@googleapis/sheets'`],
      ['src/spreadsheet/google/token.ts', `request.process.id; job({ process: 1 })`],
      ['src/journal/sqlite/sqlite-journal.ts', `import { DatabaseSync } from 'node:sqlite'`],
    ],
  },
  {
    title: 'environment, network, time, output, exit and fsync have one home each',
    check: checkConfinedCalls,
    bad: [
      ['src/service/service.ts', `const port = process.env['PORT']`],
      ['src/service/service.ts', `const { env } = process`],
      ['src/service/service.ts', `import { env } from 'node:process'`],
      ['src/intake/post-signup.ts', `await fetch(url)`],
      ['src/intake/post-signup.ts', `const client = { fetch }`],
      ['src/intake/post-signup.ts', `const get = options.fetch ?? globalThis.fetch`],
      ['src/challenge/siteverify.ts', `import { request as send } from 'node:https'`],
      ['src/delivery/writer.ts', `const now = Date.now()`],
      ['src/delivery/writer.ts', `const now = new Date()`],
      ['src/delivery/writer.ts', `const now = performance.now()`],
      ['src/cli/serve.ts', `console.log('ready')`],
      ['src/cli/serve.ts', `process.exit(1)`],
      ['src/platform/clock.ts', `import { exit } from 'process'`],
      ['src/journal/sqlite/sqlite-journal.ts', `import { fsyncSync } from 'node:fs'`],
      ['src/spreadsheet/workbook/tab-file.ts', `await file.sync()`],
      ['src/spreadsheet/workbook/tab-file.ts', `await file.datasync()`],
    ],
    good: [
      [
        'src/platform/node/http-server.ts',
        `const listen = ({ fetch }: Options) => serve({ fetch })`,
      ],
      ['src/config/env.ts', `export const read = () => process.env`],
      ['src/platform/node/http-client.ts', `import { request as send } from 'node:https'`],
      ['src/client/client.ts', `globalThis.fetch(url)`],
      ['src/platform/clock.ts', `const now = Date.now()`],
      ['src/platform/node/durable-file.ts', `await file.sync()`],
      [
        'src/service/service.ts',
        `serve({ fetch: app.fetch }); new Date(signup.receivedAt); clock.now()`,
      ],
      [
        'src/service/service.ts',
        `interface Client { fetch(url: string): void } // process.exit, console.log`,
      ],
      ['src/cli/serve.ts', `process.exitCode = 2`],
      ['src/delivery/writer.test.ts', `console.log(Date.now())`],
    ],
  },
  {
    title: 'src/ exports everything by its name',
    check: checkNoDefaultExport,
    bad: [
      ['src/a.ts', `export default function a() {}`],
      ['src/a.ts', `const a = 1\nexport default a`],
      ['src/a.ts', `const a = 1\nexport { a as default }`],
    ],
    good: [
      ['src/a.ts', `export function a(x: string) { switch (x) { default: return 1 } }`],
      ['vitest.config.ts', `export default {}`],
    ],
  },
  {
    title: 'no file only hands on what others export',
    check: checkNoBarrel,
    bad: [
      ['src/a.ts', `export { b } from './b.ts'\nexport { c } from './c.ts'`],
      ['src/a.ts', `export * from './b.ts'\nexport const c = 1`],
    ],
    good: [['src/a.ts', `import { b } from './b.ts'\nexport const c = b`]],
  },
  {
    title: 'functions have up to 70 lines',
    check: checkFunctionLength,
    bad: [
      ['src/a.ts', longFunction],
      ['test/a.test.ts', `describe('a', () => {\ntest('b', ${longFunction})\n})`],
    ],
    good: [
      ['src/a.ts', fullFunction],
      ['test/contract.ts', `function hold() {\ntest('b', ${fullFunction})\n${fullFunction}}`],
    ],
  },
  {
    title: 'files are in kebab-case, and folders are named after the domain',
    check: checkNames,
    bad: [
      ['src/intake/rateLimit.ts', ''],
      ['src/intake/rate_limit.ts', ''],
      ['src/utils/text.ts', ''],
      ['test/helpers/text.ts', ''],
    ],
    good: [
      ['src/http/rate-limit.test.ts', ''],
      ['emulators/google-sheets/recordings.ts', ''],
    ],
  },
  {
    title: 'nothing is left unfinished',
    check: checkNothingUnfinished,
    bad: [
      ['src/a.ts', `// ${'TO' + 'DO'}: later`],
      ['test/a.ts', `/* ${'FIX' + 'ME'} */`],
    ],
    good: [['src/a.ts', `const todos = 1`]],
  },
  {
    title: 'every test runs',
    check: checkNoSkippedTests,
    bad: [
      ['src/a.test.ts', `test.skip('a', () => {})`],
      ['src/a.test.ts', `describe.only('a', () => {})`],
      ['src/a.test.ts', `it.concurrent.only('a', () => {})`],
      ['src/a.test.ts', `test.todo('a')`],
    ],
    good: [['src/a.test.ts', `describe.skipIf(!live)('a', () => {}); reader.skip(3)`]],
  },
  {
    title: 'no two tests of a file have the same title',
    check: checkTestTitles,
    bad: [
      ['src/a.test.ts', `test('a', run)\ntest('a', run)`],
      ['src/a.test.ts', `describe('b', () => { test('a', run)\ntest('a', run) })`],
    ],
    good: [
      ['src/a.test.ts', `describe('b', () => test('a', run))\ndescribe('c', () => test('a', run))`],
      ['src/a.test.ts', `test('a', run)\npattern.test('a')\npattern.test('a')`],
    ],
  },
]

const sources = readSources()

describe.each(rules)('$title', ({ check, bad, good }) => {
  const isAccepted = ([path, text]: Sample) => check(parseSource(path, text)).length === 0

  test('in every file of the project', () => {
    expect(sources.flatMap(check).map(show)).toEqual([])
  })

  test('the rule reports every bad sample and no good one', () => {
    expect(bad.filter(isAccepted)).toEqual([])
    expect(good.filter((sample) => !isAccepted(sample))).toEqual([])
  })
})

describe('no imports in a circle', () => {
  test('in the whole project', () => {
    expect(checkCycles(sources).map(show)).toEqual([])
  })

  test('it reports a circle of three files, of which one imports types', () => {
    const circle = [
      parseSource('src/a.ts', `import { b } from './b.ts'`),
      parseSource('src/b.ts', `import type { C } from './deep/c.ts'`),
      parseSource('src/deep/c.ts', `import { a } from '../a.ts'`),
    ]
    expect(checkCycles(circle).map(show)).toEqual([
      'src/a.ts:1 imports itself in a circle: src/a.ts → src/b.ts → src/deep/c.ts → src/a.ts',
    ])
    expect(checkCycles(circle.slice(1))).toEqual([])
  })
})

describe('every dependency earns its line', () => {
  const readText = (path: string) => readFileSync(join(projectRoot, path), 'utf8')

  test('in docs/decisions/dependencies.md', () => {
    const notes = readText('docs/decisions/dependencies.md')
    expect(checkDependencyNotes(readText('package.json'), notes)).toEqual([])
  })

  test('it reports a line that is missing and one that is left over', () => {
    const manifest = '{ "dependencies": { "hono": "1" }, "devDependencies": { "vitest": "1" } }'
    expect(checkDependencyNotes(manifest, '| `hono` | routes |\n| `gone` | ? |')).toEqual([
      'vitest has no line in it',
      'gone is not a dependency',
    ])
  })
})

test('a finding names the place, what is wrong and what to do instead', () => {
  const file = parseSource('src/delivery/writer.ts', `\n\nconst now = Date.now()`)
  expect(checkConfinedCalls(file).map(show)).toEqual([
    'src/delivery/writer.ts:3 the current time belongs only in src/platform/clock.ts: use the Clock you are given: clock.now(), clock.elapsed()',
  ])
})

function show({ path, line, message }: Finding): string {
  return `${path}:${line} ${message}`
}
