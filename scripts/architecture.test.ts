import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { drawArchitecture } from './architecture.ts'

test('docs/architecture.svg shows the imports of today: npm run graph draws it', async () => {
  const path = join(import.meta.dirname, '../docs/architecture.svg')
  expect(await readFile(path, 'utf8')).toBe(await drawArchitecture())
})
