import type { ServerResponse } from 'node:http'
import { jsonAnswer, type Answer } from './answer.ts'
import { summarize, type LoggedCall } from './call-log.ts'
import type { EmulatedGoogle } from './emulator.ts'
import { faultAnswers, isFaultAnswer } from './fault-answers.ts'
import { applyOf, type Fault } from './faults.ts'
import { noSuchPath } from './front-end.ts'
import { answerSignIn } from './sign-in.ts'
import { findRoute, type CallKind, type Route } from './route.ts'

/** A received request. */
export interface Delivery {
  readonly method: string
  readonly target: URL
  readonly authorization: string | undefined
  /** `Metadata-Flavor`, without which the metadata server answers nobody. */
  readonly flavor: string | undefined
  readonly body: string
  /** The URL of the token endpoint, which assertions may name as their audience. */
  readonly tokenUrl: string
}

/** A call that is ready to be applied, with its line in the log. */
interface Prepared {
  /** Applies the call once and returns the true answer. */
  readonly run: () => Answer
  readonly logged: LoggedCall
  readonly fault: Fault | undefined
}

/** Applies calls and sends answers, with the planned faults. */
export class Deliveries {
  readonly #google: EmulatedGoogle
  readonly #timers = new Set<() => void>()
  #late: (() => void)[] = []
  #stopped = false

  constructor(google: EmulatedGoogle) {
    this.#google = google
  }

  get lateCount(): number {
    return this.#late.length
  }

  /** Applies the calls that are held back, oldest first. */
  releaseLate(): number {
    const late = this.#late
    for (const apply of late) apply()
    return late.length
  }

  stop(): void {
    this.#stopped = true
    for (const cancel of this.#timers) cancel()
    this.#timers.clear()
    this.#late = []
  }

  async deliver(delivery: Delivery, response: ServerResponse): Promise<void> {
    const { method, target } = delivery
    response.setHeader('Date', new Date(this.#google.clock.now()).toUTCString())
    const isToken = !target.pathname.startsWith('/v4/')
    const route = isToken ? undefined : findRoute(method, target.pathname)
    if (!isToken && !route) {
      write(response, noSuchPath(target.pathname))
      return
    }
    const prepared = route ? this.#prepareCall(delivery, route) : this.#prepareToken(delivery)
    const { fault, logged } = prepared
    const seen = this.#carryOut(prepared)
    if (fault?.delayMs) await this.#wait(fault.delayMs)
    if (seen === 'drop') {
      logged.status = 'dropped'
      response.destroy()
      return
    }
    logged.status = fault?.answer === 'cutOff' ? 'dropped' : seen.status
    if (fault?.answer === 'cutOff') cutOff(response, seen)
    else write(response, fault?.answer === 'truncated' ? truncated(seen) : seen)
  }

  #prepareToken(delivery: Delivery): Prepared {
    const google = this.#google
    const nowMs = google.clock.now()
    const fault = google.faults.take({ kind: 'token' })
    const run = () => {
      const { status, body, headers } = answerSignIn(google.tokens, delivery, nowMs)
      const answer =
        typeof body === 'string' ? { status, headers: {}, body } : jsonAnswer(status, body)
      return { ...answer, headers: { ...answer.headers, ...headers } }
    }
    return { run, fault, logged: this.#log(delivery, 'token', fault) }
  }

  #prepareCall(delivery: Delivery, route: Route): Prepared {
    const google = this.#google
    const { kind, access, spreadsheetId } = route
    const fault = google.faults.take({ kind, access, spreadsheetId })
    const query = delivery.target.searchParams
    const request = { route, query, authorization: delivery.authorization, body: delivery.body }
    const admitted = google.frontEnd.admit(request, google.clock.now())
    return {
      fault,
      run: () => ('status' in admitted ? admitted : google.frontEnd.apply(request, admitted)),
      logged: this.#log(delivery, kind, fault, route),
    }
  }

  /** Applies the call as the fault says. Returns the answer for the client. */
  #carryOut({ fault, logged, run }: Prepared): Answer | 'drop' {
    const apply = fault ? applyOf(fault) : 'now'
    if (apply === 'later') {
      this.#hold(run, logged, fault?.applyAfterMs)
      return faultyAnswer(fault)
    }
    if (apply === 'never') return faultyAnswer(fault)
    const first = run()
    const second = apply === 'twice' ? run() : first
    logged.applied = appliedBy(first)
    if (apply === 'twice' && logged.applied === 'yes' && second.status === 200) {
      logged.applied = 'twice'
    }
    const wanted = fault?.answer ?? 'real'
    if (wanted === 'real' || wanted === 'truncated' || wanted === 'cutOff') {
      return fault?.answerOf === 'second' ? second : first
    }
    return faultyAnswer(fault)
  }

  #hold(run: () => Answer, logged: LoggedCall, afterMs: number | undefined): void {
    logged.applied = 'late'
    const apply = () => {
      if (!this.#late.includes(apply)) return
      this.#late = this.#late.filter((other) => other !== apply)
      logged.applied = appliedBy(run())
    }
    this.#late.push(apply)
    if (afterMs !== undefined) this.#after(afterMs, apply)
  }

  #wait(delayMs: number): Promise<void> {
    return new Promise((resolve) => this.#after(delayMs, resolve))
  }

  #after(delayMs: number, run: () => void): void {
    if (this.#stopped) return
    const cancel = this.#google.clock.after(delayMs, () => {
      this.#timers.delete(cancel)
      run()
    })
    this.#timers.add(cancel)
  }

  #log({ target, body }: Delivery, kind: CallKind, fault: Fault | undefined, route?: Route) {
    const parsed = kind === 'token' ? undefined : parsedOrUndefined(body)
    return this.#google.log.add({
      time: new Date(this.#google.clock.now()).toISOString(),
      path: target.pathname,
      kind,
      access: route?.access,
      status: 'pending',
      applied: 'no',
      ...summarize(parsed),
      fault: fault && describe(fault),
      body: this.#google.logBodies ? parsed : undefined,
    })
  }
}

