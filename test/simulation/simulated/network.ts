/**
 * The network between the program and Google, with its faults. Each call meets at most one of these:
 *
 *   refused      Google clearly refuses and applies nothing (4xx). The writer may rely on that.
 *   unanswered   the request never arrives, or Google fails before it applies anything; the program
 *                sees silence, a reset, a 5xx, or a 200 that is not what it asked for.
 *   answer lost  the same, but the request was applied. The program cannot tell the two apart: it
 *                sends the same batch again, and the marker makes that harmless.
 *   late         the same, but the request is applied up to 180 s later: after retries, after the
 *                batch was given up, after a restart. The marker of the first one that was applied, or
 *                the burnt marker, keeps all others out; it stands for 15 minutes.
 *   twice        the request is delivered two times, the second perhaps late.
 *   slow         the answer takes up to a minute and a half; the program gives up after one.
 *
 * A request takes less than a second to reach Google, as the pace assumes. A request stays on the
 * network when the process that sent it is killed.
 */
import type { Answer } from '../../../emulators/google-sheets/answer.ts'
import { faultAnswers, type FaultAnswer } from '../../../emulators/google-sheets/fault-answers.ts'
import {
  type HttpAnswer,
  HttpFailure,
  type OutgoingRequest,
} from '../../../src/platform/http-client.ts'
import type { Millis } from '../../../src/signup/signup.ts'
import { readBatch, textOf } from '../read-batch.ts'
import type { Dice } from '../dice.ts'
import type { Schedule } from '../schedule.ts'
import type { Admitted, SimulatedGoogle } from './simulated-google.ts'
import type { SimulatedTime } from './simulated-time.ts'

const second = 1000
/** How long Google may work on a call, by its documentation. */
const lateMaxMs = 180 * second

const kinds = ['refused', 'unanswered', 'answer lost', 'late', 'twice', 'slow'] as const
type Kind = (typeof kinds)[number]
/** The answer that the program gets: the real one, half of it, another one, a reset, or none. */
type Seen = 'real' | 'truncated' | 'nonsense' | 'reset' | 'silence' | OddToken | FaultAnswer
/** Answers of the token endpoint: without a token (seen for unknown scopes), or with a token of an odd life. */
type OddToken = 'no token' | 'odd life'

interface Fault {
  readonly kind: Kind
  readonly seen: Seen
  readonly delayMs: Millis
}

const refusals = [
  'quota',
  'quotaRetryAfter',
  'unauthenticated',
  'notShared',
  'apiDisabled',
  'notFound',
] as const
const tokenRefusals = ['unauthenticated', 'notShared'] as const
const oddTokens = ['no token', 'odd life'] as const
const unclear = [
  'silence',
  'reset',
  'internal',
  'unavailable',
  'aborted',
  'deadline',
  'badGateway',
  'requestTimeout',
  'html200',
  'empty200',
  'nonsense',
  'truncated',
] as const

export interface NetworkOptions {
  readonly time: SimulatedTime
  readonly dice: Dice
  readonly google: SimulatedGoogle
  readonly chance: Schedule['chance']
  readonly isFaulty: () => boolean
  /** How long a request takes to reach Google at most. */
  readonly travelMaxMs: Millis
  /** Adds what happened to the trace and the counts. */
  readonly note: (event: string, detail?: string) => void
}

/** The process that waits for the answer. It runs nothing after it is dead. */
export interface Sender {
  after(ms: Millis, run: () => void): () => void
}

export class Network {
  /** How many requests may still be applied. */
  underWay = 0
  readonly #options: NetworkOptions

  constructor(options: NetworkOptions) {
    this.#options = options
  }

  /** When the request's access token was issued; undefined when it has run out. */
  tokenOf(request: OutgoingRequest): Millis | undefined {
    return this.#options.google.tokenOf(request, this.#options.time.now)
  }

