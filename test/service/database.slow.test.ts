// @module-tag slow
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createDatabaseWorld, type DatabaseWorld } from '../../harness/database-world.ts'
import { addressesInSheet } from '../../harness/google-world.ts'
import { postSignup } from '../../harness/post-signup.ts'
import { startPostgresProxy } from '../../harness/postgres-proxy.ts'
import { type PostgresServer, startPostgres } from '../../harness/postgres-server.ts'
import { runCommand, startCommand } from '../../harness/run-command.ts'
import { failedStart, startService } from '../../harness/start-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'

interface Exported {
  readonly email: string
}

let server: PostgresServer
beforeEach(async () => void (server = await startPostgres()))
afterEach(() => server[Symbol.asyncDispose]())

const ada = 'ada@example.com'
const bob = 'bob@example.com'

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

test('when nobody knows whether a signup was stored, program and person are told so, and their next try is no second row', async () => {
  await using world = await createDatabaseWorld(server)
  await using proxy = await startPostgresProxy(server.port)
  const behind = { ...world.env, DATABASE_URL: server.url(world.database.name, proxy.port) }
  await using harmed = await startService({ env: behind })
  await using other = await startService({ env: world.env })
  // Its tab is known from now on.
  expect((await postSignup(harmed.url, { email: 'first@example.com' })).status).toBe(202)
  // The journal is committed, and its answer does not come; nor does that to a later look.
  proxy.fail(/WITH request AS/, 'hang after', Infinity)
  proxy.fail(/^UPDATE head SET looks/, 'cut before', Infinity)

  const key = { 'idempotency-key': 'the-same-request' }
  const postForm = (url: string, fields: Record<string, string>) =>
    fetch(`${url}/api/signup`, {
      method: 'POST',
      headers: { accept: 'text/html' },
      body: new URLSearchParams(fields),
      redirect: 'manual',
    })
  const [program, person] = await Promise.all([
    postSignup(harmed.url, { email: ada }, key),
    postForm(harmed.url, { email: bob }),
  ])
  expect([program.status, person.status]).toEqual([503, 503])
  expect(await program.json()).toMatchObject({
    outcome: 'unknown',
    detail: expect.stringContaining('Send it again with the same Idempotency-Key'),
  })
  const page = await person.text()
  expect(page).toContain('You may be signed up already.')
  expect(page).not.toContain('Nothing was stored')
  const hidden = /name="idempotencyKey" value="([^"]+)"/.exec(page)?.[1] ?? ''

  const again = await postSignup(other.url, { email: ada }, key)
  expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([202, 'true'])
  const form = { email: bob, idempotencyKey: hidden }
  const sentAgain = await postForm(other.url, form)
  expect([sentAgain.status, sentAgain.headers.get('idempotency-replayed')]).toEqual([303, 'true'])
  // Who corrects the address is somebody else.
  expect((await postForm(other.url, { ...form, email: 'robert@example.com' })).status).toBe(303)
  const exported = await runCommand(['export', '--format', 'ndjson'], { env: world.env })
  const signups = exported.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Exported)
  const people = signups.map(({ email }) => email).toSorted()
  expect(people).toEqual([ada, bob, 'first@example.com', 'robert@example.com'])
  expect(exported.stdout).not.toContain(hidden)
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

test('a start waits for the database, serves when it is up, and warns of its settings', async () => {
  await using world = await createDatabaseWorld(server)
  const command = await startTooEarly(world)
  await server.start()
  await expect.poll(command.stdout).toContain('Rollcall listens on')
  const url = /listens on (\S+)/.exec(command.stdout())?.[1] ?? ''
  expect((await postSignup(url, { email: ada })).status).toBe(202)
  await expect.poll(() => addressesInSheet(world.google)).toEqual([ada])
  expect(command.stderr()).toContain('has a setting that risks signups, fsync')
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

/** Makes of a good database one that needs a person. */
interface Harm {
  readonly url?: (url: string) => string
  /** Run by the superuser in the database. */
  readonly sql?: string
  readonly says: RegExp
  readonly orderedTo: RegExp
}

const harms: Readonly<Record<string, Harm>> = {
  'a wrong password': {
    url: (url) => url.replace(/:[^:@]+@/, ':another-password@'),
    says: /refuses the password/,
    orderedTo: /Correct the user name and the password/,
  },
  'no database': {
    url: (url) => url.replace(/\w+$/, 'none'),
    says: /does not exist on its server/,
    orderedTo: /Make it with CREATE DATABASE/,
  },
  'no TLS': {
    url: (url) => `${url}?sslmode=require`,
    says: /offers no TLS/,
    orderedTo: /Turn TLS on/,
  },
  'a read-only database': {
    sql: 'ALTER ROLE rollcall SET default_transaction_read_only = on',
    says: /is read-only: its setting default_transaction_read_only is on/,
    orderedTo: /Turn it off/,
  },
}

test.each(Object.entries(harms))(
  'a start and a command end at once, with what to do, when the database needs a person: %s',
  async (_, { url = (same) => same, sql = 'SELECT 1', says, orderedTo }) => {
    await using world = await createDatabaseWorld(server)
    await world.database.query(sql)
    const env = { ...world.env, DATABASE_URL: url(world.database.url) }
    const { code, output } = await failedStart({ env })
    expect(code, output).toBe(2)
    const form =
      /DATABASE_URL: names a database that (.*)\.\n +given: +\S+ on 127\.0\.0\.1\n.*\n +do: +(.*)\n/
    const [, problem, order] = form.exec(output) ?? []
    expect(problem).toMatch(says)
    expect(order).toMatch(orderedTo)
    expect(output).not.toMatch(/waits for it|another-password|postgres:\/\//)
    await using folder = await tempFolder()
    const file = join(folder.path, 'people.csv')
    await writeFile(file, `Email\n${ada}\n`)
    const command = await runCommand(['import', file], { env })
    expect(command).toMatchObject({ code: 2, stderr: expect.stringMatching(says) })
  },
)

test('a start and a command say at once which rights to tables are missing', async () => {
  await using world = await createDatabaseWorld(server)
  const { env, database } = world
  await using _ = await startService({ env })
  await database.query('REVOKE INSERT, DELETE ON rollcall.signup FROM rollcall')
  const words = 'does not give this user the right to INSERT, DELETE in its tables'
  expect(await failedStart({ env })).toMatchObject({
    code: 2,
    output: expect.stringContaining(words),
  })
  const command = await runCommand(['forget', '-'], { env, input: ada })
  expect(command).toMatchObject({ code: 2, stderr: expect.stringContaining(words) })
  // It only reads.
  expect(await runCommand(['status'], { env })).toMatchObject({ code: 0 })
})
