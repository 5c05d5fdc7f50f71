import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { projectRoot } from '../../harness/source-file.ts'

test('every file that docs/security.md names exists', () => {
  const page = readFileSync(join(projectRoot, 'docs/security.md'), 'utf8')
  const paths = Array.from(page.matchAll(/`([\w./-]*\w\.(?:ts|js|service|yaml|json|md))`/g))
  const named = paths.map(([, path = '']) => path).filter((path) => path !== 'embed.js')
  expect(named.length).toBeGreaterThan(100)
  expect(named.filter((path) => !existsSync(join(projectRoot, path)))).toEqual([])
})
