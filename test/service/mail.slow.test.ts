import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'

import { type MailServer, startMailServer } from '../../harness/mail-world.ts'
import { postSignup } from '../../harness/post-signup.ts'
import { startService } from '../../harness/start-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import { testCertificate } from '../../harness/webhook-receiver.ts'

const login = { user: 'rollcall', password: 'p@ss word' }
const confirming = { CONFIRMATION: 'mail' }

/** Signs up, and resolves with how long the answer took. */
async function ask(url: string, email: string): Promise<number> {
  const begun = performance.now()
  expect((await postSignup(url, { email })).status).toBe(202)
  return performance.now() - begun
}

const recipients = async (server: MailServer) => (await server.mails()).map(({ to }) => to)

/** The same server by a name in capital letters, which does not count as this machine: it has to offer TLS. */
const elsewhere = (server: MailServer) => server.url.replace('127.0.0.1', 'LOCALHOST')

test('the process sends by STARTTLS to a server whose certificate it knows, and says nothing to another one', async () => {
  await using folder = await tempFolder()
  const certificate = join(folder.path, 'certificate.pem')
  await writeFile(certificate, testCertificate)
  await using server = await startMailServer({ tls: 'starttls', login })
  const dataDir = join(folder.path, 'data')
  const env = { ...server.env, ...confirming, MAIL_URL: elsewhere(server) }
  {
    await using doubting = await startService({ env, dataDir })
    await ask(doubting.url, 'ada@example.com')
    await expect.poll(doubting.output).toContain('mails cannot be sent')
    expect(doubting.output()).toContain('The certificate of the mail server is not trusted')
    expect((await server.log()).map(({ stage }) => stage)).not.toContain('auth')
  }
  const known = { ...env, NODE_EXTRA_CA_CERTS: certificate }
  await using trusting = await startService({ env: known, dataDir })
  await expect.poll(() => recipients(server)).toEqual(['ada@example.com'])
  expect(await server.mails()).toMatchObject([{ isEncrypted: true, user: 'rollcall' }])
  expect(trusting.output()).not.toContain('mails cannot be sent')
})

test('nothing is sent by a server elsewhere that offers no TLS', async () => {
  await using server = await startMailServer({ login })
  const env = { ...server.env, ...confirming, MAIL_URL: elsewhere(server) }
  await using service = await startService({ env })
  await ask(service.url, 'ada@example.com')
  await expect.poll(service.output).toContain('The mail server offers no TLS')
  expect((await server.log()).map(({ stage }) => stage)).not.toContain('auth')
})

test.each(['rcpt', 'answer'] as const)(
  'an answer that takes 30 seconds at the stage %s delays mails and no visitor, and no mail goes twice',
  async (stage) => {
    await using server = await startMailServer()
    await using service = await startService({ env: { ...server.env, ...confirming } })
    await server.fault({ stage, delayMs: 30_000 })
    await ask(service.url, 'person.0@example.com')
    const begun = performance.now()
    await expect
      .poll(async () => (await server.log()).some((step) => step.stage === stage))
      .toBe(true)
    const waits: number[] = []
    const emails = ['person.0@example.com']
    while (performance.now() - begun < 25_000) {
      const email = `person.${emails.length}@example.com`
      waits.push(await ask(service.url, email))
      emails.push(email)
      await sleep(1_000)
    }
    const sorted = async () => [...(await recipients(server))].toSorted()
    await expect.poll(async () => new Set(await recipients(server)).size).toBe(emails.length)
    expect(performance.now() - begun).toBeGreaterThan(29_000)
    // No second one comes.
    await sleep(12_000)
    expect(await sorted()).toEqual(emails.toSorted())
    console.log(
      `${stage}: ${waits.length} signups meanwhile took ${Math.max(...waits).toFixed(0)} ms at most`,
    )
    expect(Math.max(...waits)).toBeLessThan(2_000)
    expect(service.output()).not.toContain('mails cannot be sent')
  },
)

test('of mails whose answer was lost once each arrives at most twice, with one Message-ID', async () => {
  await using server = await startMailServer()
  await using service = await startService({
    env: { ...server.env, ...confirming, LOG_LEVEL: 'debug' },
  })
  const emails = Array.from({ length: 4 }, (_, at) => `person.${at}@example.com`)
  await server.fault({ stage: 'answer', cut: true, times: emails.length })
  for (const email of emails) await ask(service.url, email)
  const sent = () => service.output().split('a mail was sent').length - 1
  await expect.poll(sent).toBe(emails.length)
  await sleep(12_000)
  const mails = await server.mails()
  expect(mails).toHaveLength(2 * emails.length)
  for (const email of emails) {
    const ids = mails.filter(({ to }) => to === email).map(({ messageId }) => messageId)
    expect([ids.length, new Set(ids).size]).toEqual([2, 1])
  }
})
