import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { createDatabaseWorld } from '../../harness/database-world.ts'
import { allDelivered } from '../../harness/delivery-state.ts'
import { endWithUs } from '../../harness/end-with-us.ts'
import { freePort } from '../../harness/free-port.ts'
import { addressesInSheet } from '../../harness/google-world.ts'
import { patienceMs } from '../../harness/patience.ts'
import { postSignup } from '../../harness/post-signup.ts'
import { startPostgres } from '../../harness/postgres-server.ts'
import { projectRoot } from '../../harness/source-file.ts'
import { startService } from '../../harness/start-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'

/** Starts Caddy with the file of the example, before these instances. */
async function startCaddy(instances: readonly string[]) {
  await using stack = new AsyncDisposableStack()
  const folder = stack.use(await tempFolder()).path
  const url = `http://127.0.0.1:${await freePort()}`
  const example = await readFile(join(projectRoot, 'examples/compose/Caddyfile'), 'utf8')
  // Other tests run a Caddy, too.
  await writeFile(join(folder, 'Caddyfile'), `{\n\tadmin off\n}\n${example}`)
  const child = spawn('caddy', ['run', '--config', join(folder, 'Caddyfile')], {
    stdio: 'ignore',
    env: {
      PATH: process.env['PATH'] ?? '',
      ...{ HOME: folder, XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder },
      ...{ SITE: url, INSTANCES: instances.join(' ') },
    },
  })
  endWithUs(child)
  stack.defer(async () => {
    child.kill()
    await once(child, 'exit')
  })
  await vi.waitFor(() => fetch(`${url}/api/health`), { timeout: patienceMs, interval: 100 })
  const all = stack.move()
  return { url, [Symbol.asyncDispose]: () => all.disposeAsync() }
}

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
  await using proxy = await startCaddy([one, two].map(({ url }) => new URL(url).host))
  const people = Array.from({ length: 40 }, (_, at) => `person${at}@example.com`)
  for (const email of people.slice(0, 20)) await signUp(proxy.url, email)
  await one.kill()
  for (const email of people.slice(20)) await signUp(proxy.url, email)
  await allDelivered(two)
  expect((await addressesInSheet(world.google)).toSorted()).toEqual(people.toSorted())
})
