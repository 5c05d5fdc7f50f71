/**
 * The baseline for the service: bare `node:http` that parses the JSON and sends an answer of the same
 * size. With JOURNAL=each, it also makes one SQLite transaction for each request, synced to disk.
 */
import { mkdirSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { serve } from './serve.ts'

/** The headers of the service's answer. */
const headers = [
  ...['access-control-allow-origin', '*'],
  'access-control-expose-headers',
  'Idempotency-Replayed, Location, Preference-Applied, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id',
  ...['cache-control', 'no-store', 'content-length', '125'],
  ...['content-security-policy', "default-src 'none'; frame-ancestors 'none'"],
  ...['content-type', 'application/json', 'cross-origin-resource-policy', 'same-origin'],
  'permissions-policy',
  'camera=(), display-capture=(), geolocation=(), microphone=(), payment=()',
  ...['referrer-policy', 'same-origin', 'vary', 'Accept, Origin'],
  ...['x-content-type-options', 'nosniff', 'x-frame-options', 'DENY'],
  ...['x-request-id', 'b593aaac-1a13-41a8-a419-f6227804f349'],
]

const answer = JSON.stringify({
  id: '01a1fcc9-07ab-732d-88d7-215f177b45b1',
  status: 'accepted',
  sheetTab: 'Sheet1',
  receivedAt: '2026-11-21T06:26:35.563Z',
})

const store = process.env['JOURNAL'] === 'each' ? oneTransactionEach() : () => undefined

const server = createServer((request, response) => {
  let text = ''
  request.setEncoding('utf8')
  request.on('data', (chunk: string) => (text += chunk))
  request.on('end', () => {
    store(JSON.parse(text))
    response.writeHead(202, headers)
    response.end(answer)
  })
})
serve(server)

function oneTransactionEach(): (signup: unknown) => void {
  const folder = process.env['DATA_DIR'] ?? '.'
  mkdirSync(folder, { recursive: true })
  const database = new DatabaseSync(join(folder, 'each.db'))
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
  database.exec('CREATE TABLE signup (id TEXT PRIMARY KEY, fields TEXT NOT NULL) STRICT')
  const insert = database.prepare('INSERT INTO signup (id, fields) VALUES (?, ?)')
  return (signup) => void insert.run(crypto.randomUUID(), JSON.stringify(signup))
}
