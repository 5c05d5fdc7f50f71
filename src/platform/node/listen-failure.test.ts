import { expect, test } from 'vitest'
import { listen } from './http-server.ts'
import { listenFailure } from './listen-failure.ts'

const answer = { status: 200, headers: [], body: '' }

const start = (host: string, port: number) =>
  listen({
    host,
    port,
    bodyBytesMax: 1_000,
    fetch: async () => answer,
    refuse: () => answer,
  })

test('the message for a used port names the setting, and how to get a free port', async () => {
  const first = await start('127.0.0.1', 0)
  const port = Number(new URL(first.url).port)
  await expect(start('127.0.0.1', port)).rejects.toThrow(
    `Cannot listen on port ${port} of 127.0.0.1: another program listens on it (EADDRINUSE). ` +
      'Stop that program, or set PORT to another port. PORT=0 picks a free one.',
  )
  await first.close(0)
})

test.each(['203.0.113.9', 'fe80::1'])(
  'the message for HOST=%s says that the address does not belong to this machine',
  async (host) => {
    await expect(start(host, 0)).rejects.toThrow(
      /HOST names no address of this machine.*Set HOST to 0\.0/,
    )
  },
)

test.each([
  ['ENOTFOUND', /nonsense: HOST names no address of this machine \(ENOTFOUND\)\. Set HOST to/],
  ['EACCES', /no right to this port .* Set PORT to 1024 or more/],
  ['EMFILE', /of nonsense: as the system says\. Set PORT or HOST to another value\./],
])('%s says what to do and keeps its cause', (code, message) => {
  const cause = Object.assign(new Error('as the system says'), { code })
  const failure = listenFailure('nonsense', 80, cause)
  expect(failure.message).toMatch(message)
  expect(failure.cause).toBe(cause)
})