  /** `isLate`: the process has stood still since the call was reserved. */
  send(request: OutgoingRequest, sender: Sender, isLate = false): Promise<HttpAnswer> {
    const { dice, travelMaxMs } = this.#options
    return new Promise((resolve, reject) => {
      const fail = (reason: string) => {
        forget()
        reject(new HttpFailure(`${request.method}: ${reason}`))
      }
      const abort = () => fail('given up')
      const forget = sender.after(request.timeoutMs, () => fail('no answer in time'))
      if (request.signal?.aborted) return abort()
      request.signal?.addEventListener('abort', abort, { once: true })
      const answer = (seen: Answer | 'reset' | 'silence', delayMs: Millis) => {
        if (seen === 'silence') return
        sender.after(dice.between(5, travelMaxMs / 3) + delayMs, () => {
          request.signal?.removeEventListener('abort', abort)
          if (seen === 'reset') return fail('socket hang up')
          forget()
          const headers = new Headers(seen.headers)
          resolve({ status: seen.status, headers, text: seen.body })
        })
      }
      this.#later(dice.between(5, travelMaxMs), () => this.#arrive(request, answer, isLate))
    })
  }

  #later(ms: Millis, run: () => void): void {
    this.underWay += 1
    this.#options.time.after(ms, () => {
      this.underWay -= 1
      run()
    })
  }

  #arrive(
    request: OutgoingRequest,
    answer: (seen: Answer | 'reset' | 'silence', delayMs: Millis) => void,
    isLate: boolean,
  ): void {
    const { time, google, note, dice, chance, isFaulty } = this.#options
    if (isFaulty() && dice.chance(chance.token / 4)) {
      google.endTokens()
      note('token ends on the way')
    }
    const call = google.admit(request, time.now, isLate)
    if (isFaulty() && call.kind === 'batchUpdate' && dice.chance(chance.foreignMarker)) {
      if (google.takeMarker(readBatch(JSON.parse(textOf(request))))) note('foreign marker')
    }
    const fault = this.#drawFault(call.kind)
    if (!fault) {
      const real = call.apply()
      note(call.kind, String(real.status))
      return answer(real, 0)
    }
    note(fault.kind, `${call.kind} ${fault.seen}`)
    answer(
      this.#seen(fault, this.#carryOut(call, fault)),
      fault.kind === 'slow' ? fault.delayMs : 0,
    )
  }

  /** Applies the call when the fault says so. Returns the real answer if there is one already. */
  #carryOut(call: Admitted, { kind, delayMs }: Fault): Answer | undefined {
    const { note } = this.#options
    const applyLate = () => note('applied late', String(call.apply().status))
    switch (kind) {
      case 'refused':
      case 'unanswered':
        return undefined
      case 'late':
        this.#later(delayMs, applyLate)
        return undefined
      case 'twice': {
        const first = call.apply()
        if (delayMs < 60 * second) return call.apply()
        this.#later(delayMs, applyLate)
        return first
      }
      case 'answer lost':
      case 'slow':
        return call.apply()
    }
  }

  #seen({ seen }: Fault, real: Answer | undefined): Answer | 'reset' | 'silence' {
    if (seen === 'reset' || seen === 'silence') return seen
    if (seen === 'nonsense') return json('{}')
    if (seen === 'no token') return json('{"id_token":"of nobody"}')
    if (seen === 'odd life') {
      const body = real?.body ?? '{"access_token":"unknown","expires_in":0}'
      return json(body.replace(/"expires_in":[\d.]+/, '"expires_in":"soon"'))
    }
    if (seen === 'real' || seen === 'truncated') {
      const body = real?.body ?? '{"spreadsheetId": "simulated"'
      return seen === 'real' && real ? real : json(body.slice(0, body.length / 2))
    }
    return faultAnswers[seen]()
  }

  #drawFault(call: Admitted['kind']): Fault | undefined {
    const { dice, chance, isFaulty } = this.#options
    const isToken = call === 'token'
    if (!isFaulty() || !dice.chance(isToken ? chance.token : chance.call)) return undefined
    const kind = dice.pick(kinds)
    const delayMs = dice.between(0, kind === 'slow' ? 90 * second : lateMaxMs)
    return { kind, delayMs, seen: this.#drawSeen(kind, call) }
  }

  #drawSeen(kind: Kind, call: Admitted['kind']): Seen {
    const { dice } = this.#options
    if (kind === 'twice' || kind === 'slow') return 'real'
    if (kind === 'refused') return dice.pick(call === 'token' ? tokenRefusals : refusals)
    if (call === 'token' && dice.chance(0.3)) return dice.pick(oddTokens)
    const seen = dice.pick(unclear)
    // For a read, an empty object is a valid answer.
    return seen === 'nonsense' && call !== 'batchUpdate' ? 'silence' : seen
  }
}

function json(body: string): Answer {
  return { status: 200, headers: { 'Content-Type': 'application/json; charset=UTF-8' }, body }
}
