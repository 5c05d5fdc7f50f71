import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { requestsPerSecond } from './load.ts'

test('a machine without wrk makes load with node:http, and a refused request is an error', async () => {
  const bodies: string[] = []
  const keys = new Set<unknown>()
  let status = 202
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      bodies.push(body)
      keys.add(request.headers['idempotency-key'])
      response.writeHead(status).end()
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const load = { url, connections: 4, seconds: 0.2, body: 'token-%d', folder: '' }
    expect(await requestsPerSecond(load, 'node:http')).toBeGreaterThan(0)
    expect(bodies[0]).toMatch(/^token-\d+$/)
    expect(new Set(bodies).size).toBe(bodies.length)
    expect([...keys]).toEqual([undefined])
    bodies.length = 0
    keys.clear()
    await requestsPerSecond({ ...load, isKeyed: true }, 'node:http')
    expect(keys.size).toBe(bodies.length)
    status = 429
    await expect(requestsPerSecond(load, 'node:http')).rejects.toThrow('answered 429 under load')
  } finally {
    server.close()
  }
})
