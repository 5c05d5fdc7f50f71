import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { beforeAll, expect, test } from 'vitest'

import { bootService } from '../../harness/boot-service.ts'
import { type MailServer, startMailServer } from '../../harness/mail-world.ts'
import { postSignup } from '../../harness/post-signup.ts'
import { runCommand } from '../../harness/run-command.ts'
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

test(
  'the operator is told that mails cannot be sent, and that they can again, without an address',
  { tags: 'slow' },
  async () => {
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
  },
)

test(
  'the owner gets a summary by mail, with the counts and without an address',
  { tags: 'slow' },
  async () => {
    await using server = await startMailServer()
    await using data = await tempFolder()
    const owner = { OWNER_MAIL: 'owner@example.com', OWNER_MAIL_WHEN: 'hourly' }
    const env = { ...server.env, ...owner }
    const boot = () => bootService({ env, dataDir: data.path, noticeTimes: { lookMs: 20 } })
    await using first = await boot()
    // What it counts from is noted.
    const reported = () => factOf(data.path, 'reported')
    await expect.poll(reported).toContain('"period":')
    for (const name of ['ada', 'bob']) await postSignup(first.url, { email: `${name}@example.com` })
    const shares = async () => {
      const options = { access: 'beside' } as const
      await using journal = openSqliteJournal(join(data.path, 'journal.db'), {}, options)
      return await journal.reader.shares()
    }
    // What is not counted yet is told by the next one.
    const both = expect.objectContaining({ kind: 'tab', count: 2 }) as unknown
    await expect.poll(shares).toContainEqual(both)
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
  },
)

async function factOf(dataDir: string, name: string): Promise<string | undefined> {
  const options = { access: 'beside' } as const
  await using journal = openSqliteJournal(join(dataDir, 'journal.db'), {}, options)
  return await journal.delivery.fact(name)
}

async function noteFact(dataDir: string, name: string, change: (text: string) => string) {
  await using journal = openSqliteJournal(join(dataDir, 'journal.db'))
  await journal.delivery.noteFact(name, change((await journal.delivery.fact(name)) ?? ''))
}
