// @module-tag slow
import { createHash } from 'node:crypto'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { beforeAll, expect, test } from 'vitest'
import { bootService } from '../../harness/boot-service.ts'
import { createDatabaseWorld } from '../../harness/database-world.ts'
import { type MailServer, startMailServer } from '../../harness/mail-world.ts'
import { postSignup } from '../../harness/post-signup.ts'
import { startPostgres } from '../../harness/postgres-server.ts'
import { startService } from '../../harness/start-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import { testCertificate } from '../../harness/webhook-receiver.ts'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

beforeAll(() => setDefaultCACertificates([...getCACertificates(), testCertificate]))

const login = { user: 'rollcall', password: 'p@ss word' }
const confirming = (server: MailServer) => ({ ...server.env, CONFIRMATION: 'mail' })

async function ask(url: string, email = 'ada@example.com'): Promise<void> {
  const answer = await postSignup(url, { email })
  expect(answer.status).toBe(202)
  expect(await answer.json()).toMatchObject({ status: 'pending' })
}

const recipients = async (server: MailServer) => (await server.mails()).map(({ to }) => to)

test('a mail server that hangs or is away delays no visitor, no row of another kind and no stop, and loses no mail', async () => {
  await using server = await startMailServer({ tls: 'implicit', login })
  await using folder = await tempFolder()
  const env = confirming(server)
  const boot = () => bootService({ env, dataDir: folder.path })
  await server.fault({ stage: 'rcpt', delayMs: 600_000, times: 0 })
  await using first = await boot()
  for (const name of ['ada', 'bob', 'cy']) await ask(first.url, `${name}@example.com`)
  await expect
    .poll(async () => (await server.log()).some(({ stage }) => stage === 'rcpt'))
    .toBe(true)
  await first.stop()
  await server.stop()
  await using second = await boot()
  await ask(second.url, 'di@example.com')
  await expect.poll(second.output).toContain('mails cannot be sent')
  const ready = (await (await fetch(`${second.url}/api/ready`)).json()) as object
  expect(ready).toMatchObject({ status: 'ready', mail: { state: 'failing' } })
  expect(JSON.stringify(ready)).not.toContain('refuses')
  await server.clearFaults()
  await server.start()
  const all = ['ada', 'bob', 'cy', 'di'].map((name) => `${name}@example.com`)
  await expect.poll(async () => (await recipients(server)).toSorted()).toEqual(all)
  const healed = (await (await fetch(`${second.url}/api/ready`)).json()) as object
  expect(healed).toMatchObject({ mail: { state: 'ok' } })
})

test('after a kill each mail arrives, at most one of them twice and with the same Message-ID', async () => {
  await using server = await startMailServer()
  await using folder = await tempFolder()
  const env = confirming(server)
  // The kill meets the fourth mail: it has arrived, and the service does not know that.
  await server.fault({ stage: 'answer', skip: 3, delayMs: 600_000, times: 0 })
  await using first = await startService({ env, dataDir: folder.path })
  const names = Array.from({ length: 12 }, (_, at) => `a${at}@example.com`)
  for (const email of names) await ask(first.url, email)
  await expect.poll(async () => (await server.mails()).length).toBe(4)
  await first.kill()
  const before = (await server.mails()).length
  await server.clearFaults()
  await using _ = await startService({ env, dataDir: folder.path })
  await expect.poll(async () => new Set(await recipients(server)).size).toBe(names.length)
  const mails = await server.mails()
  expect(mails.length - names.length).toBe(1)
  expect(before).toBe(4)
  const hash = (it: string) => createHash('sha256').update(it).digest('hex')
  for (const { to, messageId } of mails) {
    const ids = mails.filter((mail) => mail.to === to).map((mail) => hash(mail.messageId))
    expect(new Set(ids)).toEqual(new Set([hash(messageId)]))
  }
})

test('of two instances one sends, and the other one takes over within 10 seconds of a kill', async () => {
  await using postgres = await startPostgres()
  await using world = await createDatabaseWorld(postgres)
  await using server = await startMailServer({ login })
  const env = { ...world.env, ...confirming(server) }
  await using first = await startService({ env })
  await ask(first.url)
  await expect.poll(() => recipients(server)).toEqual(['ada@example.com'])
  await using second = await startService({ env })
  await ask(second.url, 'bob@example.com')
  await expect.poll(() => recipients(server)).toEqual(['ada@example.com', 'bob@example.com'])
  await server.fault({ stage: 'rcpt', delayMs: 600_000 })
  await ask(second.url, 'cy@example.com')
  await expect
    .poll(async () => (await server.log()).filter(({ stage }) => stage === 'rcpt').length)
    .toBe(3)
  await first.kill()
  const killedAt = Date.now()
  await expect.poll(() => recipients(server)).toContain('cy@example.com')
  const sent = (await server.mails()).find(({ to }) => to === 'cy@example.com')
  expect((sent?.at ?? Infinity) - killedAt).toBeLessThan(10_000)
  expect(await recipients(server)).toHaveLength(3)
})

/** The same server by a name in capital letters, which does not count as this machine: it has to offer TLS. */
const elsewhere = (server: MailServer) => server.url.replace('127.0.0.1', 'LOCALHOST')

test('the process sends by STARTTLS to a server whose certificate it knows, and says nothing to another one', async () => {
  await using folder = await tempFolder()
  const certificate = join(folder.path, 'certificate.pem')
  await writeFile(certificate, testCertificate)
  await using server = await startMailServer({ tls: 'starttls', login })
  const dataDir = join(folder.path, 'data')
  const env = { ...confirming(server), MAIL_URL: elsewhere(server) }
  {
    await using doubting = await startService({ env, dataDir })
    await ask(doubting.url)
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
