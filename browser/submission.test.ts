import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { createSender, type SenderSetup } from './submission.ts'

const challengeBox = () => expect.fail('No challenge is shown.')

/** A sender, and a service that answers its signups with these statuses, and tells to wait, then with 202. */
async function sending(statuses: number[], retryAfter = 0) {
  const keys: unknown[] = []
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'application/json')
    if (request.method === 'GET') return void response.end('{"challengeEnabled":false}')
    keys.push(request.headers['idempotency-key'])
    response.writeHead(statuses.shift() ?? 202, { 'retry-after': String(retryAfter) }).end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close().closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  const waits: string[] = []
  const setup: SenderSetup = {
    ...{ endpoint: `http://127.0.0.1:${port}/api/signup`, language: 'en', nonce: '' },
    ...{ challengeBox, theme: () => 'light', signal: new AbortController().signal },
    onWait: (why) => void waits.push(why),
  }
  const { send } = createSender(setup)
  return { keys, waits, signUp: (email: string) => send(new URLSearchParams({ email })) }
}

test('until it is accepted, a signup has one key, and after that the same data is another one', async () => {
  const { keys, signUp } = await sending([422])
  await expect(signUp('ada@example.com')).rejects.toMatchObject({ status: 422 })
  await signUp('ada@example.com')
  await signUp('ada@example.com')
  await signUp('bob@example.com')
  const [refused, accepted, again, other] = keys
  expect(refused).toBe(accepted)
  expect(new Set([accepted, again, other]).size).toBe(3)
})

test.each([0, 76])(
  'a signup is sent again under its key after %d seconds, which may be 75 at most',
  async (seconds) => {
    const { keys, waits, signUp } = await sending([503], seconds)
    const signedUp = await signUp('ada@example.com').catch((error: unknown) => error)
    expect(signedUp).toMatchObject(seconds === 0 ? {} : { reason: 'failed', status: 503 })
    expect([new Set(keys).size, waits]).toEqual([1, seconds === 0 ? ['retrying'] : []])
  },
)
