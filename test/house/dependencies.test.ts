import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { projectRoot } from '../../harness/source-file.ts'

type Manifest = Record<'dependencies' | 'optionalDependencies' | 'devDependencies', object>

test('docs/decisions/dependencies.md has each dependency in one line, and no other', () => {
  const readText = (path: string) => readFileSync(join(projectRoot, path), 'utf8')
  const manifests = ['package.json', 'scripts/node/package.json'].map(
    (path) => JSON.parse(readText(path)) as Partial<Manifest>,
  )
  const used = manifests.flatMap(({ dependencies, optionalDependencies, devDependencies }) =>
    Object.keys({ ...dependencies, ...optionalDependencies, ...devDependencies }),
  )
  const cells = readText('docs/decisions/dependencies.md').matchAll(/^\|((?:[ ,]*`[^`]+`)+) *\|/gm)
  const named = Array.from(cells, ([, cell = '']) => cell.match(/[^`, ]+/g) ?? []).flat()
  expect(named.sort()).toEqual(used.sort())
})
