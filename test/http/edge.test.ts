import { expect, test } from 'vitest'
import { bootService } from '../../harness/boot-service.ts'
import { sendRaw } from '../../harness/raw-http.ts'

test('a log line about a request carries the id that its answer had, and no other line has one', async () => {
  await using logging = await bootService()
  const answer = await fetch(`${logging.url}/api/signup`, {
    method: 'POST',
    headers: { accept: 'text/html' },
    body: new URLSearchParams({ email: 'ada@example.com', redirect: 'https://evil.example/x' }),
    redirect: 'manual',
  })
  expect(answer.status).toBe(303)
  await expect.poll(() => logging.output()).toContain('batch written')
  const lines = logging
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{'))
  const ids = lines.map((line) => (JSON.parse(line) as { requestId?: string }).requestId)
  // The one line about a request is the warning of the redirect that was not followed.
  expect(ids.filter((id) => id !== undefined)).toEqual([answer.headers.get('x-request-id')])
})

test('only the literal path leads to a page, as a rule of a proxy sees no other', async () => {
  await using guarded = await bootService({ env: { ADMIN_TOKEN: 'correct-horse-battery-staple' } })
  const { host } = new URL(guarded.url)
  const ask = async (target: string) => {
    const head = `GET ${target} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`
    return (await sendRaw(guarded.url, head))[0]?.status
  }
  for (const target of ['/admin', '/admin/?x=%61', `http://${host}/admin`]) {
    expect(await ask(target), target).toBe(200)
  }
  const disguised = ['/%61dmin', '/./admin', '/x/../admin', '/x/%2E%2e/admin', '/.%2e/admin']
  const others = ['//admin', '/admin%2f', '/admin/.', '/admin;', '/api/../admin', '/api/signup/..']
  for (const target of [...disguised, ...others, `http://${host}/x/../admin`]) {
    expect(await ask(target), target).toBe(404)
  }
})
