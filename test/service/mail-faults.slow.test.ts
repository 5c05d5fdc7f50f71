// @module-tag slow
import { createHash } from 'node:crypto'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { beforeAll, expect, test } from 'vitest'
import type { Fault } from '../../emulators/smtp/faults.ts'
import { bootService } from '../../harness/boot-service.ts'
import { createDatabaseWorld } from '../../harness/database-world.ts'
import { type MailServer, startMailServer } from '../../harness/mail-world.ts'
import { waitUntil } from '../../harness/delivery-state.ts'
import { postSignup } from '../../harness/post-signup.ts'
import { startPostgres } from '../../harness/postgres-server.ts'
import { startService } from '../../harness/start-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import { testCertificate } from '../../harness/webhook-receiver.ts'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

beforeAll(() => setDefaultCACertificates([...getCACertificates(), testCertificate]))

const login = { user: 'rollcall', password: 'p@ss word' }
const confirming = (server: MailServer) => ({ ...server.env, CONFIRMATION: 'mail' })

/** Signs up, and resolves with how long the answer took. */
async function ask(url: string, email = 'ada@example.com'): Promise<number> {
  const begun = performance.now()
  const answer = await postSignup(url, { email })
  const tookMs = performance.now() - begun
  expect(answer.status).toBe(202)
  expect(await answer.json()).toMatchObject({ status: 'pending' })
  return tookMs
}

const recipients = async (server: MailServer) => (await server.mails()).map(({ to }) => to)

/** What becomes of a mail, and how often it has arrived in the end. */
const faults: readonly [Fault, number][] = [
  ...(['connect', 'ehlo', 'auth', 'mail', 'rcpt', 'data'] as const).map(
    (stage) => [{ stage, cut: true }, 1] as [Fault, number],
  ),
  [{ stage: 'answer', cut: true }, 2],
  [{ stage: 'auth', code: 535 }, 1],
  [{ stage: 'mail', code: 553 }, 1],
  [{ stage: 'mail', code: 451 }, 1],
  [{ stage: 'rcpt', code: 450 }, 1],
  [{ stage: 'rcpt', code: 550 }, 0],
  [{ stage: 'data', code: 452 }, 1],
  [{ stage: 'data', code: 554 }, 1],
  [{ stage: 'rcpt', delayMs: 50 }, 1],
]

test.concurrent.for(faults)(
  'after %o once, a mail has arrived %i times, with one Message-ID',
  async ([fault, times], { expect }) => {
    await using server = await startMailServer({ tls: 'implicit', login })
    await using service = await bootService({ env: { ...confirming(server), LOG_LEVEL: 'debug' } })
    await server.fault({ text: 'no mail to ada@example.com', ...fault })
    await ask(service.url)
    const end = times === 0 ? 'a mail was given up' : 'a mail was sent'
    await waitUntil(() => service.output().includes(end), service.output)
    const mails = await server.mails()
    expect(mails).toHaveLength(times)
    expect(new Set(mails.map(({ messageId }) => messageId)).size).toBe(Math.min(1, times))
  },
)

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
  await server.fault({ stage: 'answer', delayMs: 300, times: 0 })
  await using first = await startService({ env, dataDir: folder.path })
  const names = Array.from({ length: 12 }, (_, at) => `a${at}@example.com`)
  for (const email of names) await ask(first.url, email)
  await expect.poll(async () => (await server.mails()).length).toBeGreaterThan(3)
  await first.kill()
  const before = (await server.mails()).length
  await server.clearFaults()
  await using _ = await startService({ env, dataDir: folder.path })
  await expect.poll(async () => new Set(await recipients(server)).size).toBe(names.length)
  const mails = await server.mails()
  expect(mails.length - names.length).toBeLessThanOrEqual(1)
  expect(before).toBeLessThan(names.length)
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

test('nothing is sent by a server elsewhere that offers no TLS', async () => {
  await using server = await startMailServer({ login })
  const env = { ...confirming(server), MAIL_URL: elsewhere(server) }
  await using service = await startService({ env })
  await ask(service.url)
  await expect.poll(service.output).toContain('The mail server offers no TLS')
  expect((await server.log()).map(({ stage }) => stage)).not.toContain('auth')
})

test.each(['rcpt', 'answer'] as const)(
  'an answer that takes 30 seconds at the stage %s delays mails and no visitor, and no mail goes twice',
  async (stage) => {
    await using server = await startMailServer()
    await using service = await startService({ env: confirming(server) })
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
