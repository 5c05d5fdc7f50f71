import { createHash } from 'node:crypto'
import { text } from 'node:stream/consumers'
import { simpleParser } from 'mailparser'
import { ChatEmulator } from '../emulators/chat.ts'
import { escapeHtml } from '../emulators/google-sheets/html.ts'
import { startLoopbackServer } from '../emulators/loopback-server.ts'
import { SmtpEmulator } from '../emulators/smtp/emulator.ts'
import { testCertificate, testKey } from '../harness/webhook-receiver.ts'

const shownMax = 50
const webhookSecret = `whsec_${createHash('sha256').update('sandbox').digest('base64')}`

/**
 * Starts a mailbox that takes all mails of the sandbox, a receiver of its webhooks and a channel of Slack's, with a page
 * that shows them.
 *
 * @param publicUrl where visitors reach the sandbox
 */
export async function startReceivers(publicUrl: string) {
  const mailServer = new SmtpEmulator({
    ...{ tls: 'none', certificate: testCertificate, key: testKey, port: 0 },
  })
  const port = await mailServer.start()
  const webhooks: string[] = []
  const chat = new ChatEmulator()
  const server = await startLoopbackServer(async (request, response) => {
    if (request.method === 'POST') {
      const body = await text(request)
      const { url = '' } = request
      const answer = url === chat.pathOf('slack') ? chat.take(url, body) : { status: 204 }
      if (url === '/webhook') webhooks.push(body.slice(0, 100_000))
      response.writeHead(answer.status, answer.headers).end(answer.text)
      return
    }
    const headers = {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'",
    }
    response.writeHead(200, headers).end(await pageOf(mailServer.mails, webhooks, chat.posts))
  })
  return {
    url: server.url,
    mail: {
      MAIL_URL: `smtp://127.0.0.1:${port}`,
      MAIL_FROM: 'Sandbox <hello@sandbox.example>',
      PUBLIC_URL: publicUrl,
    },
    webhook: { WEBHOOK_URL: `${server.url}/webhook`, WEBHOOK_SECRET: webhookSecret },
    chat: { CHAT_URL: server.url + chat.pathOf('slack'), CHAT_KIND: 'slack' },
    [Symbol.asyncDispose]: async () => {
      await Promise.all([mailServer.stop(), server.stop()])
    },
  }
}

/** The newest first. The HTML of a mail runs in a frame that may do nothing but open its link. */
async function pageOf(
  mails: SmtpEmulator['mails'],
  webhooks: readonly string[],
  posts: ChatEmulator['posts'],
): Promise<string> {
  const read = await Promise.all(
    mails
      .slice(-shownMax)
      .toReversed()
      .map(({ raw }) => simpleParser(Buffer.from(raw, 'latin1'))),
  )
  const letters = read.map(({ subject = '', to, html }) => {
    const whom = [to ?? []].flat().map((it) => it.text)
    const shown = (typeof html === 'string' ? html : '').replace(
      '<head>',
      '<head><base target="_blank">',
    )
    return `<h3>${escapeHtml(subject)}</h3><p>to ${escapeHtml(whom.join(', '))}</p>
<iframe sandbox="allow-popups allow-popups-to-escape-sandbox" title="${escapeHtml(subject)}" srcdoc="${escapeHtml(shown)}"></iframe>`
  })
  const messages = webhooks.slice(-shownMax).toReversed()
  const told = posts.slice(-shownMax).toReversed()
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Mails, channel and webhooks of the sandbox</title>
<style>:root { color-scheme: light dark } body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem }
iframe { inline-size: 100%; block-size: 24rem; border: 1px solid #8886 } pre { white-space: pre-wrap; overflow-wrap: anywhere }</style>
<main><h1>Mails, channel and webhooks of the sandbox</h1><p>Load this page again for what is new.</p>
<h2>Mails: ${mails.length}</h2>${letters.join('')}
<h2>Channel: ${posts.length}</h2>${told.map((it) => `<pre>${escapeHtml(it.text)}</pre>`).join('')}
<h2>Webhooks: ${webhooks.length}</h2>${messages.map((it) => `<pre>${escapeHtml(it)}</pre>`).join('')}</main></html>`
}
