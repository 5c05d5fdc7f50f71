import { expect, test } from 'vitest'
import { engines, migrationsNow, readMigrations } from './released.ts'

test.each(engines)('no migration of %s that was released has changed', async (engine) => {
  const released = (await readMigrations())[engine]
  expect(released.length).toBeGreaterThan(0)
  expect(
    migrationsNow()[engine].slice(0, released.length),
    'A migration that was released has changed, so journals of that release differ from new ones. ' +
      'Put it back as it was, and add a new migration.',
  ).toEqual(released)
})
