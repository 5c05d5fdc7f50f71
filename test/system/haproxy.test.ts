import { spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { resets } from '../attacks/resets.ts'
import { signUp } from '../attacks/bystander.ts'
import { freePort } from '../../harness/free-port.ts'
import { patienceMs } from '../../harness/patience.ts'
import { startService } from '../../harness/start-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import { end, path } from './world/program.ts'

test('connections that are reset at every stage behind HAProxy do no harm', async () => {
  await using stack = new AsyncDisposableStack()
  const service = stack.use(await startService({ env: { TRUST_PROXY: '1' } }))
  const folder = stack.use(await tempFolder()).path
  const port = await freePort()
  const settings = join(folder, 'settings')
  await writeFile(settings, haproxySettings(port, new URL(service.url).host))
  const child = spawn('haproxy', ['-q', '-db', '-f', settings], {
    env: { PATH: path },
    stdio: 'ignore',
  })
  stack.defer(() => end(child))
  const url = `http://127.0.0.1:${port}`
  await vi.waitFor(() => fetch(`${url}/api/health`), { timeout: patienceMs, interval: 100 })

  await resets.run({ ...service, url }, 'small')
  await signUp(url)
  await signUp(service.url)
  expect(service.output()).not.toContain('failed unexpectedly')
  expect(await service.stop()).toBe(0)
})

/** The defaults, and what TRUST_PROXY needs. Invalid requests are passed on, too. */
const haproxySettings = (port: number, service: string) => `
defaults
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server 60s
  option forwardfor
  option accept-invalid-http-request
frontend all
  bind 127.0.0.1:${port}
  default_backend rollcall
backend rollcall
  server one ${service}
`
