// @module-tag slow
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { createDatabaseWorld, type DatabaseWorld } from '../../harness/database-world.ts'
import { allDelivered, waitUntil } from '../../harness/delivery-state.ts'
import { createGoogleWorld, type GoogleWorld } from '../../harness/google-world.ts'
import { type PostgresProxy, startPostgresProxy } from '../../harness/postgres-proxy.ts'
import { type PostgresServer, startPostgres } from '../../harness/postgres-server.ts'
import { postSuspect } from '../../harness/post-suspect.ts'
import { addressesIn } from '../../harness/read-workbook.ts'
import { runCommand, startCommand } from '../../harness/run-command.ts'
import { startService } from '../../harness/start-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import { seededRandom } from '../../emulators/google-sheets/faults.ts'

const quarantining = { SPAM_FILTER: 'quarantine', RATE_LIMIT_PER_MINUTE: '0' }
/** Google's emulator is asked for more calls a row. */
const rounds = { workbook: 25, google: 8 }

let server: PostgresServer
beforeAll(async () => void (server = await startPostgres()))
afterAll(() => server[Symbol.asyncDispose]())

/** The addresses of a tab in the spreadsheet, in the order of its rows. */
type AddressesIn = (tab: string) => Promise<readonly string[]>

async function addressesInGoogle(google: GoogleWorld, tab: string): Promise<readonly string[]> {
  const rows = (await google.rows(tab)) ?? []
  return rows.map(([email = '']) => email).filter((email) => email.includes('@'))
}

async function holdOne(url: string, email: string): Promise<string> {
  const answer = await postSuspect(url, { email, sheetTab: 'Letters' })
  return ((await answer.json()) as { id: string }).id
}

/** Makes a process stop before it does something. Returns whether it has come to that. */
type StopBefore = (world: DatabaseWorld, proxy: PostgresProxy) => () => boolean

function statement(pattern: RegExp): StopBefore {
  return (_, proxy) => {
    proxy.fail(pattern, 'hang before')
    return () => proxy.failed > 0
  }
}

const stops: readonly (readonly [string, StopBefore])[] = [
  ['it finds the signup', statement(/FROM jsonb_to_recordset[^;]*AS asked/)],
  ['it looks for a tombstone', statement(/JOIN tombstone/)],
  ['it lets the signup go', statement(/UPDATE signup SET person = [^;]*row_status = CASE/)],
  ['it queues the signup', statement(/INSERT INTO redelivery/)],
  ['it commits', statement(/^COMMIT/)],
]

test.each(stops)(
  'on PostgreSQL and Google, a release that is killed before %s is done once by the next one',
  async (_, stopBefore) => {
    await using world = await createDatabaseWorld(server)
    const env = { ...world.env, ...quarantining }
    await using service = await startService({ env })
    const id = await holdOne(service.url, 'ada@example.com')
    await allDelivered(service)
    await using proxy = await startPostgresProxy(server.port)
    const isReached = stopBefore(world, proxy)
    const proxied = { ...env, DATABASE_URL: server.url(world.database.name, proxy.port) }
    const killed = startCommand(['quarantine', 'release', id], { env: proxied })
    await waitUntil(isReached, () => `it has not come so far: ${killed.stderr()}`)
    killed.kill('SIGKILL')
    await killed.ended
    proxy.cut()
    await runCommand(['quarantine', 'release', id], { env })
    await expectReleasedOnce(service, ['ada@example.com'], (tab) =>
      addressesInGoogle(world.google, tab),
    )
  },
)

test.each(['workbook', 'google'] as const)(
  'on SQLite and the %s, releases that are killed at any moment give each signup one row',
  async (kind) => {
    const seed = Date.now() % 1_000_000
    console.log(`release: seed ${seed}`)
    const random = seededRandom(seed)
    await using google = kind === 'google' ? await createGoogleWorld() : undefined
    await using data = await tempFolder()
    const place = { dataDir: data.path, env: { ...google?.env, ...quarantining } }
    await using service = await startService(place)
    const addressesOf: AddressesIn = google
      ? (tab) => addressesInGoogle(google, tab)
      : async (tab) => addressesIn(data.path, `${tab}.csv`).map((email = '') => email)
    const people: string[] = []
    for (let round = 0; round < rounds[kind]; round++) {
      const ids: string[] = []
      for (let nth = 0; nth < 5; nth++) {
        const email = `person-${round}-${nth}@example.com`
        people.push(email)
        ids.push(await holdOne(service.url, email))
      }
      if (random() < 0.7) await allDelivered(service)
      const killed = startCommand(['quarantine', 'release', ...ids], place)
      await sleep(200 + random() * 400)
      killed.kill('SIGKILL')
      await killed.ended
      if (random() < 0.2) await runCommand(['quarantine', 'release', ...ids], place)
    }
    await runCommand(['quarantine', 'release', '--since', '2001-01-01'], place)
    await expectReleasedOnce(service, people, addressesOf)
  },
)

async function expectReleasedOnce(
  service: Parameters<typeof allDelivered>[0],
  people: readonly string[],
  addressesOf: AddressesIn,
): Promise<void> {
  await allDelivered(service)
  expect((await addressesOf('Letters')).toSorted()).toEqual(people.toSorted())
}
