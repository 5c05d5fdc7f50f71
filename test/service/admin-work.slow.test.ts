// @module-tag slow
import { afterAll, beforeAll, expect, test } from 'vitest'
import { adminToken, signIn, workEnded } from '../../harness/admin.ts'
import { createDatabaseWorld } from '../../harness/database-world.ts'
import { postSignup } from '../../harness/post-signup.ts'
import { postSuspect } from '../../harness/post-suspect.ts'
import { type PostgresServer, startPostgres } from '../../harness/postgres-server.ts'
import { startService } from '../../harness/start-service.ts'

let server: PostgresServer
beforeAll(async () => void (server = await startPostgres()))
afterAll(() => server[Symbol.asyncDispose]())

test('work that one instance does is seen on another one, and so is what it has done', async () => {
  await using world = await createDatabaseWorld(server)
  const env = { ...world.env, ADMIN_TOKEN: adminToken, SPAM_FILTER: 'quarantine' }
  await using one = await startService({ env })
  await using other = await startService({ env })
  await postSignup(one.url, { email: 'ada@example.com' })
  await postSuspect(one.url, { email: 'bot@example.com' })
  const [doing, watching] = await Promise.all([one, other].map(({ url }) => signIn(url)))
  if (!doing || !watching) return
  const released = await doing.post('/release', { all: 'yes', sure: 'yes' })
  const seen = await workEnded(watching, released)
  expect(seen).toContain('Released: 1 signup.')
  const forgotten = await watching.post('/forget', { email: 'ada@example.com', sure: 'yes' })
  const told = await workEnded(doing, forgotten)
  expect(told).toContain('Erased from the journal: 1 signup.')
  const list = await (await doing.get('/signups')).text()
  expect(list).toContain('bot@example.com')
  expect(list).not.toContain('ada@example.com')
})