function appliedBy({ status, body }: Answer): LoggedCall['applied'] {
  if (status === 200) return 'yes'
  return body.includes('developer metadata with that ID already exists') ? 'known' : 'no'
}

/** The answer of a fault that replaces the true one. */
function faultyAnswer(fault: Fault | undefined): Answer | 'drop' {
  const wanted = fault?.answer ?? 'unavailable'
  if (wanted === 'drop' || wanted === 'cutOff') return 'drop'
  if (typeof wanted === 'string') {
    return faultAnswers[isFaultAnswer(wanted) ? wanted : 'unavailable']()
  }
  return { status: 500, headers: {}, body: '', ...wanted }
}

function describe(fault: Fault): string {
  const { answer, answerOf, delayMs } = fault
  const shown = typeof answer === 'object' ? `answer ${answer.status ?? 500}` : answer
  return [`apply ${applyOf(fault)}`, shown, answerOf, delayMs && `delay ${delayMs} ms`]
    .filter(Boolean)
    .join(', ')
}

function truncated(answer: Answer): Answer {
  return { ...answer, body: answer.body.slice(0, Math.ceil(answer.body.length / 2)) }
}

/** Sends the answer chunked, as Google does. */
function write(response: ServerResponse, { status, headers, body }: Answer): void {
  response.writeHead(status, headers)
  response.end(body)
}

/** Sends half of the body and closes the connection. */
function cutOff(response: ServerResponse, answer: Answer): void {
  response.writeHead(answer.status, answer.headers)
  response.write(truncated(answer).body, () => response.destroy())
}

function parsedOrUndefined(body: string): unknown {
  try {
    const parsed: unknown = JSON.parse(body)
    return parsed
  } catch {
    return undefined
  }
}
