import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { expect, test } from 'vitest'
import { failingWith, type PostgresProxy, startPostgresProxy } from './postgres-proxy.ts'
import { type PostgresServer, startPostgres } from './postgres-server.ts'

interface World extends AsyncDisposable {
  readonly server: PostgresServer
  readonly proxy: PostgresProxy
  connect(): Promise<pg.Client>
  count(): Promise<number>
}

async function createWorld(): Promise<World> {
  await using stack = new AsyncDisposableStack()
  const server = stack.use(await startPostgres())
  const database = await server.createDatabase()
  const proxy = stack.use(await startPostgresProxy(server.port))
  const connect = async () => {
    const options = { connectionString: server.url(database.name, proxy.port), pipeline: true }
    const client = new pg.Client(options)
    client.on('error', () => {})
    await client.connect()
    clients.push(client)
    return client
  }
  const clients = stack.adopt<pg.Client[]>([], async (all) => {
    // Does not wait for those whose connection hangs.
    proxy.cut()
    await Promise.all(all.map((client) => client.end()))
  })
  const first = await connect()
  await first.query('CREATE TABLE word (text text)')
  const count = async () => {
    const { rows } = await first.query<{ count: string }>('SELECT count(*) FROM word')
    return Number(rows[0]?.count)
  }
  const all = stack.move()
  return { server, proxy, connect, count, [Symbol.asyncDispose]: () => all.disposeAsync() }
}

const insert = { name: 'insert', text: 'INSERT INTO word VALUES ($1)', values: ['a'] }

test('the connection breaks before a statement arrives, or after the server has answered it', async () => {
  await using world = await createWorld()
  const [one, other] = [await world.connect(), await world.connect()]
  world.proxy.fail(/^INSERT/, 'cut before')
  await expect(one.query(insert)).rejects.toThrow('terminated')
  expect(await world.count()).toBe(0)
  world.proxy.fail(/^INSERT/, 'cut after')
  await expect(other.query(insert)).rejects.toThrow('terminated')
  expect(await world.count()).toBe(1)
})

test('a prepared statement that runs again meets its fault, and the server fails as it is told', async () => {
  await using world = await createWorld()
  const client = await world.connect()
  await client.query(insert)
  world.proxy.fail(/^INSERT/, failingWith('40001'))
  await expect(client.query(insert)).rejects.toMatchObject({ code: '40001' })
  await client.query(insert)
  expect(await world.count()).toBe(2)
})

test('a connection that hangs stays open and silent, and others go on', async () => {
  await using world = await createWorld()
  const client = await world.connect()
  world.proxy.fail(/^INSERT/, 'hang after')
  const answer = client.query(insert).then(
    () => 'answered',
    () => 'broken',
  )
  await expect.poll(() => world.count()).toBe(1)
  expect(await Promise.race([answer, sleep(50, 'silent')])).toBe('silent')
  // What comes behind it still arrives.
  client.query(insert).catch(() => {})
  await expect.poll(() => world.count()).toBe(2)
  world.proxy.cut()
  expect(await answer).toBe('broken')
})

test('everything takes as long as the proxy is told', async () => {
  await using world = await createWorld()
  world.proxy.delayMs = 40
  const start = performance.now()
  await world.count()
  expect(performance.now() - start).toBeGreaterThan(79)
})
