import { generateKeyPairSync } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { waitUntil } from '../../harness/delivery-state.ts'
import { openRaw } from '../../harness/raw-http.ts'
import type { Attack } from './carry-out.ts'

const json = '{"email":"ada@example.com"}'
const itemsPerRequest = 20
/** The limits of one client address and of all, from docs/decisions/http.md. */
const addressMax = 1_000
const waitingMax = 10_000
/** After this time no more answers come. */
const settledMs = 1_000

export const waitingVisitors: Attack = {
  what: 'Clients wait for rows while Google takes calls and never answers.',
  settings: async (started) => ({
    ...(await silentGoogle(started)),
    TRUST_PROXY: '1',
    RATE_LIMIT_PER_MINUTE: '0',
  }),
  run: async ({ url }, size) => {
    const pipelined = size === 'small' ? 5_000 : 100_000
    await using oneConnection = openRaw(url)
    oneConnection.socket.pause()
    for (let sent = 0; sent < pipelined; sent += 1_000)
      oneConnection.write(waitForOne.repeat(1_000))
    await sleep(settledMs)
    oneConnection.socket.destroy()

    const addresses = size === 'small' ? 2 : 12
    const perAddress = (2 * addressMax) / itemsPerRequest
    const share = addressMax / itemsPerRequest
    await using connections = new AsyncDisposableStack()
    let held = 0
    for (let address = 1; address <= addresses; address++) {
      const group = Array.from({ length: perAddress }, () => connections.use(openRaw(url)))
      for (const connection of group) connection.write(waitForMany(`192.0.2.${address}`))
      const waiting = () => group.filter((connection) => connection.received() === '').length
      const expected = Math.min(share, waitingMax / itemsPerRequest - held)
      const what = () =>
        `${waiting()} of ${perAddress} requests of one address wait, not ${expected}`
      await waitUntil(() => waiting() <= expected, what)
      await sleep(settledMs)
      if (waiting() !== expected) throw new Error(what())
      held += expected
    }
  },
}

const waitForOne = post(
  '/api/signup',
  json,
  'Idempotency-Key: one\r\nX-Forwarded-For: 192.0.2.99\r\n',
)

function waitForMany(address: string): string {
  const signups = Array.from({ length: itemsPerRequest }, () => json)
  const body = `{"signups":[${signups.join()}]}`
  return post('/api/signup/bulk', body, `X-Forwarded-For: ${address}\r\n`)
}

function post(path: string, body: string, headers: string): string {
  return (
    `POST ${path} HTTP/1.1\r\nHost: a\r\nPrefer: wait=30\r\n${headers}` +
    `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  )
}

/** Starts a server that takes calls and never answers. Resolves with the settings for it. */
async function silentGoogle(started: AsyncDisposableStack): Promise<Record<string, string>> {
  const server = createServer(() => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  started.defer(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  return {
    SHEETS_SHEET_ID: 'a-spreadsheet-that-never-answers-0000000000',
    SHEETS_CREDENTIALS_EMAIL: 'rollcall@project.iam.gserviceaccount.com',
    SHEETS_PRIVATE_KEY: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    SHEETS_API_URL: url,
    SHEETS_TOKEN_URL: url,
  }
}
