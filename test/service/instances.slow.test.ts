// @module-tag slow
import { afterAll, beforeAll, expect, test } from 'vitest'

import { createDatabaseWorld } from '../../harness/database-world.ts'
import { addressesInSheet } from '../../harness/google-world.ts'
import { postSignup } from '../../harness/post-signup.ts'
import { type PostgresServer, startPostgres } from '../../harness/postgres-server.ts'
import { type RunningService, startService } from '../../harness/start-service.ts'

let server: PostgresServer
beforeAll(async () => void (server = await startPostgres()))
afterAll(() => server[Symbol.asyncDispose]())

/** Two instances: `writer` delivers, and `onlooker` does not. */
async function startTwo() {
  await using stack = new AsyncDisposableStack()
  const world = stack.use(await createDatabaseWorld(server))
  const writer = stack.use(await startService({ env: world.env }))
  await expect.poll(writer.output).toContain('delivery started')
  const onlooker = stack.use(await startService({ env: world.env }))
  await expect.poll(onlooker.output).toContain('another instance delivers')
  const all = stack.move()
  return {
    writer,
    onlooker,
    sheet: world.google.emulator.spreadsheet(world.google.spreadsheetId),
    email: world.google.email,
    addresses: () => addressesInSheet(world.google),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

const accept = async ({ url }: RunningService, email: string) =>
  expect((await postSignup(url, { email })).status).toBe(202)

test('a visitor of one instance waits for the row that another one writes', async () => {
  await using two = await startTwo()
  const body = { email: 'ada@example.com' }
  const answer = await postSignup(two.onlooker.url, body, { prefer: 'wait=25' })
  expect(answer.status).toBe(201)
  expect(await answer.json()).toMatchObject({ status: 'written' })
  expect(await two.addresses()).toEqual([body.email])
})

test('every instance tells what blocks the writer of one, and none lets a visitor wait for it', async () => {
  await using two = await startTwo()
  two.sheet.share(two.email, 'none')
  const { url } = two.onlooker
  await accept(two.onlooker, 'ada@example.com')
  const delivery = { state: 'blocked', error: 'The caller does not have permission' }
  const ready = async () => (await fetch(`${url}/api/ready`)).json() as Promise<unknown>
  await expect.poll(ready).toMatchObject({ status: 'ready', delivery })
  const prefer = { prefer: 'wait=30' }
  const answer = await postSignup(url, { email: 'bob@example.com' }, prefer)
  expect(answer.status).toBe(202)
  expect(await answer.json()).toMatchObject({ delivery })
  two.sheet.share(two.email, 'editor')
  await expect.poll(two.addresses).toEqual(['ada@example.com', 'bob@example.com'])
  await expect.poll(ready).toMatchObject({ delivery: { state: 'ok' } })
})

test('a writer that was stopped and wakes up looks on, and no row is there twice', async () => {
  await using two = await startTwo()
  process.kill(two.writer.pid, 'SIGSTOP')
  await accept(two.onlooker, 'ada@example.com')
  await expect.poll(two.addresses).toEqual(['ada@example.com'])
  process.kill(two.writer.pid, 'SIGCONT')
  await expect.poll(two.writer.output).toContain('was not renewed in time')
  await accept(two.writer, 'bob@example.com')
  await expect.poll(two.addresses).toEqual(['ada@example.com', 'bob@example.com'])
  expect(two.writer.output().split('"delivery started"')).toHaveLength(2)
})

test('each site is written where its lease is, and when that instance is killed, another one takes over all its sites', async () => {
  await using world = await createDatabaseWorld(server)
  const { emulator, email: sharedWith } = world.google
  const { SHEETS_SHEET_ID: _, ...env } = world.env
  const names = ['blog', 'launch', 'news', 'shop']
  const sheets = new Map(
    names.map((name) => [name, emulator.createSpreadsheet({ sharedWith }).id] as const),
  )
  const start = async (known: readonly string[]) => {
    const sites = Object.fromEntries(known.map((name) => [name, { spreadsheet: sheets.get(name) }]))
    const ROLLCALL_CONFIG = JSON.stringify({ sites })
    await using stack = new AsyncDisposableStack()
    const service = stack.use(await startService({ env: { ...env, ROLLCALL_CONFIG } }))
    const leases = () => service.output().match(/delivery started|another instance/g)
    await expect.poll(leases).toHaveLength(known.length)
    stack.move()
    return service
  }
  const written = ({ output }: RunningService) =>
    [...output().matchAll(/"site":"(\w+)".*"delivery started"/g)].map(([, site]) => site).sort()
  const acceptAll = async ({ url }: RunningService, name: string) => {
    for (const site of names) {
      const answer = await postSignup(url, { email: `${name}@${site}.example`, site })
      expect(answer.status).toBe(202)
    }
  }
  const rows = () =>
    names.map((name) =>
      emulator
        .spreadsheet(sheets.get(name) ?? '')
        .rows('Sheet1')
        .slice(1),
    )
  const addresses = () => rows().map((ofSite) => ofSite.map(([address]) => address))
  const expected = (...people: readonly string[]) =>
    names.map((site) => people.map((name) => `${name}@${site}.example`))

  // It knows two sites, so the leases of the others are left.
  await using one = await start(['launch', 'news'])
  await using two = await start(names)
  await acceptAll(two, 'ada')
  await expect.poll(addresses).toEqual(expected('ada'))
  expect([written(one), written(two)]).toEqual([
    ['launch', 'news'],
    ['blog', 'shop'],
  ])
  await one.kill()
  await acceptAll(two, 'bob')
  await expect.poll(addresses).toEqual(expected('ada', 'bob'))
  expect(written(two)).toEqual(names)
})
