import { expect, test } from 'vitest'
import { bootService } from '../../harness/boot-service.ts'
import { openRaw, parseAnswers, type RawConnection } from '../../harness/raw-http.ts'

/** A client with a private address, as this test has, may hold three quarters: 6 connections. */
const limits = { connectionsMax: 8 }
const health = 'GET /api/health HTTP/1.1\r\nHost: a\r\n\r\n'

/** Opens connections one after the other, and a request is answered on each before the next is opened. */
async function openAnswered(
  url: string,
  count: number,
  stack: AsyncDisposableStack,
): Promise<readonly RawConnection[]> {
  const connections: RawConnection[] = []
  for (let opened = 0; opened < count; opened++) {
    const connection = stack.use(openRaw(url))
    connection.write(health)
    await expect.poll(() => parseAnswers(connection.received()).length).toBe(1)
    connections.push(connection)
  }
  return connections
}

test('when a client opens more connections than its share, its longest idle one is closed', async () => {
  await using service = await bootService({ limits })
  await using stack = new AsyncDisposableStack()
  const [first = expect.fail()] = await openAnswered(service.url, 7, stack)
  expect(parseAnswers(await first.closed)).toHaveLength(1)
})

test('a trusted proxy may hold all connections', async () => {
  await using service = await bootService({ limits, env: { TRUST_PROXY: '1' } })
  await using stack = new AsyncDisposableStack()
  const [first = expect.fail()] = await openAnswered(service.url, 8, stack)
  first.write(health)
  await expect.poll(() => parseAnswers(first.received()).length).toBe(2)
})
