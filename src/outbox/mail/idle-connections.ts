import { type Clock, second } from '../../platform/clock.ts'
import type { MailConnection } from './connection.ts'

const mailsMax = 100
const idleMs = 5 * second

/** Connections that wait for a next mail, for a few seconds. */
export function idleConnections(clock: Pick<Clock, 'sleep'>) {
  const idle = new Set<MailConnection>()
  const ended = new AbortController()
  return {
    take(): MailConnection | undefined {
      for (const connection of idle) {
        idle.delete(connection)
        if (connection.isOpen) return connection
        connection[Symbol.dispose]()
      }
      return undefined
    },
    /** Keeps a connection for the next mail, if it can take one. */
    keep(connection: MailConnection): void {
      const { mails, isOpen } = connection
      const { signal } = ended
      if (!isOpen || mails >= mailsMax || signal.aborted) return connection[Symbol.dispose]()
      idle.add(connection)
      void clock.sleep(idleMs, signal).then(() => {
        if (connection.mails === mails && idle.delete(connection)) connection[Symbol.dispose]()
      })
    },
    [Symbol.dispose](): void {
      ended.abort()
      for (const connection of idle) connection[Symbol.dispose]()
      idle.clear()
    },
  }
}
