// Run it with WEBHOOK_SECRET='whsec_…' node receiver.mjs. docs/webhooks.md explains the messages.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'

const secrets = process.env.WEBHOOK_SECRET.split(' ')
// A real receiver keeps these ids where it keeps the signups.
const done = new Set()

function isGenuine(headers, body) {
  const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': given = '' } = headers
  // Also false when there is no time.
  if (!(Math.abs(Date.now() / 1000 - Number(time)) < 300)) return false
  return secrets.some((secret) => {
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
    const hmac = createHmac('sha256', key).update(`${id}.${time}.${body}`)
    const expected = Buffer.from(`v1,${hmac.digest('base64')}`)
    return given.split(' ').some((one) => {
      const signature = Buffer.from(one)
      return signature.length === expected.length && timingSafeEqual(signature, expected)
    })
  })
}

async function work({ type, data }) {
  console.log(type, data.id ?? '', data.email ?? '')
}

const server = createServer(async (request, response) => {
  try {
    const body = await text(request)
    const id = request.headers['webhook-id']
    if (!isGenuine(request.headers, body)) return response.writeHead(401).end()
    if (!done.has(id)) await work(JSON.parse(body))
    done.add(id)
    response.writeHead(204).end()
  } catch (error) {
    // Rollcall sends it again.
    console.error(error)
    response.writeHead(500).end()
  }
})
server.listen(Number(process.env.PORT ?? 4000), '127.0.0.1')
