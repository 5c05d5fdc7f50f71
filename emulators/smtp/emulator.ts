import type { AddressInfo, Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { SMTPServer, type SMTPServerSession } from 'smtp-server'
import { planFaults, type Stage } from './faults.ts'

export interface SmtpOptions {
  /** `smtps:`, STARTTLS, or neither. */
  readonly tls: 'implicit' | 'starttls' | 'none'
  /** Without it nobody logs in. */
  readonly login?: { readonly user: string; readonly password: string } | undefined
  readonly certificate: string
  readonly key: string
  /** 0 takes a free one. */
  readonly port: number
}

/** A mail that the server has taken. */
export interface KeptMail {
  readonly from: string
  readonly to: readonly string[]
  readonly raw: string
  readonly isEncrypted: boolean
  readonly user: string | undefined
  /** In milliseconds since the Unix epoch. */
  readonly at: number
}

/** What came to the server, in order. */
export interface LoggedStep {
  readonly stage: Stage
  /** Of `mail` and `rcpt`. */
  readonly address?: string | undefined
  readonly at: number
}

/** What of a connection of `smtp-server` only its source tells. */
interface Connection {
  readonly session: SMTPServerSession
  readonly _socket: Socket
  handler_EHLO(command: unknown, callback: () => void): void
}

/** An error that `smtp-server` answers with this code. */
function refusal(code: number, text = 'Refused by a fault'): Error {
  return Object.assign(new Error(text), { responseCode: code })
}

/** A mail server on 127.0.0.1, which keeps what it takes. Its faults are set while it runs. */
export class SmtpEmulator {
  readonly faults = planFaults()
  readonly mails: KeptMail[] = []
  readonly log: LoggedStep[] = []
  /** Whether the first try of each address is refused by a 450. */
  greylists = false
  /** Whether it answers at the login that the password is wrong, whatever it is. */
  refusesLogin = false
  readonly #seen = new Set<string>()
  readonly #options: SmtpOptions
  #server: SMTPServer | undefined

  constructor(options: SmtpOptions) {
    this.#options = options
  }

  /** Returns its port. */
  async start(): Promise<number> {
    const { tls, login, certificate, key } = this.#options
    const server = new SMTPServer({
      secure: tls === 'implicit',
      authOptional: !login,
      disabledCommands: [...(login ? [] : ['AUTH']), ...(tls === 'starttls' ? [] : ['STARTTLS'])],
      allowInsecureAuth: true,
      disableReverseLookup: true,
      ...{ cert: certificate, key, closeTimeout: 1, socketTimeout: 10 * 60_000 },
      onConnect: (session, done) => {
        const connection = this.#connectionOf(session)
        if (connection) this.#watchEhlo(connection)
        this.#meet('connect', session, done)
      },
      onAuth: (auth, session, done) => {
        this.#meet('auth', session, (error) => {
          const isRight =
            !this.refusesLogin && auth.username === login?.user && auth.password === login?.password
          if (error) done(error)
          else if (isRight) done(null, { user: auth.username })
          else done(refusal(535, 'Invalid login'))
        })
      },
      onMailFrom: ({ address }, session, done) => this.#meet('mail', session, done, address),
      onRcptTo: ({ address }, session, done) => {
        this.#meet('rcpt', session, (error) => done(error ?? this.#greylist(address)), address)
      },
      onData: (stream, session, done) => this.#take(stream, session, done),
    })
    // A connection that is cut is no error of ours.
    server.on('error', () => {})
    const net = server.listen(this.#options.port, '127.0.0.1')
    await new Promise<void>((resolve, reject) => {
      net.once('listening', resolve)
      net.once('error', reject)
    })
    this.#server = server
    return (net.address() as AddressInfo).port
  }

  /** Cuts all connections. It can be started again. */
  async stop(): Promise<void> {
    const server = this.#server
    if (!server) return
    this.#server = undefined
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    for (const { _socket } of server.connections as Set<Connection>) _socket.destroy()
    await closed
  }

  #connectionOf({ id }: SMTPServerSession): Connection | undefined {
    const connections = [...((this.#server?.connections ?? []) as Iterable<Connection>)]
    return connections.find(({ session }) => session.id === id)
  }

  #watchEhlo(connection: Connection): void {
    const real = connection.handler_EHLO.bind(connection)
    connection.handler_EHLO = (command, callback) => {
      this.#meet('ehlo', connection.session, (error) => {
        if (error) connection._socket.destroy()
        else real(command, callback)
      })
    }
  }

  /** Calls `done` when the dialogue goes on, with an error when it goes on by a refusal. */
  #meet(
    stage: Stage,
    session: SMTPServerSession,
    done: (error?: Error | null) => void,
    address?: string,
  ): void {
    this.log.push({ stage, address, at: Date.now() })
    const fault = this.faults.take({ stage, address })
    const strike = () => {
      if (fault?.cut) this.#connectionOf(session)?._socket.destroy()
      else done(fault?.code === undefined ? null : refusal(fault.code, fault.text))
    }
    if (fault?.delayMs === undefined) strike()
    else void sleep(fault.delayMs, undefined, { ref: false }).then(strike)
  }

  #greylist(address: string): Error | null {
    if (!this.greylists || this.#seen.has(address)) return null
    this.#seen.add(address)
    return refusal(450, 'Greylisted, try again later')
  }

  #take(
    stream: NodeJS.ReadableStream,
    session: SMTPServerSession,
    done: (error?: Error | null) => void,
  ): void {
    // The client has begun to hand it over.
    stream.once('readable', () => this.#takeAll(stream, session, done))
  }

  #takeAll(
    stream: NodeJS.ReadableStream,
    session: SMTPServerSession,
    done: (error?: Error | null) => void,
  ): void {
    this.#meet('data', session, (error) => {
      void buffer(stream).then((raw) => {
        if (error) return done(error)
        this.#keep(raw.toString('latin1'), session)
        this.#meet('answer', session, done)
      }, ignoreCut)
    })
  }

  #keep(raw: string, { envelope, secure, user }: SMTPServerSession): void {
    const { mailFrom, rcptTo } = envelope
    const from = mailFrom === false ? '' : mailFrom.address
    const to = rcptTo.map(({ address }) => address)
    this.mails.push({
      from,
      to,
      raw,
      isEncrypted: secure,
      user: user as string | undefined,
      at: Date.now(),
    })
  }
}

function ignoreCut(): void {}
