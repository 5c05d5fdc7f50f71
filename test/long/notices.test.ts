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
/** A day takes 144 seconds, and the 15 seconds of a try 25 milliseconds. */
const speed = 600

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
  let firstAt: number | undefined
  receiver.answer = (response) => {
    firstAt ??= clock.now()
    response.writeHead(500).end()
  }

  let service = await start()
  await using _ = { [Symbol.asyncDispose]: () => service[Symbol.asyncDispose]() }
  const signUp = async () =>
    (await postSignup(service.url, { email: 'ada@example.com' }).catch(() => null))?.status
  await expect.poll(signUp).toBe(202)
  await expect.poll(() => firstAt).toBeDefined()
  await clock.until((firstAt ?? 0) + 6 * hour)
  const told = [service.output()]
  await service.kill()
  service = await start()
  const givenUp = () => service.output().includes('a notice was given up')
  await expect.poll(givenUp, { timeout: 2 * patienceMs }).toBe(true)
  const hours = (clock.now() - (firstAt ?? 0)) / hour
  receiver.answer = (response) => void response.writeHead(204).end()
  sheet.share(world.email, 'editor')
  const types = () => receiver.received.map(({ body }) => body.type)
  await expect.poll(types).toContain('delivery.resumed')
  told.push(service.output())

  expect(Math.abs(hours - 25)).toBeLessThan(6)
  // Blocked, or stalled where the machine is slow.
  const beginning = receiver.received.filter(({ body }) => body.type !== 'delivery.resumed')
  expect(new Set(beginning.map(({ id }) => id)).size).toBe(1)
  expect(beginning.length).toBeGreaterThan(0)
  const lines = (words: string) => told.join('').split(words).length - 1
  expect(lines('notice: signups do not reach the spreadsheet')).toBe(1)
  expect(lines('notice: delivery works again')).toBe(1)
  // Five within the first hour, and the 27th try is the last one.
  expect(told[0]?.match(/a notice could not be sent/g)?.length).toBeGreaterThanOrEqual(5)
  const ends = told.join('').match(/.*a notice was given up.*/g) ?? []
  expect(ends.map((line) => (JSON.parse(line) as { readonly tries: number }).tries)).toEqual([27])
})
