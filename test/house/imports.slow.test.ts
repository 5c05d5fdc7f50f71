// @module-tag slow
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join, posix } from 'node:path'
import { cruise, type ICruiseResult } from 'dependency-cruiser'
import { expect, test } from 'vitest'
import rules from '../../.dependency-cruiser.js'
import { tempFolder } from '../../harness/temp-folder.ts'

/** A rule, the file that breaks it, and the import that does. */
const bad = [
  ['intake-imports', 'src/intake/a.ts', `import { writer } from '../delivery/writer.ts'`],
  ['intake-imports', 'src/intake/a.ts', `import { open } from '../journal/sqlite/open.ts'`],
  ['intake-imports-types', 'src/intake/a.ts', `import { Logger } from '../ops/log.ts'`],
  ['http-imports', 'src/http/a.ts', `import type { Signup } from '../signup/signup.ts'`],
  ['pages-imports', 'src/pages/a.ts', `import { store } from '../intake/store.ts'`],
  ['api-imports', 'src/api/a.ts', `import type { Log } from '../journal/contracts/intake-log.ts'`],
  ['signup-imports', 'src/signup/a.ts', `import type { Answer } from '../http/answer.ts'`],
  ['platform-imports', 'src/platform/a.ts', `export type { Signup } from '../signup/signup.ts'`],
  ['delivery-imports', 'src/delivery/a.ts', `await import('../spreadsheet/google/google.ts')`],
  ['operations-imports', 'src/operations/a.ts', `import { sql } from '../journal/tables/sql.ts'`],
  ['operations-imports', 'src/operations/a.ts', `import type { Run } from '../service/run.ts'`],
  ['engines-apart', 'src/spreadsheet/google/a.ts', `import { csv } from '../workbook/csv.ts'`],
  ['contracts-alone', 'src/journal/contracts/a.ts', `import { tables } from '../tables/tables.ts'`],
  ['interface-first', 'src/spreadsheet/a.ts', `type Csv = import('./workbook/csv.ts').Csv`],
  ['service-imports', 'src/service/a.ts', `import { serve } from '../cli/serve.ts'`],
  ['cli-imports', 'src/cli/a.ts', `import { google } from '../spreadsheet/google/google.ts'`],
  ['main-imports', 'src/main.ts', `import { create } from './service/service.ts'`],
  ['client-imports', 'src/client/a.ts', `import { limits } from '../signup/limits.ts'`],
  ['client-imports-types', 'src/client/a.ts', `import { problem } from '../signup/wire.ts'`],
  ['known-room', 'src/newcomer/a.ts', `import { clock } from '../platform/clock.ts'`],
  ['node-apart', 'src/http/a.ts', `import { files } from '../platform/node/files.ts'`],
  ['src-alone', 'src/cli/a.ts', `import { start } from '../../test/start.ts'`],
  ['src-alone', 'src/cli/a.ts', `import { start } from '../../harness/start.ts'`],
  ['src-alone', 'src/cli/a.ts', `import { emulator } from '../../emulators/server.ts'`],
  ['src-alone', 'src/cli/a.ts', `import { sample } from '../signup/parse.test.ts'`],
  ['src-without-dev-packages', 'src/cli/a.ts', `import { parse } from 'only-for-tests'`],
  ['browser-alone', 'browser/a.ts', `import type { Limits } from '../src/signup/limits.ts'`],
  ['browser-imports-types', 'browser/a.ts', `import { problem } from '../src/signup/wire.ts'`],
  ['nothing-missing', 'src/cli/a.ts', `import { gone } from 'no-such-package'`],
] as const

const packages = ['hono', 'some-server', 'only-for-tests']

const circle = [
  ['emulators/a.ts', `import { b } from './b.ts'`],
  ['emulators/b.ts', `import type { C } from './deep/c.ts'`],
  ['emulators/deep/c.ts', `import { a } from '../a.ts'`],
] as const

test('each bad import breaks its rule, and no other', async () => {
  const wanted = bad.map(([rule, path, text]) => `${rule}: ${path} → ${targetOf(path, text)}`)
  expect((await violations(bad.map(([, ...sample]) => sample))).sort()).toEqual(wanted.sort())
})

test('a circle is found even when one of its imports is of types', async () => {
  expect(await violations(circle)).toEqual(['no-circles: emulators/a.ts → emulators/b.ts'])
  expect(await violations(circle.slice(1))).toEqual([])
})

/** The broken rules in a project of these files, of empty files that they import, and of three packages. */
async function violations(samples: readonly (readonly [string, string])[]): Promise<string[]> {
  await using folder = await tempFolder()
  const files = new Map<string, string>()
  for (const [path, text] of samples) {
    const target = targetOf(path, text)
    if (target.endsWith('.ts')) files.set(target, files.get(target) ?? '')
    files.set(path, `${files.get(path) ?? ''}${text}\n`)
  }
  for (const name of packages) {
    files.set(`node_modules/${name}/package.json`, `{ "name": "${name}", "exports": "./a.js" }`)
    files.set(`node_modules/${name}/a.js`, '')
  }
  const manifest = {
    dependencies: { hono: '1', 'some-server': '1' },
    devDependencies: { 'only-for-tests': '1' },
  }
  files.set('package.json', JSON.stringify(manifest))
  for (const [path, text] of files) {
    await mkdir(dirname(join(folder.path, path)), { recursive: true })
    await writeFile(join(folder.path, path), text)
  }
  const { output } = await cruise(['.'], {
    ...rules.options,
    cache: false,
    baseDir: folder.path,
    validate: true,
    ruleSet: { forbidden: rules.forbidden ?? [] },
  })
  return (output as ICruiseResult).summary.violations.map(
    ({ rule, from, to }) => `${rule.name}: ${from} → ${to}`,
  )
}

function targetOf(path: string, text: string): string {
  const specifier = /'([^']+)'/.exec(text)?.[1] ?? ''
  if (specifier.startsWith('.')) return posix.join(dirname(path), specifier)
  return packages.includes(specifier)
    ? `node_modules/${specifier}/a.js`
    : specifier.replace('node:', '')
}
