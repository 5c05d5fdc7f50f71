import { spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { join } from 'node:path'
import { expect } from 'vitest'

import { endWithUs } from './end-with-us.ts'
import { freePort } from './free-port.ts'
import { patienceMs } from './patience.ts'
import { projectRoot } from './source-file.ts'
import { httpClient } from '../src/platform/node/http-client.ts'
import { webhookBody, webhookIdOf } from '../src/outbox/webhook/endpoint.ts'
import { sendMessage } from '../src/outbox/webhook/send.ts'
import { makeSignup } from './make-signup.ts'

export const receiverFolder = join(projectRoot, 'examples/webhooks')

const bytes = [24, 64].map((length) => Buffer.alloc(length, 'k'))
const secrets = bytes.map((key) => `whsec_${key.toString('base64')}`)

/** Starts a receiver of webhooks as a process of its own, which knows two secrets. */
export async function startReceiver(
  [program, file]: readonly [program: string, file: string],
  env: Readonly<Record<string, string>> = {},
  folder = receiverFolder,
) {
  await using made = new AsyncDisposableStack()
  const port = await freePort()
  const child = spawn(program, [file], {
    cwd: folder,
    stdio: 'pipe',
    env: {
      PATH: process.env['PATH'],
      PORT: String(port),
      WEBHOOK_SECRET: secrets.join(' '),
      ...env,
    },
  })
  endWithUs(child)
  made.defer(() => void child.kill('SIGKILL'))
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  }
  const url = `http://127.0.0.1:${port}/hook`
  await expect
    .poll(
      () =>
        fetch(url, { method: 'POST' }).then(
          (it) => it.status,
          () => output,
        ),
      {
        timeout: patienceMs,
      },
    )
    .toBe(401)
  const kept = made.move()
  return {
    url,
    output: () => output,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

type Receiver = Awaited<ReturnType<typeof startReceiver>>

/** Sends messages as Rollcall does, and others that it would not send. */
export function sendingTo({ url }: Pick<Receiver, 'url'>) {
  const position = 7
  const world = (now: number) => ({ http: httpClient, clock: { now: () => now } })
  const { signal } = new AbortController()
  return {
    /** Returns what became of it. @param keys by which it is signed */
    send: async (
      type: 'signup.accepted' | 'signup.erased',
      signup = makeSignup({ email: 'grüße@example.com', name: 'Ada \u2028 L' }),
      { keys = bytes, at = Date.now() }: { keys?: readonly Buffer[]; at?: number } = {},
    ) => {
      const id = webhookIdOf(url, signup.id, type)
      const body = webhookBody({ type, position, signup }, 'news', at)
      const sent = await sendMessage({ url, keys }, { id, body }, world(at), signal)
      return sent.kind === 'sent' ? 'taken' : sent.reason
    },
    /** Sends a body under headers of another one. Returns the status. */
    forge: async (headers: Readonly<Record<string, string>>) => {
      const answer = await fetch(url, { method: 'POST', headers, body: '{}' })
      return answer.status
    },
  }
}

/** A receiver of the examples takes what is signed, once, and nothing else. */
export async function expectToVerify(receiver: Receiver): Promise<void> {
  const { send, forge } = sendingTo(receiver)
  const signup = makeSignup({ email: 'grüße@example.com', name: 'Ada \u2028 Lovelace' })
  const refused = 'the receiver answered with status 401'
  const others = [Buffer.alloc(32, 'x')]
  const old = Date.now() - 10 * 60 * 1000
  expect(await send('signup.accepted', signup, { keys: others })).toBe(refused)
  expect(await send('signup.accepted', signup, { at: old })).toBe(refused)
  expect(await send('signup.accepted', signup)).toBe('taken')
  for (const key of bytes)
    expect(await send('signup.accepted', signup, { keys: [key] })).toBe('taken')
  expect(await send('signup.erased', signup)).toBe('taken')
  const time = String(Math.floor(Date.now() / 1000))
  const ofOther = createHmac('sha256', bytes[0] ?? '')
    .update(`a.${time}.{"a":1}`)
    .digest('base64')
  const named = { 'webhook-id': 'a', 'webhook-timestamp': time }
  for (const headers of [
    { ...named, 'webhook-signature': `v1,${ofOther}` },
    { ...named, 'webhook-signature': 'v1,' },
    { ...named, 'webhook-signature': 'v1,é' },
    { ...named, 'webhook-timestamp': 'soon', 'webhook-signature': `v1,${ofOther}` },
    { 'webhook-timestamp': time },
  ]) {
    expect(await forge(headers), JSON.stringify(headers)).toBe(401)
  }
  await expect
    .poll(receiver.output)
    .toBe(`signup.accepted ${signup.id} ${signup.email}\nsignup.erased ${signup.id} \n`)
}
