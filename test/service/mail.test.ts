import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { beforeAll, expect, test } from 'vitest'

import type { Fault } from '../../emulators/smtp/faults.ts'
import { bootService } from '../../harness/boot-service.ts'
import { createDatabaseWorld } from '../../harness/database-world.ts'
import { type MailServer, startMailServer } from '../../harness/mail-world.ts'
import { waitUntil } from '../../harness/delivery-state.ts'
import { postSignup } from '../../harness/post-signup.ts'
import { startPostgres } from '../../harness/postgres-server.ts'
import { runCommand } from '../../harness/run-command.ts'
import { startService } from '../../harness/start-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
import { startWebhookReceiver, testCertificate } from '../../harness/webhook-receiver.ts'

beforeAll(() => setDefaultCACertificates([...getCACertificates(), testCertificate]))

const login = { user: 'rollcall', password: 'p@ss word' }
const confirming = (server: MailServer) => ({ ...server.env, CONFIRMATION: 'mail' })

async function ask(url: string, email = 'ada@example.com'): Promise<void> {
  const answer = await postSignup(url, { email })
  expect(answer.status).toBe(202)
  expect(await answer.json()).toMatchObject({ status: 'pending' })
}

const recipients = async (server: MailServer) => (await server.mails()).map(({ to }) => to)

test('by smtps: one mail goes to who signs up, with a link that confirms, and a welcome follows', async () => {
  await using server = await startMailServer({ tls: 'implicit', login })
  await using service = await bootService({
    env: { ...confirming(server), WELCOME_MAIL: 'on' },
  })
  await ask(service.url)
  await expect.poll(() => recipients(server)).toEqual(['ada@example.com'])
  const [mail] = await server.mails()
  expect(mail).toMatchObject({
    isEncrypted: true,
    user: 'rollcall',
    from: 'hello@rollcall.example',
  })
  const [link = ''] =
    /https:\/\/signup\.rollcall\.example\/confirm\/[\w-]{44}/.exec(mail?.text ?? '') ?? []
  const { pathname } = new URL(link)
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const page = await (await fetch(service.url + pathname)).text()
  expect(page).toContain('<form')
  await fetch(service.url + pathname, { method: 'POST', headers, body: 'decision=confirm' })
  await expect.poll(() => recipients(server)).toEqual(['ada@example.com', 'ada@example.com'])
  const [, welcome] = await server.mails()
  expect(welcome?.raw).toMatch(/^List-Unsubscribe: <https:\/\/\S+\/leave\/\S+>\r$/m)
})

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

test('the operator is told that mails cannot be sent, and that they can again, without an address', async () => {
  await using server = await startMailServer({ login })
  await using receiver = await startWebhookReceiver()
  await server.set({ refusesLogin: true })
  const env = { ...confirming(server), ...receiver.env }
  const noticeTimes = { lookMs: 20, toldAfterMs: 500, calmMs: 200 }
  await using data = await tempFolder()
  await using service = await bootService({ env, noticeTimes, dataDir: data.path })
  await ask(service.url)
  const types = () => receiver.received.map(({ body }) => body.type)
  await expect.poll(types).toEqual(['mail.failing'])
  const status = (await runCommand(['status'], { dataDir: data.path })).stdout
  expect(status).toMatch(/^Mail +The mail server refuses the login \(since /m)
  expect(status).toMatch(/^Mails waiting +1/m)
  await server.set({ refusesLogin: false })
  await expect.poll(types).toEqual(['mail.failing', 'mail.resumed'])
  const [told] = receiver.received
  expect(told?.body.data).toMatchObject({
    site: 'default',
    reason: 'The mail server refuses the login',
    waiting: 1,
  })
  expect(JSON.stringify(receiver.received)).not.toContain('ada')
})

test('the owner gets a summary by mail, with the counts and without an address', async () => {
  await using server = await startMailServer()
  await using data = await tempFolder()
  const owner = { OWNER_MAIL: 'owner@example.com', OWNER_MAIL_WHEN: 'hourly' }
  const env = { ...server.env, ...owner }
  const boot = () => bootService({ env, dataDir: data.path, noticeTimes: { lookMs: 20 } })
  await using first = await boot()
  // The position from which it counts is noted.
  const reported = () => factOf(data.path, 'reported')
  await expect.poll(reported).toContain('"position":0')
  for (const name of ['ada', 'bob']) await postSignup(first.url, { email: `${name}@example.com` })
  await first.stop()
  // As if that had been an hour ago.
  await noteFact(data.path, 'reported', (text) => {
    const before = JSON.parse(text) as { period: number }
    return JSON.stringify({ ...before, period: before.period - 1 })
  })
  await using _ = await boot()
  await expect.poll(() => recipients(server)).toEqual(['owner@example.com'])
  const [mail] = await server.mails()
  expect(mail?.subject).toBe('Rollcall, site default: 2 new signups')
  expect(mail?.text).toMatch(/^ +2 {2}Accepted$/m)
  expect(mail?.text).not.toMatch(/ada|bob/)
})

async function factOf(dataDir: string, name: string): Promise<string | undefined> {
  const options = { access: 'beside' } as const
  await using journal = openSqliteJournal(join(dataDir, 'journal.db'), {}, options)
  return await journal.delivery.fact(name)
}

async function noteFact(dataDir: string, name: string, change: (text: string) => string) {
  await using journal = openSqliteJournal(join(dataDir, 'journal.db'))
  await journal.delivery.noteFact(name, change((await journal.delivery.fact(name)) ?? ''))
}
