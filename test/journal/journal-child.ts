/**
 * The main program of the process that `OtherProcess` starts. It opens journals and calls their methods,
 * one for each request of its parent.
 */
import type { CallLedger, CallUse, Quota } from '../../src/journal/contracts/call-ledger.ts'
import type { Journal, JournalPolicy } from '../../src/journal/contracts/journal.ts'
import { Overtaken } from '../../src/journal/contracts/errors.ts'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
import type { Millis } from '../../src/signup/signup.ts'

/** The parts of a journal whose methods can be called by name. */
export type Part = Exclude<keyof Journal, 'callLedger' | 'time' | symbol>

/** What the parent asks for. It numbers the journals. */
export type Task =
  | { readonly kind: 'open'; readonly file: string; readonly policy: Partial<JournalPolicy> }
  | {
      readonly kind: 'call'
      readonly part: Part
      readonly method: string
      readonly values: readonly unknown[]
    }
  | ({ readonly kind: 'ledger'; readonly ledger: number; readonly account: string } & Times)
  | ({
      readonly kind: 'reserve'
      readonly ledger: number
      readonly quota: Quota
      readonly use: CallUse | undefined
    } & Times)
  | { readonly kind: 'close' }

/** The times of the test's clock, which the other process cannot read. */
interface Times {
  readonly now: Millis
  readonly elapsed: Millis
}

export type Request = { readonly id: number; readonly journal: number } & Task

export type Reply =
  | { readonly id: number; readonly value: unknown }
  | {
      readonly id: number
      readonly error: unknown
      readonly isOvertaken: boolean
    }
  /** For listeners of the parent. It is sent before the reply to the call that caused it. */
  | { readonly journal: number; readonly event: 'onAppend' | 'onSettle'; readonly news: unknown }

/** A ledger, and the times that it reads. */
interface OpenLedger {
  readonly ledger: CallLedger
  readonly times: Times
}

interface OpenJournal {
  readonly journal: Journal
  readonly ledgers: Map<number, OpenLedger>
}

const open = new Map<number, OpenJournal>()

function openJournal(number: number, file: string, policy: Partial<JournalPolicy>): OpenJournal {
  const journal = openSqliteJournal(file, policy)
  const opened = { journal, ledgers: new Map<number, OpenLedger>() }
  open.set(number, opened)
  journal.delivery.onAppend((news) => send({ journal: number, event: 'onAppend', news }))
  journal.intake.onSettle((news) => send({ journal: number, event: 'onSettle', news }))
  return opened
}

async function run(request: Request, { journal, ledgers }: OpenJournal): Promise<unknown> {
  switch (request.kind) {
    case 'open':
      return undefined
    case 'call': {
      const part = journal[request.part]
      const method = Reflect.get(part, request.method, part) as (...values: unknown[]) => unknown
      return method.apply(part, [...request.values])
    }
    case 'ledger': {
      const times = { now: request.now, elapsed: request.elapsed }
      const clock = { now: () => times.now, elapsed: () => times.elapsed }
      ledgers.set(request.ledger, { ledger: journal.callLedger(request.account, clock), times })
      return undefined
    }
    case 'reserve': {
      const { ledger: number, quota, use, now, elapsed } = request
      const opened = ledgers.get(number)
      if (!opened) throw new Error(`Ledger ${number} is not open.`)
      Object.assign(opened.times, { now, elapsed })
      return opened.ledger.reserve(quota, use)
    }
    case 'close':
      open.delete(request.journal)
      return journal[Symbol.asyncDispose]()
  }
}

async function answer(request: Request): Promise<void> {
  const { id, journal: number } = request
  const opened =
    request.kind === 'open' ? openJournal(number, request.file, request.policy) : open.get(number)
  if (!opened) throw new Error(`Journal ${number} is not open.`)
  await run(request, opened).then(
    (value) => send({ id, value }),
    (error: unknown) => send({ id, error, isOvertaken: error instanceof Overtaken }),
  )
}

function send(reply: Reply): void {
  process.send?.(reply)
}

process.on('message', (request) => void answer(request as Request))
