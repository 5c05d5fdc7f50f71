/**
 * A receiver of webhooks that takes DELAY_MS for each message. HANGS=1 never answers. It verifies no signature,
 * as it runs on the core of the load. GET answers with the number of messages so far.
 */
import { createServer } from 'node:http'
import { serve } from './serve.ts'

const delayMs = Number(process.env['DELAY_MS'] ?? 0)
const hangs = process.env['HANGS'] === '1'

let messages = 0

const server = createServer((request, response) => {
  if (request.method === 'GET') return void response.end(String(messages))
  request.resume().once('end', () => {
    if (hangs) return
    setTimeout(() => {
      messages += 1
      response.writeHead(204).end()
    }, delayMs)
  })
})
// The bench stops services for a while, and their connections stay.
server.keepAliveTimeout = 0
serve(server)
