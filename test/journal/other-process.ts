import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

import { endWithUs } from '../../harness/end-with-us.ts'
import type { CallLedger } from '../../src/journal/contracts/call-ledger.ts'
import type { Journal, JournalPolicy } from '../../src/journal/contracts/journal.ts'
import { Listeners } from '../../src/platform/listeners.ts'
import { Overtaken } from '../../src/journal/contracts/errors.ts'
import type { Clock } from '../../src/platform/clock.ts'
import type { Millis } from '../../src/signup/signup.ts'
import type { Part, Reply, Request, Task } from './journal-child.ts'

/** A process that opens journals for the tests. Every call of such a journal runs there. */
export class OtherProcess implements AsyncDisposable {
  readonly #child: ChildProcess
  readonly #closed: Promise<unknown>
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>()
  readonly #journals = new Map<number, RemoteJournal>()
  #requests = 0

  constructor() {
    const program = join(import.meta.dirname, 'journal-child.ts')
    // 'advanced' passes on undefined, maps and errors.
    this.#child = endWithUs(fork(program, { serialization: 'advanced' }))
    this.#closed = once(this.#child, 'close')
    this.#child.on('message', (reply) => this.#take(reply as Reply))
    this.#child.on('close', (code) => {
      const ended = new Error(`The other process ended with ${code}.`)
      for (const answer of this.#waiting.values()) answer.reject(ended)
    })
  }

  /** Opens the journal in this file in the other process. */
  async open(file: string, policy: Partial<JournalPolicy> = {}): Promise<Journal> {
    const number = this.#journals.size + 1
    const journal = new RemoteJournal((task) => this.#ask(number, task))
    this.#journals.set(number, journal)
    await this.#ask(number, { kind: 'open', file, policy })
    return journal
  }

  /** Kills the process, as a crash does. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#closed
  }

  #ask(number: number, task: Task): Promise<unknown> {
    const request: Request = { id: (this.#requests += 1), journal: number, ...task }
    const answer = Promise.withResolvers<unknown>()
    this.#waiting.set(request.id, answer)
    this.#child.send(request)
    return answer.promise.finally(() => this.#waiting.delete(request.id))
  }

  #take(reply: Reply): void {
    if ('event' in reply) {
      this.#journals.get(reply.journal)?.listeners[reply.event].tell(reply.news)
      return
    }
    const answer = this.#waiting.get(reply.id)
    // In a later turn, as an answer may arrive within the turn that sent the request.
    setImmediate(() => {
      if ('error' in reply) answer?.reject(errorOf(reply))
      else answer?.resolve(reply.value)
    })
  }
}

/** The class of an error gets lost on its way between two processes. */
function errorOf({ error, isOvertaken }: Extract<Reply, { readonly error: unknown }>): unknown {
  return isOvertaken && error instanceof Error ? new Overtaken(error.message) : error
}

type Ask = (task: Task) => Promise<unknown>

/** A journal that the other process has open. */
class RemoteJournal implements Journal {
  readonly listeners = { onAppend: new Listeners<unknown>(), onSettle: new Listeners<unknown>() }
  readonly intake = this.#part('intake') as Journal['intake']
  readonly imports = this.#part('imports') as Journal['imports']
  readonly delivery = this.#part('delivery') as Journal['delivery']
  readonly erasure = this.#part('erasure') as Journal['erasure']
  readonly retention = this.#part('retention') as Journal['retention']
  readonly quarantine = this.#part('quarantine') as Journal['quarantine']
  readonly confirmation = this.#part('confirmation') as Journal['confirmation']
  readonly outbox = this.#part('outbox') as Journal['outbox']
  readonly webhooks = this.#part('webhooks') as Journal['webhooks']
  readonly compared = this.#part('compared') as Journal['compared']
  readonly reader = this.#part('reader') as Journal['reader']
  readonly lease = this.#part('lease') as Journal['lease']
  readonly #ask: Ask
  #ledgers = 0

  constructor(ask: Ask) {
    this.#ask = ask
  }

  callLedger(account: string, clock: Pick<Clock, 'now' | 'elapsed'>): CallLedger {
    const ledger = (this.#ledgers += 1)
    const times = () => ({ now: clock.now(), elapsed: clock.elapsed() })
    const opened = this.#ask({ kind: 'ledger', ledger, account, ...times() })
    return {
      reserve: async (quota, use) => {
        const reserved = this.#ask({ kind: 'reserve', ledger, quota, use, ...times() })
        await opened
        return (await reserved) as Millis
      },
    }
  }

  get linkKey(): never {
    throw new Error('The other process keeps its keys.')
  }

  keyFor(): never {
    throw new Error('The other process keeps its keys.')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#ask({ kind: 'close' })
  }

  /** An object whose methods are called in the other process. Listeners stay here. */
  #part(part: Part): object {
    return new Proxy(
      {},
      {
        get: (_, method): unknown => {
          if (method === 'onAppend' || method === 'onSettle') {
            const listeners = this.listeners[method]
            return listeners.add.bind(listeners)
          }
          return (...values: readonly unknown[]) =>
            this.#ask({ kind: 'call', part, method: String(method), values })
        },
      },
    )
  }
}
