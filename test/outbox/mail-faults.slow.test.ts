// @module-tag slow
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { beforeAll, expect, test } from 'vitest'

import type { Fault } from '../../emulators/smtp/faults.ts'
import { type MailServerOptions, startMailServer } from '../../harness/mail-world.ts'
import { testCertificate } from '../../harness/webhook-receiver.ts'
import type { Message } from '../../src/journal/contracts/outbox.ts'
import { type MailServer, mailServerOf } from '../../src/outbox/mail/connection.ts'
import { mailConsumer } from '../../src/outbox/mail/mail-consumer.ts'
import type { Sent } from '../../src/outbox/sender.ts'
import { systemClock } from '../../src/platform/clock.ts'

beforeAll(() => setDefaultCACertificates([...getCACertificates(), testCertificate]))

const login = { user: 'rollcall', password: 'p@ss:w/ord' }
const message: Message = {
  ...{ number: 1, id: 'an-id', kind: 'confirm', email: 'ada@example.com', language: 'en' },
  ...{ body: '', madeAt: 0, tries: 0, isListed: false, isUnwanted: false },
}

const always = { isWanted: async () => true, mayHandOver: async () => true }

/** A consumer that gives up on a server that is silent for five seconds. */
function consumerFor(server: MailServer) {
  return mailConsumer({
    ...{ server, from: '"Ann\'s list" <hello@rollcall.example>', perHour: 500, clock: systemClock },
    compose: ({ email, id }) => ({
      ...{ to: email, subject: 'Grüße', text: 'Ein Wort\n', html: '<p>Ein Wort</p>' },
      messageId: `${id}@rollcall.example`,
      headers: {
        'List-Unsubscribe':
          '<https://rollcall.example/leave/tttttttttttttttttttttttttttttttttttttttttttt?site=a>',
        'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      },
    }),
    times: { connectMs: 5_000, greetingMs: 5_000, silenceMs: 5_000, totalMs: 20_000 },
  })
}

function send(
  consumer: ReturnType<typeof consumerFor>,
  given: Partial<Message> = {},
): Promise<Sent> {
  const { signal } = new AbortController()
  return consumer.send({ ...message, ...given }, { signal, ...always })
}

test.each<[string, MailServerOptions, MailServer['tls']]>([
  ['smtps:', { tls: 'implicit', login }, 'implicit'],
  ['STARTTLS', { tls: 'starttls', login }, 'required'],
  ['no TLS on this machine', { login }, 'none'],
])('a mail arrives once by %s as it was composed', async (_, options, tls) => {
  await using server = await startMailServer(options)
  await using consumer = consumerFor({ ...mailServerOf(server.url), tls })
  expect(await send(consumer)).toEqual({ kind: 'sent' })
  const [mail, ...others] = await server.mails()
  expect(others).toEqual([])
  expect(mail).toMatchObject({
    ...{ from: 'hello@rollcall.example', to: 'ada@example.com', sender: 'hello@rollcall.example' },
    ...{ subject: 'Grüße', text: 'Ein Wort\n', messageId: '<an-id@rollcall.example>' },
    isEncrypted: tls !== 'none',
  })
  expect(mail?.html).toContain('<p>Ein Wort</p>')
  expect(mail?.raw).toMatch(/^List-Unsubscribe: <https:\/\/\S+>\r$/m)
  expect(mail?.raw).toMatch(/^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/m)
  expect(mail?.raw).toMatch(/^Auto-Submitted: auto-generated\r$/m)
})

/** A fault, what becomes of the mail, and how often it has arrived after it. */
const faults: readonly [Fault, Sent, number][] = [
  [{ stage: 'connect', cut: true }, down('The mail server closes the connection'), 0],
  [{ stage: 'rcpt', cut: true }, down('The mail server closes the connection'), 0],
  [{ stage: 'data', cut: true }, unanswered(), 0],
  [{ stage: 'answer', cut: true }, unanswered(), 1],
  [{ stage: 'connect', code: 421 }, down('The mail server takes no mail just now'), 0],
  [{ stage: 'connect', code: 554 }, down('The mail server takes no mail just now'), 0],
  [{ stage: 'auth', code: 454 }, down('The mail server takes no mail just now'), 0],
  [{ stage: 'auth', code: 535 }, down('The mail server refuses the login'), 0],
  [{ stage: 'mail', code: 451 }, down('The mail server takes no mail just now'), 0],
  [{ stage: 'mail', code: 553 }, down('The mail server refuses the sender'), 0],
  [{ stage: 'rcpt', code: 421 }, down('The mail server takes no mail just now'), 0],
  [{ stage: 'rcpt', code: 450 }, later('The mail server refuses the recipient (450)'), 0],
  [{ stage: 'rcpt', code: 550 }, refused('The mail server refuses the recipient (550)'), 0],
  [{ stage: 'data', code: 452 }, mayBeServer('The mail server refuses the message (452)'), 0],
  [{ stage: 'answer', code: 421 }, down('The mail server takes no mail just now'), 1],
  [{ stage: 'data', code: 554 }, mayBeServer('The mail server refuses the message (554)'), 0],
  [{ stage: 'connect', delayMs: 8_000 }, down('The mail server does not answer'), 0],
  [{ stage: 'answer', delayMs: 8_000 }, unanswered(), 1],
  [{ stage: 'rcpt', delayMs: 50 }, { kind: 'sent' }, 1],
  [{ stage: 'answer', delayMs: 50 }, { kind: 'sent' }, 1],
]

test.each(faults)('by %o a mail is %o', async (fault, sent, arrived) => {
  await using server = await startMailServer({ login })
  await using consumer = consumerFor(mailServerOf(server.url))
  const told = 'Refused: ada@example.com in the words of the server'
  await server.fault({ text: told, ...fault })
  expect(await send(consumer)).toEqual(sent)
  expect(await server.mails()).toHaveLength(arrived)
  expect(await send(consumer)).toEqual({ kind: 'sent' })
  const ids = (await server.mails()).map(({ messageId }) => messageId)
  expect(ids).toEqual(Array.from({ length: arrived + 1 }, () => '<an-id@rollcall.example>'))
})

test('a mail that nobody wants is put off and refused like others, and is not handed over', async () => {
  await using server = await startMailServer()
  await using consumer = consumerFor(mailServerOf(server.url))
  const { signal } = new AbortController()
  const task = { signal, ...always, mayHandOver: async () => false }
  const trying = (email: string) =>
    consumer.send({ ...message, email, isUnwanted: true }, task).then(({ kind }) => kind)
  await server.set({ greylists: true })
  expect([await trying(message.email), await trying(message.email)]).toEqual(['later', 'unsent'])
  // The address of one who has declined since is gone.
  await server.fault({ stage: 'connect', code: 421 })
  expect([await trying(''), await trying('')]).toEqual(['down', 'unsent'])
  expect(await server.mails()).toEqual([])
})

test.each<[string, MailServerOptions, Partial<MailServer>, string]>([
  [
    'is of another host',
    { tls: 'implicit', certificate: 'wrong' },
    {},
    'The certificate of the mail server is not trusted',
  ],
  [
    'comes with STARTTLS and is of another host',
    { tls: 'starttls', certificate: 'wrong' },
    { tls: 'required' },
    'The certificate of the mail server is not trusted',
  ],
  [
    'is none, as TLS is not offered',
    { login },
    { tls: 'required' },
    'The mail server offers no TLS',
  ],
  [
    'is none, as the port does not begin with TLS',
    { login },
    { tls: 'implicit' },
    'TLS with the mail server fails',
  ],
])(
  'no login and no mail goes over a connection whose certificate %s',
  async (_, options, given, reason) => {
    await using server = await startMailServer(options)
    await using consumer = consumerFor({
      ...mailServerOf(server.url),
      login: { user: 'a', pass: 'b' },
      ...given,
    })
    expect(await send(consumer)).toEqual(down(reason))
    const stages = (await server.log()).map(({ stage }) => stage)
    expect(stages).not.toContain('auth')
    expect(stages).not.toContain('mail')
  },
)

test('a server that is not there, and a host that is not found, take nothing', async () => {
  await using server = await startMailServer()
  await server.stop()
  const gone = mailServerOf(server.url)
  await using consumer = consumerFor(gone)
  expect(await send(consumer)).toEqual(down('The mail server refuses the connection'))
  await using lost = consumerFor({ ...gone, host: 'nowhere.invalid' })
  expect(await send(lost)).toEqual(down('The mail server is not found'))
})

test('mails share a connection, and one that the server has closed is replaced without a failure', async () => {
  await using server = await startMailServer({ login })
  await using consumer = consumerFor(mailServerOf(server.url))
  const sent = async () => (await send(consumer)).kind
  expect([await sent(), await sent()]).toEqual(['sent', 'sent'])
  const connects = async () =>
    (await server.log()).filter(({ stage }) => stage === 'connect').length
  expect(await connects()).toBe(1)
  await server.fault({ stage: 'mail', cut: true })
  expect(await sent()).toBe('sent')
  await server.fault({ stage: 'mail', code: 421 })
  expect(await sent()).toBe('sent')
  expect(await connects()).toBe(3)
  expect(await server.mails()).toHaveLength(4)
})

test('a mail to somebody who was forgotten while the server was silent is not handed over', async () => {
  await using server = await startMailServer()
  await using consumer = consumerFor(mailServerOf(server.url))
  const { signal } = new AbortController()
  // Erased while the server greets.
  const isWanted = async () => !(await server.log()).some(({ stage }) => stage === 'ehlo')
  expect(await consumer.send(message, { signal, ...always, isWanted })).toEqual({ kind: 'unsent' })
  expect((await server.log()).map(({ stage }) => stage)).toContain('ehlo')
  expect((await server.log()).map(({ stage }) => stage)).not.toContain('mail')
})

test('a mail to somebody who was forgotten when the server was ready for it is cut off, and not kept', async () => {
  await using server = await startMailServer()
  await using consumer = consumerFor(mailServerOf(server.url))
  const { signal } = new AbortController()
  const task = { signal, ...always, mayHandOver: async () => false }
  expect(await consumer.send(message, task)).toEqual({ kind: 'unsent' })
  expect((await server.log()).map(({ stage }) => stage)).toContain('rcpt')
  expect(await send(consumer, { id: 'other' })).toEqual({ kind: 'sent' })
  const kept = await server.mails()
  expect(kept.map(({ messageId }) => messageId)).toEqual(['<other@rollcall.example>'])
})

test.each(['connect', 'rcpt', 'answer'] as const)(
  'a stop does not wait for a server that hangs at the stage %s',
  async (stage) => {
    await using server = await startMailServer({ login })
    const consumer = consumerFor(mailServerOf(server.url))
    await server.fault({ stage, delayMs: 60_000 })
    const stopping = new AbortController()
    const sending = consumer.send(message, { signal: stopping.signal, ...always })
    await expect.poll(async () => (await server.log()).at(-1)?.stage).toBe(stage)
    stopping.abort()
    expect((await sending).kind).toBe(stage === 'answer' ? 'later' : 'unsent')
    await consumer[Symbol.asyncDispose]()
  },
)

test.each([
  'ada@example.com, eve@example.com',
  'Ada <ada@example.com>',
  'ada@example.com\r\nBcc: eve@example.com',
  'ädä@example.com',
])('nothing is sent to %o, which is no plain address', async (email) => {
  await using server = await startMailServer()
  await using consumer = consumerFor(mailServerOf(server.url))
  expect(await send(consumer, { email })).toEqual(refused('The address cannot be written to'))
  expect(await server.log()).toEqual([])
})

test('TLS is needed for every host but this machine', () => {
  const tls = [
    'smtp://127.0.0.1',
    'smtp://localhost:25',
    'smtp://[::1]',
    'smtp://mail.example',
    'smtp://127.0.0.1.example',
    'smtps://localhost',
  ]
  expect(tls.map((url) => mailServerOf(url).tls)).toEqual([
    'none',
    'none',
    'none',
    'required',
    'required',
    'implicit',
  ])
  expect(mailServerOf('smtps://us%40er:p%3Aw@mail.example')).toMatchObject({
    port: 465,
    login: { user: 'us@er', pass: 'p:w' },
  })
  expect(mailServerOf('smtp://mail.example')).toMatchObject({ port: 587, login: undefined })
})

function down(reason: string): Sent {
  return { kind: 'down', reason }
}
function later(reason: string): Sent {
  return { kind: 'later', reason }
}
function refused(reason: string): Sent {
  return { kind: 'refused', reason }
}
function mayBeServer(reason: string): Sent {
  return { kind: 'later', reason, mayBeServer: true }
}
function unanswered(): Sent {
  return mayBeServer('The connection ended before the mail server answered for the message')
}
