import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { FastClock } from '../../harness/fast-clock.ts'
import { createGoogleWorld } from '../../harness/google-world.ts'
import { patienceMs } from '../../harness/patience.ts'
import { postSignup } from '../../harness/post-signup.ts'
import { startService } from '../../harness/start-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import { startWebhookReceiver, testCertificate } from '../../harness/webhook-receiver.ts'

const hour = 3_600_000
/** A day takes 48 seconds, and the 15 seconds of a try 8 milliseconds. */
const speed = 1800

test('over a day of tries and a kill, one notice is given up and the next one gets through', async () => {
  const clock = new FastClock(speed)
  await using world = await createGoogleWorld({ clock })
  await using receiver = await startWebhookReceiver()
  await using folder = await tempFolder()
  const trusted = join(folder.path, 'trusted.pem')
  await writeFile(trusted, testCertificate)
  const start = () => {
    const env = { ...world.env, ...receiver.env, ...clock.environment() }
    const dataDir = join(folder.path, 'data')
    return startService({ env: { ...env, NODE_EXTRA_CA_CERTS: trusted }, dataDir })
  }
  const sheet = world.emulator.spreadsheet(world.spreadsheetId)
  sheet.share(world.email, 'none')
  receiver.answer = (response) => void response.writeHead(500).end()

  const began = clock.now()
  let service = await start()
  await using _ = { [Symbol.asyncDispose]: () => service[Symbol.asyncDispose]() }
  const signUp = async () =>
    (await postSignup(service.url, { email: 'ada@example.com' }).catch(() => null))?.status
  await expect.poll(signUp).toBe(202)
  await clock.until(began + 6 * hour)
  const early = receiver.received.length
  const told = [service.output()]
  await service.kill()
  service = await start()
  await clock.until(began + 20 * hour)
  // The end of the outage waits for the notice of its beginning.
  sheet.share(world.email, 'editor')
  const givenUp = () => service.output().includes('a notice was given up')
  await expect.poll(givenUp, { timeout: 2 * patienceMs }).toBe(true)
  const hours = (clock.now() - began) / hour
  receiver.answer = (response) => void response.writeHead(204).end()
  const types = () => receiver.received.map(({ body }) => body.type)
  await expect.poll(types).toContain('delivery.resumed')
  told.push(service.output())

  expect(Math.abs(hours - 25)).toBeLessThan(6)
  const blocked = receiver.received.filter(({ body }) => body.type === 'delivery.blocked')
  expect(new Set(blocked.map(({ id }) => id)).size).toBe(1)
  expect(early).toBeGreaterThan(8)
  expect(blocked.length).toBeGreaterThan(early + 8)
  expect(blocked.length).toBeLessThan(30)
  const lines = (words: string) => told.join('').split(words).length - 1
  expect(lines('notice: signups do not reach the spreadsheet')).toBe(1)
  expect(lines('notice: delivery works again')).toBe(1)
  expect(lines('a notice was given up')).toBe(1)
})
