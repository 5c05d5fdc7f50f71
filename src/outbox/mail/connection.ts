import { once } from 'node:events'
import SMTPConnection from 'nodemailer/lib/smtp-connection'
import { isLoopback } from '../../platform/web-host.ts'
import { mailTroubles, type MailTrouble } from '../../signup/mail-trouble.ts'

/** Where mail goes, and how. */
export interface MailServer {
  readonly host: string
  readonly port: number
  /** From the first byte, by STARTTLS, or not at all, which is for this machine only. */
  readonly tls: 'implicit' | 'required' | 'none'
  readonly login: { readonly user: string; readonly pass: string } | undefined
}

/** Servers let clients wait to keep spammers off: some greet after half a minute. */
export const mailTimes = {
  connectMs: 15_000,
  greetingMs: 60_000,
  /** Without a byte from the server. */
  silenceMs: 60_000,
  /** From the connecting to the end of a mail. */
  totalMs: 120_000,
}

export type MailTimes = Readonly<typeof mailTimes>

/** @param url checked: `smtp:` or `smtps:`, with an encoded user and password or none */
export function mailServerOf(url: string): MailServer {
  const { protocol, hostname, port, username, password } = new URL(url)
  const isImplicit = protocol === 'smtps:'
  const host = hostname.replace(/^\[|\]$/g, '')
  return {
    host,
    port: port === '' ? (isImplicit ? 465 : 587) : Number(port),
    tls: isImplicit ? 'implicit' : isLoopback(host) ? 'none' : 'required',
    login:
      username === ''
        ? undefined
        : { user: decodeURIComponent(username), pass: decodeURIComponent(password) },
  }
}

/** What nodemailer tells of a failure. The texts of the server, which it has as well, go nowhere. */
export interface SmtpFailure {
  readonly code?: string
  readonly command?: string
  readonly responseCode?: number
  readonly syscall?: string
}

const senderProbe = 'ROLLCALL-SENDER'

/** A connection to the mail server, with its login. */
export class MailConnection implements Disposable {
  readonly #smtp: SMTPConnection
  /** How many mails it has taken. */
  mails = 0
  /** Whether it can take one more mail, as far as it is known. */
  isOpen = true

  private constructor(smtp: SMTPConnection) {
    this.#smtp = smtp
    smtp.once('end', () => (this.isOpen = false))
    // Who waits for an answer is told as well.
    smtp.on('error', () => (this.isOpen = false))
  }

  /**
   * @param sender is asked for by `probeSender`
   * @throws MailServerFailure
   */
  static async open(
    server: MailServer,
    times: MailTimes,
    signal: AbortSignal,
    sender = '',
  ): Promise<MailConnection> {
    const { host, port, tls, login } = server
    const smtp = new SMTPConnection({
      ...{ host, port, secure: tls === 'implicit' },
      ...{ requireTLS: tls === 'required', ignoreTLS: tls === 'none' },
      ...{ connectionTimeout: times.connectMs, dnsTimeout: times.connectMs },
      ...{ greetingTimeout: times.greetingMs, socketTimeout: times.silenceMs },
      socketCloseTimeout: 0,
      maxResponseSize: 64 * 1024,
      allowInternalNetworkInterfaces: true,
      tls: { minVersion: 'TLSv1.2' },
      customAuth: {
        [senderProbe]: async (smtp) => {
          const { status } = await smtp.sendCommand(`MAIL FROM:<${sender}>`)
          await smtp.sendCommand('RSET')
          if (status >= 300) throw new MailServerFailure(status < 500 ? 'busy' : 'sender')
        },
      },
    })
    const connection = new MailConnection(smtp)
    try {
      await connection.#ask((done) => smtp.connect(done), signal)
      if (login) await connection.#ask((done) => smtp.login({ ...login }, done), signal)
      return connection
    } catch (error) {
      connection[Symbol.dispose]()
      throw new MailServerFailure(troubleOf(error as SmtpFailure))
    }
  }

  /**
   * Says from whom a mail would be, and takes it back.
   *
   * @throws MailServerFailure when the server refuses this sender
   */
  async probeSender(signal: AbortSignal): Promise<void> {
    try {
      await this.#ask((done) => this.#smtp.login({ method: senderProbe }, done), signal)
    } catch (error) {
      throw new MailServerFailure(troubleOf(error as SmtpFailure))
    }
  }

  /**
   * Hands a mail over.
   *
   * @throws SmtpFailure
   */
  async send(
    envelope: { readonly from: string; readonly to: string },
    content: NodeJS.ReadableStream,
    signal: AbortSignal,
  ): Promise<void> {
    const { from, to } = envelope
    await this.#ask((done) => this.#smtp.send({ from, to: [to] }, content as never, done), signal)
    this.mails += 1
  }

  [Symbol.dispose](): void {
    this.isOpen = false
    this.#smtp.close()
  }

  /** Waits for an answer, for the end of the connection, or for the signal. */
  async #ask(
    command: (done: (error?: Error | null) => void) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const over = new AbortController()
    const { promise, resolve, reject } = Promise.withResolvers<undefined>()
    const closed = Object.assign(new Error('closed'), { code: 'ECONNECTION' })
    const aborted = Object.assign(new Error('aborted'), { code: 'ETIMEDOUT' })
    try {
      if (signal.aborted) throw aborted
      signal.addEventListener('abort', () => reject(aborted), { signal: over.signal })
      // It rejects on errors.
      once(this.#smtp, 'end', { signal: over.signal }).then(() => reject(closed), reject)
      command((error) => (error ? reject(error) : resolve(undefined)))
      await promise
    } finally {
      over.abort()
    }
  }
}

/** Why the server takes nothing, by what nodemailer tells. */
export function troubleOf(failure: SmtpFailure): MailTrouble {
  const { code = '', command = '', responseCode = 0, syscall } = failure
  if (failure instanceof MailServerFailure) return failure.trouble
  if (code === 'EDNS' || syscall === 'getaddrinfo') return 'host'
  if (code === 'ETIMEDOUT') return 'silent'
  if (code === 'ETLS') return 'noTls'
  if (code === 'EAUTH' && responseCode !== 421) return responseCode < 500 ? 'busy' : 'login'
  if (command.startsWith('MAIL') && responseCode >= 500) return 'sender'
  if (responseCode > 0) return 'busy'
  if (code === 'ECONNECTION') return 'closed'
  if (code === 'ESOCKET') return socketTrouble(failure)
  return 'protocol'
}

function socketTrouble(failure: SmtpFailure): MailTrouble {
  const { syscall } = failure
  const text = failure instanceof Error ? failure.message : ''
  if (syscall === 'connect') return text.includes('ETIMEDOUT') ? 'silent' : 'port'
  if (/certificate|altnames/i.test(text)) return 'certificate'
  return /SSL|TLS/.test(text) ? 'tls' : 'closed'
}

/** The mail server takes nothing at all. */
export class MailServerFailure extends Error {
  override readonly name = 'MailServerFailure'
  readonly trouble: MailTrouble

  /** @param trouble the only thing that it tells: what was said on the connection may have addresses in it */
  constructor(trouble: MailTrouble) {
    super(mailTroubles[trouble][0])
    this.trouble = trouble
  }
}
