import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createDatabaseWorld, type DatabaseWorld } from '../../harness/database-world.ts'
import { addressesInSheet } from '../../harness/google-world.ts'
import { postSignup } from '../../harness/post-signup.ts'
import { type PostgresServer, startPostgres } from '../../harness/postgres-server.ts'
import { runCommand, startCommand } from '../../harness/run-command.ts'
import { failedStart, startService } from '../../harness/start-service.ts'

let server: PostgresServer
beforeEach(async () => void (server = await startPostgres()))
afterEach(() => server[Symbol.asyncDispose]())

const ada = 'ada@example.com'
const bob = 'bob@example.com'

test('two instances share the journal, and nothing is made on their disks', async () => {
  await using world = await createDatabaseWorld(server)
  const { env, google } = world
  await using one = await startService({ env })
  await using other = await startService({ env })
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

test('while the database is down, a service answers so, and it heals by itself', async () => {
  await using world = await createDatabaseWorld(server)
  await using service = await startService({ env: world.env })
  const statusOf = async (path: string) => (await fetch(service.url + path)).status
  expect(await statusOf('/api/ready')).toBe(200)
  await server.stop('immediate')
  const refused = await postSignup(service.url, { email: ada })
  expect(refused.status).toBe(503)
  expect(refused.headers.get('retry-after')).toMatch(/^\d+$/)
  expect(await refused.json()).toMatchObject({ type: 'about:blank', status: 503 })
  expect(await statusOf('/api/ready')).toBe(503)
  expect(await statusOf('/api/health')).toBe(200)
  await server.start()
  await expect.poll(() => statusOf('/api/ready')).toBe(200)
  expect((await postSignup(service.url, { email: bob })).status).toBe(202)
  await expect.poll(() => addressesInSheet(world.google)).toEqual([bob])
})

test('a crash of a server whose synchronous_commit is off loses no answered signup', async () => {
  // Without a wait, what was committed would be in the memory of the server for ten seconds.
  await server.configure({ wal_writer_delay: '10s' })
  await using world = await createDatabaseWorld(server)
  await server.query(`ALTER DATABASE ${world.database.name} SET synchronous_commit = off`)
  await using service = await startService({ env: world.env })
  const people = Array.from({ length: 40 }, (_, at) => `person.${at}@example.com`)
  for (const email of people) expect((await postSignup(service.url, { email })).status).toBe(202)
  await server.stop('immediate')
  await server.start()
  const exported = await runCommand(['export', '--format', 'ndjson'], { env: world.env })
  expect(people.filter((email) => !exported.stdout.includes(`"${email}"`))).toEqual([])
})

const waiting =
  /nobody who answers at its port\. Start PostgreSQL.* The start waits for it, for \d+ /

/** Starts a service whose database is down. Resolves when it has said so. */
async function startTooEarly({ env }: DatabaseWorld) {
  await server.stop('fast')
  const command = startCommand(['serve'], { env: { ...env, HOST: '127.0.0.1', PORT: '0' } })
  await expect.poll(command.stderr).toMatch(waiting)
  return command
}

test('a start waits for the database, and serves when it is up', async () => {
  await using world = await createDatabaseWorld(server)
  const command = await startTooEarly(world)
  await server.start()
  await expect.poll(command.stdout).toContain('Rollcall listens on')
  const url = /listens on (\S+)/.exec(command.stdout())?.[1] ?? ''
  expect((await postSignup(url, { email: ada })).status).toBe(202)
  await expect.poll(() => addressesInSheet(world.google)).toEqual([ada])
  command.kill('SIGTERM')
  expect(await command.ended).toMatchObject({ code: 0 })
})

test('a start that waits for the database ends with SIGTERM', async () => {
  await using world = await createDatabaseWorld(server)
  const command = await startTooEarly(world)
  command.kill('SIGTERM')
  expect(await command.ended).toMatchObject({ code: 1 })
  await server.start()
})

test('a start ends at once when waiting does not help', async () => {
  await using world = await createDatabaseWorld(server)
  const { env, database } = world
  const urls: readonly (readonly [string, RegExp])[] = [
    [database.url.replace(/:[^:@]+@/, ':another-password@'), /refuses the password\. Correct/],
    [database.url.replace(/\w+$/, 'none'), /does not exist on its server\. Make it/],
    [`${database.url}?sslmode=require`, /offers no TLS\. Turn TLS on/],
  ]
  for (const [url, words] of urls) {
    const { code, output } = await failedStart({ env: { ...env, DATABASE_URL: url } })
    expect(code).toBe(1)
    expect(output).toMatch(words)
    expect(output).not.toMatch(/another-password|postgres:\/\//)
  }
})
