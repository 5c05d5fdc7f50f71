import {
  createServer as createPlainServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { Webhook } from 'standardwebhooks'

const webhookSecret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLwSwQ2Vzc2lvbi1r'

/** What came to the receiver. Its signature was right. */
export interface Received {
  readonly id: string | undefined
  readonly path: string | undefined
  readonly body: {
    readonly type: string
    readonly data: Readonly<Record<string, unknown>>
    readonly text: string
  }
  /** The whole body. */
  readonly text: string
}

export interface WebhookReceiver extends AsyncDisposable {
  /** Settings of a service whose notices go here. */
  readonly env: Readonly<Record<string, string>>
  /** Settings of a service whose signups go here. */
  readonly webhookEnv: Readonly<Record<string, string>>
  readonly received: readonly Received[]
  /** Answers from now on. At first: status 204. */
  answer: (response: ServerResponse, received: Received) => void
}

/**
 * A receiver of webhooks on 127.0.0.1, by HTTP or by HTTPS with the certificate below. It keeps what is signed as the
 * library of Standard Webhooks signs it, and answers 401 to everything else.
 */
export async function startWebhookReceiver(
  protocol: 'http' | 'https' = 'https',
): Promise<WebhookReceiver> {
  const received: Received[] = []
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    void take(request, response)
  }
  const server =
    protocol === 'http'
      ? createPlainServer(listener)
      : createServer({ cert: testCertificate, key: testKey }, listener)
  const receiver = {
    received,
    answer: (response: ServerResponse, _: Received) => void response.writeHead(204).end(),
  }
  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request)
    if (!isSigned(request.headers, body)) return void response.writeHead(401).end()
    const id = valueOf(request.headers, 'webhook-id')
    const message = {
      id,
      path: request.url,
      body: JSON.parse(body) as Received['body'],
      text: body,
    }
    received.push(message)
    receiver.answer(response, message)
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const url = `${protocol}://127.0.0.1:${port}/services/T0000/very-secret-path?key=4711`
  return Object.assign(receiver, {
    env: { ALERT_WEBHOOK_URL: url, ALERT_WEBHOOK_SECRET: webhookSecret },
    webhookEnv: { WEBHOOK_URL: url, WEBHOOK_SECRET: webhookSecret },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  })
}

/** A process may live in another time, so the time of the signature may be any. */
function isSigned(headers: IncomingHttpHeaders, body: string): boolean {
  const time = new Date(Number(valueOf(headers, 'webhook-timestamp')) * 1000)
  const expected = new Webhook(webhookSecret).sign(valueOf(headers, 'webhook-id'), time, body)
  return headers['webhook-signature'] === expected
}

function valueOf(headers: IncomingHttpHeaders, name: string): string {
  return String(headers[name])
}

/** Of 127.0.0.1 and localhost, until the year 2126. Whoever calls the receiver has to trust it. */
export const testCertificate = `-----BEGIN CERTIFICATE-----
MIIBpTCCAUugAwIBAgIUUpmJLQNUG1VdgGUDKEbT1bLxKhIwCgYIKoZIzj0EAwIw
GTEXMBUGA1UEAwwOUm9sbGNhbGwgdGVzdHMwIBcNMjYxMTIzMDI0NDQ1WhgPMjEy
NjEwMzAwMjQ0NDVaMBkxFzAVBgNVBAMMDlJvbGxjYWxsIHRlc3RzMFkwEwYHKoZI
zj0CAQYIKoZIzj0DAQcDQgAEJAPYLNaE3pUjlFC7OPg4Vyow0MLnO4+EAGB39MOf
FMMLM7jYUCVN/oRRXze2e6ahPsBNExUxKNwbi7XjzChXAqNvMG0wHQYDVR0OBBYE
FOv9XWxoZgOJ+IOg3ATfXIP+6P1RMB8GA1UdIwQYMBaAFOv9XWxoZgOJ+IOg3ATf
XIP+6P1RMA8GA1UdEwEB/wQFMAMBAf8wGgYDVR0RBBMwEYcEfwAAAYIJbG9jYWxo
b3N0MAoGCCqGSM49BAMCA0gAMEUCIGKBu85yIfcEgnhOvEyzKYrRM76D7P1wUqbU
eWsqAZmlAiEA+VtVjtPnKwV2gpgjyqr924XvpJIJZIDl242xzRsQBoc=
-----END CERTIFICATE-----
`

/** It protects nothing. */
export const testKey = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgVkR4eEYcGQMvbKNf
hB/lxr2aWiZnwiTXoD8Hj97PIVShRANCAAQkA9gs1oTelSOUULs4+DhXKjDQwuc7
j4QAYHf0w58UwwszuNhQJU3+hFFfN7Z7pqE+wE0TFTEo3BuLtePMKFcC
-----END PRIVATE KEY-----
`
