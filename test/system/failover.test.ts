import { expect, test } from 'vitest'

import { addressesInSheet, createGoogleWorld } from '../../harness/google-world.ts'
import { postSignups } from '../../harness/post-signup.ts'
import { startPostgresProxy } from '../../harness/postgres-proxy.ts'
import { failedStart } from '../../harness/start-service.ts'
import { Instances } from '../crash/instances.ts'
import { visit } from '../crash/instances-load.ts'
import { journalOf } from '../crash/journal-of.ts'
import { ReplicatedPostgres } from './world/replicated-postgres.ts'

/** Two instances, whose database is at an address that moves to the standby with `failOver`. */
async function createWorld() {
  await using stack = new AsyncDisposableStack()
  const google = stack.use(await createGoogleWorld())
  const databases = stack.use(await ReplicatedPostgres.start())
  const proxy = stack.use(await startPostgresProxy(databases.primaryPort))
  const env = {
    ...google.env,
    DATABASE_URL: `postgres://postgres@127.0.0.1:${proxy.port}/postgres`,
    RATE_LIMIT_PER_MINUTE: '0',
  }
  const instances = stack.use(await Instances.start(2, env))
  const all = stack.move()
  return {
    google,
    databases,
    instances,
    failOver: async () => {
      await databases.failOver()
      proxy.target = databases.standbyPort
      proxy.cut()
    },
    journal: async () =>
      (await journalOf(`postgres://postgres@127.0.0.1:${databases.standbyPort}/postgres`)).signups,
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

test('a failover to a standby for which commits wait loses no answered signup, and every signup is one row', async () => {
  await using world = await createWorld()
  await world.databases.waitForStandby()
  const stop = new AbortController()
  const nextUrl = () => world.instances.nextUrl()
  const tabs = ['Sheet1']
  const visiting = visit({ nextUrl, tabs, visitorsAtOnce: 6, pauseMs: 10, stop: stop.signal })
  const hasMore = async () => {
    const { length } = await addressesInSheet(world.google)
    const count = async () => (await addressesInSheet(world.google)).length
    await expect.poll(count).toBeGreaterThan(length + 50)
  }
  await hasMore()
  await world.failOver()
  await hasMore()
  stop.abort()
  const { accepted, unclear, refused } = await visiting
  await world.instances.allDelivered()
  const journal = await world.journal()
  console.log(`${accepted.length} signups answered with 2xx, ${refused} refused`)
  expect(accepted.length).toBeGreaterThan(50)
  const known = new Map(journal.map(({ id, email }) => [id, email]))
  expect(accepted.filter(({ id, email }) => known.get(id) !== email)).toEqual([])
  const rows = await addressesInSheet(world.google)
  expect(new Set(rows).size).toBe(rows.length)
  expect(rows).toEqual(journal.map(({ email }) => email))
  expect(rows.length - accepted.length).toBeLessThanOrEqual(unclear.size)
})

test('a failover to a standby that lags loses what it had not got yet, and every later signup is one row', async () => {
  await using world = await createWorld()
  const people = (which: string) =>
    Array.from({ length: 20 }, (_, index) => `${which}.${index}@example.com`)
  const signUp = async (emails: string[]) => {
    await postSignups(world.instances.nextUrl(), emails)
    await world.instances.allDelivered()
  }
  const [kept, lost, later] = [people('kept'), people('lost'), people('later')]
  await signUp(kept)
  await world.databases.stopStandby()
  await signUp(lost)
  await world.failOver()
  await signUp(later)
  const journal = (await world.journal()).map(({ email }) => email)
  expect(journal.toSorted()).toEqual([...kept, ...later].toSorted())
  // Their rows were written before.
  const rows = await addressesInSheet(world.google)
  expect(rows.toSorted()).toEqual([...kept, ...lost, ...later].toSorted())
})

test('a start on a standby says so at once, with an exit code after which systemd tries again', async () => {
  await using databases = await ReplicatedPostgres.start()
  const url = `postgres://postgres@127.0.0.1:${databases.standbyPort}/postgres`
  await using google = await createGoogleWorld()
  const { code, output } = await failedStart({ env: { ...google.env, DATABASE_URL: url } })
  expect(output).toContain('is a standby, which takes no signups. Give the host of the primary')
  expect(output).not.toContain('waits for it')
  expect(code).toBe(1)
})
