import { costlyBodies } from './costly-bodies.ts'
import { costlyHeads } from './costly-heads.ts'

/** A request as long as the limits allow that is slow for a parser which reads parts of it twice. */
export interface CostlyRequest {
  readonly title: string
  /** The whole request. It asks to close the connection. */
  readonly bytes: Buffer
}

/** @param bodyBytes the length of each body, at most the limit of the service */
export function costlyRequests(bodyBytes: number): readonly CostlyRequest[] {
  const bodies = costlyBodies(bodyBytes).map(({ title, path, contentType, content }) => {
    const headers = {
      accept: contentType.startsWith('multipart') ? 'text/html' : 'application/json',
      'content-type': contentType,
      'content-length': String(content.length),
      // With a key, the service compares the contents of bulk requests.
      ...(path.endsWith('bulk') && { 'idempotency-key': crypto.randomUUID() }),
    }
    return {
      title: `${contentType.slice(0, 40)}: ${title}`,
      bytes: Buffer.concat([head('POST', path, headers), content]),
    }
  })
  const heads = costlyHeads().map(({ title, method, target, headers }) => ({
    title,
    bytes: Buffer.concat([
      head(method, target, {
        ...headers,
        ...(method === 'POST' && { 'content-length': String(form.length) }),
      }),
      Buffer.from(method === 'POST' ? form : ''),
    ]),
  }))
  return [...bodies, ...heads, inTinyChunks(bodyBytes)]
}

const form = 'email=ada@example.com&redirect=/&name=Ada'

function inTinyChunks(bytes: number): CostlyRequest {
  const headers = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' }
  const body = Buffer.from(`${'1\r\n \r\n'.repeat(bytes)}0\r\n\r\n`)
  return {
    title: 'chunks of one byte',
    bytes: Buffer.concat([head('POST', '/api/signup', headers), body]),
  }
}

function head(method: string, target: string, headers: Readonly<Record<string, string>>): Buffer {
  const all = Object.entries({ host: 'localhost', connection: 'close', ...headers })
  const lines = all.map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1')
}
