import pg from 'pg'
import { expect, test } from 'vitest'
import { startPostgres } from './postgres-server.ts'

async function ask(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows.map(
      (row) => Object.values(row)[0],
    )
  } finally {
    await client.end()
  }
}

test('what is committed survives an immediate stop, and a copy of a database has it', async () => {
  await using server = await startPostgres()
  await using database = await server.createDatabase()
  await ask(
    database.url,
    'CREATE TABLE word AS SELECT text FROM unnest(array[$$b$$, $$A$$]) AS text',
  )
  await server.stop('immediate')
  await expect(ask(database.url, 'SELECT 1')).rejects.toThrow('ECONNREFUSED')
  await server.start()
  expect(server.log()).toContain('automatic recovery in progress')
  await using copy = await server.createDatabase(database.name)
  expect(await ask(copy.url, 'SELECT text FROM word ORDER BY text')).toEqual(['A', 'b'])
})

test('the role of the service has a password, and no rights but those of an owner', async () => {
  await using server = await startPostgres()
  await using database = await server.createDatabase()
  expect(
    await ask(database.url, 'SELECT rolsuper FROM pg_roles WHERE rolname = current_user'),
  ).toEqual([false])
  const wrong = database.url.replace('quiet', 'loud')
  await expect(ask(wrong, 'SELECT 1')).rejects.toThrow('password authentication failed')
})

test('a setting changes in the running server', async () => {
  await using server = await startPostgres()
  await server.configure({ statement_timeout: '40ms' })
  await expect(ask(server.url('postgres'), 'SELECT pg_sleep(5)')).rejects.toThrow(
    'statement timeout',
  )
})
