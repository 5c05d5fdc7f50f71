import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { type ParsedMail, simpleParser } from 'mailparser'
import type { KeptMail, SmtpOptions } from '../emulators/smtp/emulator.ts'
import type { Answer, SmtpControl } from '../emulators/smtp/smtp-child.ts'
import { endWithUs } from './end-with-us.ts'
import { freePort } from './free-port.ts'
import { projectRoot } from './source-file.ts'
import { testCertificate, testKey } from './webhook-receiver.ts'

export type MailServerOptions = Partial<Pick<SmtpOptions, 'tls' | 'login'>> & {
  /** `wrong`: of another name, and trusted by nobody. */
  readonly certificate?: 'right' | 'wrong'
}

/** A mail that the server has taken, as its reader sees it. */
export interface ReceivedMail extends Omit<KeptMail, 'to'> {
  /** The only recipient of its envelope. */
  readonly to: string
  readonly messageId: string
  readonly subject: string
  readonly text: string
  readonly html: string
  /** The address of the header `From`. */
  readonly sender: string
  readonly headers: ParsedMail['headers']
}

type Control = {
  readonly [Name in keyof SmtpControl]: (
    ...values: Parameters<SmtpControl[Name]>
  ) => Promise<Awaited<ReturnType<SmtpControl[Name]>>>
}

export interface MailServer
  extends AsyncDisposable, Pick<Control, 'log' | 'fault' | 'clearFaults' | 'set'> {
  readonly port: number
  /** `MAIL_URL`, with its login. */
  readonly url: string
  /** Settings of a service that sends its mail here. For `smtps:` it has to trust `testCertificate`. */
  readonly env: Readonly<Record<string, string>>
  /**
   * All mails that the server has taken, in order.
   *
   * @param from leaves so many out at the start
   */
  mails(from?: number): Promise<readonly ReceivedMail[]>
  /** Nobody listens from then on, until `start`. */
  stop(): Promise<void>
  /** Listens again on the same port, with the same mails. */
  start(): Promise<void>
}

/** A mail server in a process of its own, on 127.0.0.1. By default it has neither TLS nor logins. */
export async function startMailServer(options: MailServerOptions = {}): Promise<MailServer> {
  const { tls = 'none', login, certificate = 'right' } = options
  // One that stays its own when the server stops for a while.
  const port = await freePort()
  const control = startChild({
    ...{ tls, login, port, key: testKey },
    certificate: certificate === 'right' ? testCertificate : anotherCertificate,
  })
  await control.call.start()
  const user = login
    ? `${encodeURIComponent(login.user)}:${encodeURIComponent(login.password)}@`
    : ''
  const url = `${tls === 'implicit' ? 'smtps' : 'smtp'}://${user}127.0.0.1:${port}`
  return {
    ...control.call,
    ...{ port, url },
    env: {
      MAIL_URL: url,
      MAIL_FROM: 'Rollcall <hello@rollcall.example>',
      PUBLIC_URL: 'https://signup.rollcall.example',
    },
    mails: async (from) => Promise.all((await control.call.mails(from)).map(parse)),
    start: async () => {
      await control.call.start()
    },
    [Symbol.asyncDispose]: control.end,
  }
}

function startChild(options: SmtpOptions): { call: Control; end: () => Promise<void> } {
  const program = join(projectRoot, 'emulators/smtp/smtp-child.ts')
  const child = endWithUs(fork(program, [JSON.stringify(options)], { execArgv: [] }))
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  child.on('message', (answer: Answer) => {
    const asked = waiting.get(answer.id)
    waiting.delete(answer.id)
    if ('error' in answer) asked?.reject(new Error(answer.error))
    else asked?.resolve(answer.value)
  })
  child.once('exit', () => {
    for (const { reject } of waiting.values()) reject(new Error('The mail server has ended.'))
  })
  let asked = 0
  const ask = (name: keyof SmtpControl) => {
    return (...values: readonly unknown[]) => {
      const id = ++asked
      const answered = Promise.withResolvers<unknown>()
      waiting.set(id, answered)
      child.send({ id, name, values })
      return answered.promise
    }
  }
  const names = ['start', 'stop', 'mails', 'log', 'fault', 'clearFaults', 'set'] as const
  return {
    call: Object.fromEntries(names.map((name) => [name, ask(name)])) as unknown as Control,
    end: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    },
  }
}

async function parse(kept: KeptMail): Promise<ReceivedMail> {
  const mail = await simpleParser(Buffer.from(kept.raw, 'latin1'))
  const [to, ...others] = kept.to
  if (to === undefined || others.length > 0) throw new Error('A mail goes to one recipient.')
  return {
    ...kept,
    to,
    messageId: mail.messageId ?? '',
    subject: mail.subject ?? '',
    text: mail.text ?? '',
    html: typeof mail.html === 'string' ? mail.html : '',
    sender: mail.from?.value[0]?.address ?? '',
    headers: mail.headers,
  }
}

/** Of another server, by the key of the tests. */
const anotherCertificate = `-----BEGIN CERTIFICATE-----
MIIBpTCCAUugAwIBAgIUYdOmKzVT5dwqA3Y3Z4zVr8twg/8wCgYIKoZIzj0EAwIw
GTEXMBUGA1UEAwwOQW5vdGhlciBzZXJ2ZXIwIBcNMjYxMTI2MjEwMDA5WhgPMjEy
NTA2MjAyMTAwMDlaMBkxFzAVBgNVBAMMDkFub3RoZXIgc2VydmVyMFkwEwYHKoZI
zj0CAQYIKoZIzj0DAQcDQgAEJAPYLNaE3pUjlFC7OPg4Vyow0MLnO4+EAGB39MOf
FMMLM7jYUCVN/oRRXze2e6ahPsBNExUxKNwbi7XjzChXAqNvMG0wHQYDVR0OBBYE
FOv9XWxoZgOJ+IOg3ATfXIP+6P1RMB8GA1UdIwQYMBaAFOv9XWxoZgOJ+IOg3ATf
XIP+6P1RMA8GA1UdEwEB/wQFMAMBAf8wGgYDVR0RBBMwEYIPYW5vdGhlci5leGFt
cGxlMAoGCCqGSM49BAMCA0gAMEUCIQC+1cf3YMtE8+uUj5LMw4h/9saVI/10JLky
Jy2tqCDJ6QIgT2Ht1AIPOAeVhX5H1s55RY8N4V1xOTv4JWM5H7aVk4U=
-----END CERTIFICATE-----
`
