// @module-tag slow
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { createSecureContext, TLSSocket } from 'node:tls'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../../harness/free-port.ts'
import { openPostgresJournal } from '../../harness/postgres-journal.ts'
import { type PostgresServer, startPostgres } from '../../harness/postgres-server.ts'
import { testCertificate, testKey } from '../../harness/webhook-receiver.ts'
import { Unreachable, withClient } from '../../src/journal/postgres/reach.ts'
import { hasLeaseholder, readServerFacts } from '../../src/journal/postgres/server-facts.ts'
import { layoutVersion } from '../../src/journal/tables/versions.ts'

let server: PostgresServer
beforeAll(async () => void (server = await startPostgres()))
afterAll(() => server[Symbol.asyncDispose]())

test('a database without a journal is told as one in which a journal can be made', async () => {
  await using database = await server.createDatabase()
  expect(await readServerFacts(database.url)).toEqual({
    product: expect.stringMatching(/^PostgreSQL 18/),
    encoding: 'UTF8',
    isStandby: false,
    isReadOnly: false,
    isForeign: false,
    rightsMissing: [],
    mayMigrate: true,
    tables: 0,
    risks: ['fsync', 'full_page_writes'],
  })
})

test('a database with a journal is told with the version of its tables', async () => {
  await using database = await server.createDatabase()
  await (await openPostgresJournal(database.url))[Symbol.asyncDispose]()
  expect(await readServerFacts(database.url)).toMatchObject({
    isForeign: false,
    mayEnter: true,
    tables: layoutVersion,
  })
  await database.query('REVOKE INSERT ON rollcall.signup FROM rollcall')
  expect(await readServerFacts(database.url)).toMatchObject({ rightsMissing: ['INSERT'] })
})

test('what a server does not tell is left out, and the rest is told', async () => {
  await using database = await server.createDatabase()
  await (await openPostgresJournal(database.url))[Symbol.asyncDispose]()
  await database.query('REVOKE SELECT ON rollcall.version FROM rollcall')
  const facts = await readServerFacts(database.url)
  expect(facts).toMatchObject({ isForeign: false, encoding: 'UTF8', rightsMissing: [] })
  expect(facts).not.toHaveProperty('tables')
})

test('tables of another program in the schema rollcall are no journal', async () => {
  await using database = await server.createDatabase()
  await database.query('CREATE SCHEMA rollcall; CREATE TABLE rollcall.version (major integer)')
  expect(await readServerFacts(database.url)).toMatchObject({ isForeign: true, tables: 0 })
})

test('a database has a leaseholder while an instance holds the lease', async () => {
  await using database = await server.createDatabase()
  expect(await hasLeaseholder(database.url)).toBe(false)
  await using journal = await openPostgresJournal(database.url)
  expect(await hasLeaseholder(database.url)).toBe(false)
  await journal.lease.hold()
  expect(await hasLeaseholder(database.url)).toBe(true)
  await journal.lease.release()
  expect(await hasLeaseholder(database.url)).toBe(false)
})

test('a client is named as ours, and is gone when the work is done or fails', async () => {
  await using database = await server.createDatabase()
  const named = `SELECT count(*)::integer AS count FROM pg_stat_activity WHERE application_name = 'rollcall'`
  const connected = async () => (await server.query(named)).rows[0]?.['count']
  await withClient(database.url, async () => expect(await connected()).toBe(1))
  await expect.poll(connected).toBe(0)
  const failed = withClient(database.url, () => Promise.reject(new Error('the work failed')))
  await expect(failed).rejects.toThrow('the work failed')
  await expect.poll(connected).toBe(0)
})

