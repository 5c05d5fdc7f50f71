import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { startLoopbackServer } from '../emulators/loopback-server.ts'
import { requestsPerSecond } from './load.ts'

test('a machine without wrk makes load with node:http, and a refused request is an error', async () => {
  const bodies: string[] = []
  const keys = new Set<unknown>()
  let status = 202
  const { url, stop } = await startLoopbackServer(async (request, response) => {
    bodies.push(await text(request))
    keys.add(request.headers['idempotency-key'])
    response.writeHead(status).end()
  })
  try {
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
    await stop()
  }
})
