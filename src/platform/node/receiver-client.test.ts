import type { LookupAddress } from 'node:dns'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { receiverClient, receiverClientWith } from './receiver-client.ts'

/** A server on 127.0.0.1, and how often it was connected to. */
async function startServer() {
  const server = createServer((_request, response) => response.writeHead(204).end())
  const seen = { connections: 0 }
  server.on('connection', () => (seen.connections += 1))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    seen,
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const post = (client: typeof receiverClient, url: string) =>
  client({ method: 'POST', url, body: '{}', timeoutMs: 10_000, answerBytesMax: 1000 })

/** A client for which every name has the addresses that `found` has at the time. */
function clientFor(found: { addresses: readonly string[] }) {
  return receiverClientWith((_host, _options, done) => {
    const all = found.addresses.map((address): LookupAddress => {
      return { address, family: address.includes(':') ? 6 : 4 }
    })
    done(null, all)
  })
}

test('HTTP goes to a loopback address and to a name that has only such', async () => {
  await using server = await startServer()
  const url = `http://127.0.0.1:${server.port}/x`
  expect(await post(receiverClient, url)).toMatchObject({ status: 204 })
  const client = clientFor({ addresses: ['127.0.0.1', '::1'] })
  expect(await post(client, `http://n8n:${server.port}/x`)).toMatchObject({ status: 204 })
})

test.each([
  ['http', '93.184.216.34', 'is not a private or loopback address'],
  ['http', '169.254.169.254', 'is a link-local address'],
  ['https', '169.254.169.254', 'is a link-local address'],
  ['https', 'fe80::1', 'is a link-local address'],
])(
  '%s to a name that also has %s connects to none of its addresses',
  async (scheme, other, why) => {
    await using server = await startServer()
    const client = clientFor({ addresses: ['127.0.0.1', other] })
    await expect(post(client, `${scheme}://n8n:${server.port}/secret`)).rejects.toThrow(
      `POST ${scheme}://n8n:${server.port}: ${other} ${why}`,
    )
    expect(server.seen.connections).toBe(0)
  },
)

test('a name is looked at with each connection, so that it cannot change its address afterwards', async () => {
  await using server = await startServer()
  const found = { addresses: ['127.0.0.1'] }
  const client = clientFor(found)
  const url = `http://n8n:${server.port}/x`
  const request = { method: 'POST', url, timeoutMs: 10_000, answerBytesMax: 1000 } as const
  const once = { ...request, headers: { connection: 'close' } }
  expect(await client(once)).toMatchObject({ status: 204 })
  found.addresses = ['169.254.169.254']
  await expect(client(once)).rejects.toThrow('is a link-local address')
  expect(server.seen.connections).toBe(1)
})

test.each(['http://8.8.8.8/x', 'http://[2606:2800::1]/x', 'https://169.254.169.254/x'])(
  'an address that gets no messages is not called: %s',
  async (url) => {
    await expect(post(receiverClient, url)).rejects.toThrow(/is (not a private|a link-local)/)
  },
)

test('a name without an address is a failure', async () => {
  await expect(post(clientFor({ addresses: [] }), 'http://n8n/x')).rejects.toThrow('has no address')
})
