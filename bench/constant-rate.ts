import { connect, type Socket } from 'node:net'

const tickMs = 1

interface Client {
  readonly socket: Socket
  /** When its request should have been sent; undefined while the client is free. */
  intendedAt: number | undefined
}

export interface ConstantRate {
  readonly url: string
  readonly perSecond: number
  readonly seconds: number
  readonly connections: number
  readonly body: string
}

/**
 * POSTs at a constant rate. Counts the time of each answer from when its request should have been sent,
 * so that a service that stalls cannot hide it by slowing the load. wrk cannot do this. Resolves with
 * all times in milliseconds; rejects when an answer is not 202.
 */
export async function postAtConstantRate(options: ConstantRate): Promise<readonly number[]> {
  const { url, perSecond, seconds, connections } = options
  const { hostname, port } = new URL(url)
  const request = rawRequest(options)
  const total = Math.max(1, Math.floor(perSecond * seconds))
  const times: number[] = []
  const clients = Array.from({ length: connections }, (): Client => {
    return { socket: connect(Number(port), hostname), intendedAt: undefined }
  })
  const free = [...clients]
  const begin = performance.now()
  let sent = 0
  const { promise: done, resolve, reject } = Promise.withResolvers<undefined>()

  const send = () => {
    const due = Math.min(total, ((performance.now() - begin) / 1000) * perSecond)
    while (sent < due) {
      const client = free.pop()
      // All connections wait for answers. The late request counts from when it was due.
      if (!client) return
      client.intendedAt = begin + (sent / perSecond) * 1000
      sent += 1
      client.socket.write(request)
    }
  }
  for (const client of clients) {
    client.socket.setNoDelay(true)
    client.socket.on('error', reject)
    client.socket.on('close', () => reject(new Error(`${url} closed a connection.`)))
    onAnswers(client.socket, (status) => {
      if (status !== 202) return reject(new Error(`${url} answered ${status} under load.`))
      times.push(performance.now() - (client.intendedAt ?? Number.NaN))
      free.push(client)
      if (times.length === total) resolve(undefined)
      else send()
    })
  }
  const timer = setInterval(send, tickMs)
  try {
    await done
  } finally {
    clearInterval(timer)
    for (const { socket } of clients) socket.removeAllListeners('close').destroy()
  }
  return times
}

function rawRequest({ url, body }: ConstantRate): string {
  const { pathname, host } = new URL(url)
  const length = Buffer.byteLength(body)
  return (
    `POST ${pathname} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\n` +
    `Content-Length: ${length}\r\n\r\n${body}`
  )
}

/** Calls back with the status of each complete answer. A socket has one request at a time. */
function onAnswers(socket: Socket, callback: (status: number) => void): void {
  let received = ''
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    received += chunk
    const headEnd = received.indexOf('\r\n\r\n')
    if (headEnd === -1) return
    const length = Number(/content-length: (\d+)/i.exec(received)?.[1])
    if (received.length < headEnd + 4 + length) return
    const status = Number(received.slice(9, 12))
    received = ''
    callback(status)
  })
}