test('a connection that breaks during the work fails the work, and nothing else', async () => {
  await using database = await server.createDatabase()
  const others = 'SELECT pg_backend_pid() AS pid'
  const broken = withClient(database.url, async (client) => {
    const { rows } = await client.query<{ pid: number }>(others)
    // It tells of an error first, by which `once` of Node would reject before anybody waits for it.
    const ended = new Promise((resolve) => client.once('end', resolve))
    await server.query(`SELECT pg_terminate_backend(${rows[0]?.pid})`)
    await ended
    await client.query(others)
  })
  await expect(broken).rejects.toThrow()
  await expect(broken).rejects.not.toThrow(Unreachable)
})

/** What is wrong with the URL, or with the database, and what is said of it. */
const troubles: readonly (readonly [string, (url: string) => string, string, RegExp])[] = [
  [
    'a wrong password',
    (url) => url.replace(/:[^:@]+@/, ':wrong@'),
    'SELECT',
    /refuses the password\. Correct/,
  ],
  ['no password', (url) => url.replace(/:[^:@]+@/, '@'), 'SELECT', /wants a password\. Write it/],
  [
    'no such database',
    (url) => url.replace(/\w+$/, 'none'),
    'SELECT',
    /does not exist on its server\. Make it/,
  ],
  [
    'a server without TLS',
    (url) => `${url}?sslmode=require`,
    'SELECT',
    /offers no TLS\. Turn TLS on/,
  ],
  [
    'no right to connect',
    (url) => url,
    'DO $$BEGIN EXECUTE format($f$REVOKE CONNECT ON DATABASE %I FROM PUBLIC, rollcall$f$, current_database()); END$$',
    /lets this user not connect\. Give it GRANT CONNECT/,
  ],
  [
    'no connection left',
    (url) => url,
    'DO $$BEGIN EXECUTE format($f$ALTER DATABASE %I CONNECTION LIMIT 0$f$, current_database()); END$$',
    /has no connection left\. Raise max_connections/,
  ],
]

test.each(troubles)(
  'a database that cannot be reached is told with what to do, without its URL: %s',
  async (_, urlOf, sql, says) => {
    await using database = await server.createDatabase()
    await database.query(sql)
    const told = await toldOf(urlOf(database.url))
    expect(told).toMatch(says)
    expect(told).not.toContain('postgres://')
  },
)

test('a port at which nobody answers is told so', async () => {
  const { reason } = await unreachable(`postgres://127.0.0.1:${await freePort()}/guests`)
  expect(reason).toMatchObject({ why: 'has nobody who answers at its port', mayPass: true })
})

const answers: readonly (readonly [string, (socket: Socket) => void, RegExp])[] = [
  ['hangs up', (socket) => socket.end(), /does not answer within 5 seconds\. Look whether/],
  [
    'breaks off',
    (socket) => socket.resetAndDestroy(),
    /cannot be reached \(ECONNRESET\)\. Look whether/,
  ],
  [
    'has a certificate that nobody trusts',
    startTls,
    /has a certificate that is not trusted \(\w+\)\. Give/,
  ],
]

test.each(answers)('a server that %s is told so', async (_, answer, says) => {
  const fake = createServer((socket) => {
    socket.on('error', () => {}).once('data', () => answer(socket))
  })
  await once(fake.listen(0, '127.0.0.1'), 'listening')
  const { port } = fake.address() as AddressInfo
  const isTls = answer === startTls
  const told = await toldOf(
    `postgres://127.0.0.1:${port}/guests${isTls ? '?sslmode=verify-full' : ''}`,
  )
  expect(told).toMatch(says)
  fake.close()
})

/** Agrees to TLS, as a PostgreSQL server does, and begins it. */
function startTls(socket: Socket): void {
  socket.write('S')
  const secureContext = createSecureContext({ cert: testCertificate, key: testKey })
  new TLSSocket(socket, { isServer: true, secureContext }).on('error', () => {})
}

async function unreachable(url: string): Promise<Unreachable> {
  const error: unknown = await withClient(url, () => Promise.resolve()).catch((it: unknown) => it)
  return error instanceof Unreachable ? error : expect.fail(String(error))
}

async function toldOf(url: string): Promise<string> {
  return String(await unreachable(url))
}
