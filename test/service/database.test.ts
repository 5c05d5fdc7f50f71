import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { bootService } from '../../harness/boot-service.ts'
import { createDatabaseWorld } from '../../harness/database-world.ts'
import { addressesInSheet } from '../../harness/google-world.ts'
import { postSignup } from '../../harness/post-signup.ts'
import { startPostgres } from '../../harness/postgres-server.ts'

const ada = 'ada@example.com'

test('two instances share the journal, and nothing is made on their disks', async () => {
  await using server = await startPostgres()
  await using world = await createDatabaseWorld(server)
  const { env, google } = world
  await using one = await bootService({ env })
  await using other = await bootService({ env })
  const headers = { 'idempotency-key': 'the-same-request' }
  const first = await postSignup(one.url, { email: ada }, headers)
  const again = await postSignup(other.url, { email: ada }, headers)
  expect([first.status, again.status]).toEqual([202, 202])
  const { id } = (await first.json()) as { id: string }
  expect(await again.json()).toMatchObject({ id })
  expect(await (await fetch(`${other.url}/api/signup/${id}`)).json()).toMatchObject({ id })
  await expect.poll(() => addressesInSheet(google)).toEqual([ada])
  for (const { folder } of [one, other]) expect(existsSync(join(folder, 'data'))).toBe(false)
})
