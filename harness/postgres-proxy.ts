import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { MessageReader, queryMessage, type Unit, UnitReader } from './postgres-messages.ts'

/** What becomes of a statement and its answer. */
export type StatementFault =
  /** It does not arrive. The connection breaks. */
  | 'cut before'
  /** It does not arrive. The connection stays open, and nothing gets through any more. */
  | 'hang before'
  /** It arrives, and the server has answered when the connection breaks. The answer is lost. */
  | 'cut after'
  /** It arrives, as does all behind it. The connection stays open, and no answer comes any more. */
  | 'hang after'
  /** It arrives when this promise resolves, and what comes behind it after it. */
  | { readonly after: Promise<unknown> }
  /** The server gets this SQL instead, and its answer is passed on. */
  | { readonly sql: string }

/** SQL that fails with this error, as the server itself would. It ends the transaction. */
export function failingWith(sqlState: string): StatementFault {
  const fail = `DO $$BEGIN RAISE EXCEPTION 'injected' USING ERRCODE = '${sqlState}'; END$$`
  return { sql: fail }
}

export interface PostgresProxy extends AsyncDisposable {
  readonly port: number
  /** How many clients are connected. */
  readonly connections: number
  /** The port of the server to which new connections go. */
  target: number
  /** The statements that have come through so far. */
  readonly statements: readonly string[]
  /** How long everything takes in each direction, in milliseconds. */
  delayMs: number
  /** Applies a fault to the next statements that match, on any connection. */
  fail(pattern: RegExp, fault: StatementFault, times?: number): void
  /** How many faults have been applied. */
  readonly failed: number
  /** Breaks all connections. */
  cut(): void
  /** Lets nothing through on the present connections and new ones, which stay open. */
  freeze(): void
  /** Lets new connections through again. Those from before stay silent. */
  thaw(): void
}

interface Planned {
  readonly pattern: RegExp
  readonly fault: StatementFault
  times: number
}

/** Starts a proxy before a PostgreSQL server on 127.0.0.1. It reads the protocol, without TLS. */
export async function startPostgresProxy(target: number): Promise<PostgresProxy> {
  const proxy = new Proxy(target)
  await proxy.listen()
  return proxy
}

class Proxy implements PostgresProxy {
  delayMs = 0
  failed = 0
  isFrozen = false
  readonly statements: string[] = []
  target: number
  readonly #planned: Planned[] = []
  readonly #links = new Set<Link>()
  readonly #server = createServer((client) => {
    const link = new Link(this, client)
    this.#links.add(link)
    client.once('close', () => this.#links.delete(link))
  })

  constructor(target: number) {
    this.target = target
  }

  get connections(): number {
    return this.#links.size
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
  }

  fail(pattern: RegExp, fault: StatementFault, times = 1): void {
    this.#planned.push({ pattern, fault, times })
  }

  take(sql: string): StatementFault | undefined {
    if (sql !== '') this.statements.push(sql)
    const found = this.#planned.find(({ pattern, times }) => times > 0 && pattern.test(sql))
    if (!found) return undefined
    found.times -= 1
    this.failed += 1
    return found.fault
  }

  cut(): void {
    for (const link of this.#links) link.cut()
  }

  freeze(): void {
    this.isFrozen = true
    for (const link of this.#links) link.hang()
  }

  thaw(): void {
    this.isFrozen = false
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

/** One connection of a client, and the connection that it is passed on to. */
class Link {
  readonly #proxy: Proxy
  readonly #client: Socket
  readonly #server: Socket
  readonly #units = new UnitReader()
  readonly #answers = new MessageReader(false)
  /** How the answer to each unit that is on its way ends. */
  readonly #awaited: ('pass' | 'cut' | 'hang')[] = []
  /** What waits until an earlier statement may go on. */
  #held: Unit[] | undefined
  #isSilent: boolean
  /** Whether the client gets no answers any more. */
  #isUnanswered = false

  constructor(proxy: Proxy, client: Socket) {
    this.#proxy = proxy
    this.#client = client
    this.#isSilent = proxy.isFrozen
    this.#server = connect(proxy.target, '127.0.0.1')
    client.setNoDelay(true).on('data', (chunk: Buffer) => {
      this.#later(() => {
        for (const unit of this.#units.read(chunk)) this.#forward(unit)
      })
    })
    this.#server.setNoDelay(true).on('data', (chunk: Buffer) => {
      this.#later(() => this.#answer(chunk))
    })
    for (const end of [client, this.#server]) {
      end.on('error', () => {}).on('close', () => this.#later(() => this.cut()))
    }
  }

  cut(): void {
    this.#client.destroy()
    this.#server.destroy()
  }

  /** Nothing gets through any more, not even the end of the other side's connection. */
  hang(): void {
    this.#isSilent = true
  }

  #later(work: () => void): void {
    const act = () => {
      if (!this.#isSilent) work()
    }
    if (this.#proxy.delayMs > 0) setTimeout(act, this.#proxy.delayMs)
    else act()
  }

  #forward(unit: Unit): void {
    if (this.#isSilent) return
    if (this.#held) return void this.#held.push(unit)
    const fault = this.#proxy.take(unit.sql)
    if (fault === 'cut before') return this.cut()
    if (fault === 'hang before') return this.hang()
    if (typeof fault === 'object' && 'after' in fault) return this.#hold(unit, fault.after)
    const ending = fault === 'cut after' ? 'cut' : fault === 'hang after' ? 'hang' : 'pass'
    if (unit.isAnswered) this.#awaited.push(ending)
    this.#server.write(typeof fault === 'object' ? queryMessage(fault.sql) : unit.bytes)
  }

  #hold(first: Unit, until: Promise<unknown>): void {
    this.#held = [first]
    void until.then(() => {
      const held = this.#held ?? []
      this.#held = undefined
      for (const unit of held) this.#forward(unit)
    })
  }

  #answer(chunk: Buffer): void {
    for (const { type, bytes } of this.#answers.read(chunk)) {
      const ending = this.#awaited[0] ?? 'pass'
      if (ending === 'pass' && !this.#isUnanswered) this.#client.write(bytes)
      // ReadyForQuery
      if (type !== 'Z') continue
      this.#awaited.shift()
      if (ending === 'cut') this.cut()
      if (ending === 'hang') this.#isUnanswered = true
    }
  }
}
