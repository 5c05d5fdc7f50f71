import { type Clock, second } from '../../platform/clock.ts'
import type { MailConnection } from './connection.ts'

const mailsMax = 100
const idleMs = 5 * second

/** Connections that wait for a next mail, for a few seconds. */
export class IdleConnections implements Disposable {
  readonly #idle = new Set<MailConnection>()
  readonly #ended = new AbortController()
  readonly #clock: Pick<Clock, 'sleep'>

  constructor(clock: Pick<Clock, 'sleep'>) {
    this.#clock = clock
  }

  take(): MailConnection | undefined {
    for (const connection of this.#idle) {
      this.#idle.delete(connection)
      if (connection.isOpen) return connection
      connection[Symbol.dispose]()
    }
    return undefined
  }

  /** Keeps a connection for the next mail, if it can take one. */
  keep(connection: MailConnection): void {
    const { mails, isOpen } = connection
    const { signal } = this.#ended
    if (!isOpen || mails >= mailsMax || signal.aborted) return connection[Symbol.dispose]()
    this.#idle.add(connection)
    void this.#clock.sleep(idleMs, signal).then(() => {
      if (connection.mails === mails && this.#idle.delete(connection)) connection[Symbol.dispose]()
    })
  }

  [Symbol.dispose](): void {
    this.#ended.abort()
    for (const connection of this.#idle) connection[Symbol.dispose]()
    this.#idle.clear()
  }
}
