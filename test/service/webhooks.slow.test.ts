// @module-tag slow

import { setTimeout as sleep } from 'node:timers/promises'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { beforeAll, expect, test } from 'vitest'

import { bootService } from '../../harness/boot-service.ts'
import { createDatabaseWorld } from '../../harness/database-world.ts'
import { testPatienceMs } from '../../harness/patience.ts'
import { postBulk, postSignup } from '../../harness/post-signup.ts'
import { startPostgres } from '../../harness/postgres-server.ts'
import { startWebhookReceiver, testCertificate } from '../../harness/webhook-receiver.ts'
import { receiverClientWith } from '../../src/platform/node/receiver-client.ts'
import { Instances } from '../crash/instances.ts'

beforeAll(() => setDefaultCACertificates([...getCACertificates(), testCertificate]))

test('messages wait for a name that does not resolve, and for a certificate that is not trusted', async () => {
  const world = { isFound: false, certificates: getCACertificates('default') }
  await using receiver = await startWebhookReceiver('https')
  const url = (receiver.webhookEnv['WEBHOOK_URL'] ?? '').replace('127.0.0.1', 'localhost')
  const receiverHttp = receiverClientWith((_host, _options, done) => {
    if (world.isFound) done(null, [{ address: '127.0.0.1', family: 4 }])
    else done(new Error('getaddrinfo ENOTFOUND'), [])
  })
  setDefaultCACertificates(world.certificates.filter((it) => it.trim() !== testCertificate.trim()))
  try {
    const env = { ...receiver.webhookEnv, WEBHOOK_URL: url }
    await using service = await bootService({ env, receiverHttp })
    expect((await postSignup(service.url, { email: 'ada@example.com' })).status).toBe(202)
    await sleep(3_000)
    world.isFound = true
    await sleep(5_000)
    expect(receiver.received).toEqual([])
    setDefaultCACertificates(world.certificates)
    await expect.poll(() => receiver.received.length, { timeout: 90_000 }).toBe(1)
  } finally {
    setDefaultCACertificates(world.certificates)
  }
})

test(
  'after 50 kills of the sender with takeovers, every message came at least once, each with one id',
  async () => {
    const rounds = Number(process.env['KILL_ROUNDS'] ?? 50)
    await using server = await startPostgres()
    await using world = await createDatabaseWorld(server)
    const ids = new Map<unknown, Set<unknown>>()
    const failed = new Set<unknown>()
    let [tries, taken] = [0, 0]
    await using receiver = await startWebhookReceiver('http')
    receiver.answer = (response, { id, body }) => {
      tries += 1
      const email = String(body.data['email'])
      // Two of a round fail once, so that messages that keep their places meet kills, too.
      const isTaken = failed.has(email) || !email.includes('77-')
      if (isTaken) {
        taken += 1
        ids.set(email, (ids.get(email) ?? new Set()).add(id))
      } else failed.add(email)
      setTimeout(() => response.writeHead(isTaken ? 204 : 500).end(), 10)
    }
    const env = { ...world.env, ...receiver.webhookEnv }
    await using instances = await Instances.start(2, env)
    const accepted: string[] = []
    const doubles: number[] = []
    for (let round = 0; round < rounds; round++) {
      const signups = Array.from({ length: 200 }, (_, at) => {
        return { email: `${at}-${round}@example.com` }
      })
      expect((await postBulk(instances.nextUrl(), { signups })).status).toBe(202)
      accepted.push(...signups.map(({ email }) => email))
      // At another moment each time. Which one sends, changes with each kill.
      await sleep(20 + ((round * 37) % 400))
      await instances.kill(round % 2)
      const missing = () => accepted.filter((email) => !ids.has(email)).length
      await expect.poll(missing, { timeout: 60_000 }).toBe(0)
      doubles.push(taken - ids.size - doubles.reduce((sum, it) => sum + it, 0))
    }
    expect([...ids.values()].every((it) => it.size === 1)).toBe(true)
    expect(ids.size).toBe(accepted.length)
    console.log(
      `${rounds} kills, ${ids.size} messages, ${tries} tries, ${taken - ids.size} doubles; ` +
        `of each kill: ${doubles.join(' ')}`,
    )
  },
  2 * testPatienceMs,
)
