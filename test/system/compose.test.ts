import { expect, test } from 'vitest'
import { createDatabaseWorld } from '../../harness/database-world.ts'
import { allDelivered } from '../../harness/delivery-state.ts'
import { freePort } from '../../harness/free-port.ts'
import { addressesInSheet } from '../../harness/google-world.ts'
import { postSignup } from '../../harness/post-signup.ts'
import { startPostgres } from '../../harness/postgres-server.ts'
import { startService } from '../../harness/start-service.ts'
import { startCaddy } from './world/proxies.ts'

/** Signs somebody up, and tries again as a form does. */
async function signUp(url: string, email: string): Promise<void> {
  const headers = { 'idempotency-key': email }
  const answer = async () => (await postSignup(url, { email }, headers)).status
  await expect.poll(answer).toBe(202)
}

test('behind the proxy of the example everybody is signed up once while an instance is killed', async () => {
  await using server = await startPostgres()
  await using world = await createDatabaseWorld(server)
  const env = { ...world.env, TRUST_PROXY: '1', RATE_LIMIT_PER_MINUTE: '0' }
  await using one = await startService({ env })
  await using two = await startService({ env })
  await using proxy = await startCaddy('examples/compose/Caddyfile', {
    SITE: `http://127.0.0.1:${await freePort()}`,
    INSTANCES: [one, two].map(({ url }) => new URL(url).host).join(' '),
  })
  const people = Array.from({ length: 40 }, (_, at) => `person${at}@example.com`)
  for (const email of people.slice(0, 20)) await signUp(proxy.url, email)
  await one.kill()
  for (const email of people.slice(20)) await signUp(proxy.url, email)
  await allDelivered(two)
  expect((await addressesInSheet(world.google)).toSorted()).toEqual(people.toSorted())
})
