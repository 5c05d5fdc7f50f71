import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { projectRoot } from '../../harness/source-file.ts'

type Manifest = Record<'dependencies' | 'optionalDependencies' | 'devDependencies', object>

test('docs/decisions/dependencies.md has a line for each dependency, and no other line', () => {
  const readText = (path: string) => readFileSync(join(projectRoot, path), 'utf8')
  const manifests = ['package.json', 'scripts/node/package.json'].map(
    (path) => JSON.parse(readText(path)) as Partial<Manifest>,
  )
  const used = manifests.flatMap(({ dependencies, optionalDependencies, devDependencies }) =>
    Object.keys({ ...dependencies, ...optionalDependencies, ...devDependencies }),
  )
  const lines = readText('docs/decisions/dependencies.md').matchAll(/^\| `([^`]+)` *\|/gm)
  expect(Array.from(lines, ([, name]) => name).sort()).toEqual(used.sort())
})
