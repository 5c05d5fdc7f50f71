import { expect, test } from 'vitest'
import { layoutNow, readLayout } from './released.ts'

test('tables that a release has made change with a new version and a migration only', async () => {
  expect(
    layoutNow(),
    'The tables have changed. Journals of the last release need a migration: write it, increase ' +
      'layoutVersion, and record the release.',
  ).toEqual(await readLayout())
})
