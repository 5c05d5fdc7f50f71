import { createTransport } from 'nodemailer'
import { expect, test } from 'vitest'
import { type MailServerOptions, startMailServer } from '../../harness/mail-world.ts'
import { testCertificate } from '../../harness/webhook-receiver.ts'

const login = { user: 'rollcall', password: 'p@ss word' }
const mail = { from: 'a@rollcall.example', to: 'ada@example.com', subject: 'Hällo', text: 'Zeile' }

/** Sends as any program does; resolves with the code of a refusal, or what was cut. */
async function send(url: string, { to = mail.to, ca = testCertificate } = {}): Promise<string> {
  const transport = createTransport({ url, tls: { ca } })
  try {
    const { response } = await transport.sendMail({ ...mail, to })
    return response.slice(0, 3)
  } catch (error) {
    const { responseCode, code } = error as { responseCode?: number; code?: string }
    return String(responseCode ?? code)
  } finally {
    transport.close()
  }
}

test.each<MailServerOptions>([
  { tls: 'implicit', login },
  { tls: 'starttls', login },
  { tls: 'none', login },
  { tls: 'none' },
])('a mail arrives as it was sent: %o', async (options) => {
  await using server = await startMailServer(options)
  expect(await send(server.url)).toBe('250')
  const isEncrypted = options.tls !== 'none'
  expect(await server.mails()).toMatchObject([
    { to: mail.to, sender: mail.from, subject: mail.subject, text: 'Zeile\n', isEncrypted },
  ])
})

test.each(['ehlo', 'connect', 'auth', 'mail', 'rcpt', 'data', 'answer'] as const)(
  'a connection that is cut at the stage %s keeps a mail only when its answer is lost',
  async (stage) => {
    await using server = await startMailServer({ login })
    await server.fault({ stage, cut: true })
    expect(await send(server.url)).not.toBe('250')
    expect(await server.mails()).toHaveLength(stage === 'answer' ? 1 : 0)
    expect(await send(server.url)).toBe('250')
  },
)

test.each(['auth', 'mail', 'rcpt', 'data'] as const)(
  'a refusal at the stage %s has its code',
  async (stage) => {
    await using server = await startMailServer({ login })
    await server.fault({ stage, code: 451 }, { stage, code: 550 })
    expect([await send(server.url), await send(server.url)]).toEqual(['451', '550'])
    expect(await server.mails()).toEqual([])
  },
)

test('one recipient can be refused, and each one once by greylisting', async () => {
  await using server = await startMailServer()
  await server.fault({ stage: 'rcpt', address: 'no@example.com', code: 550, times: 0 })
  expect(await send(server.url, { to: 'no@example.com' })).toBe('550')
  expect(await send(server.url)).toBe('250')
  await server.set({ greylists: true })
  expect([await send(server.url), await send(server.url)]).toEqual(['450', '250'])
})

test('a wrong certificate, a wrong password and a server that is away are refused and end', async () => {
  await using wrong = await startMailServer({ tls: 'implicit', certificate: 'wrong' })
  expect(await send(wrong.url)).toMatch(/ETLS|ESOCKET|CERT/)
  await using server = await startMailServer({ login })
  await server.set({ refusesLogin: true })
  expect(await send(server.url)).toBe('535')
  await server.stop()
  expect(await send(server.url)).toMatch(/ECONN|ESOCKET/)
  await server.set({ refusesLogin: false })
  await server.start()
  expect(await send(server.url)).toBe('250')
})

test('an answer can be late', async () => {
  await using server = await startMailServer()
  await server.fault({ stage: 'rcpt', delayMs: 50 })
  expect(await send(server.url)).toBe('250')
  const [mailStep, rcptStep] = (await server.log()).filter(({ stage }) => /mail|answer/.test(stage))
  expect((rcptStep?.at ?? 0) - (mailStep?.at ?? 0)).toBeGreaterThanOrEqual(45)
})
