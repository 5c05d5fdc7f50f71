import {
  errorAnswer,
  htmlAnswer,
  jsonAnswer,
  type Answer,
} from '../../../emulators/google-sheets/answer.ts'
import { answer } from '../../../emulators/google-sheets/api.ts'
import { ApiError } from '../../../emulators/google-sheets/api-error.ts'
import { SheetsModel } from '../../../emulators/google-sheets/model.ts'
import { findRoute, type Route } from '../../../emulators/google-sheets/route.ts'
import { owner, SpreadsheetHandle } from '../../../emulators/google-sheets/spreadsheet-handle.ts'
import type { Caller, SpreadsheetState } from '../../../emulators/google-sheets/state.ts'
import { unauthenticated } from '../../../emulators/google-sheets/tokens.ts'
import type { OutgoingRequest } from '../../../src/platform/http-client.ts'
import type { Millis } from '../../../src/signup/signup.ts'
import { People } from '../people.ts'
import type { Dice } from '../dice.ts'
import { Sharing } from '../sharing.ts'
import type { Truth } from '../truth.ts'
import { readBatch, type SentBatch, textOf } from '../read-batch.ts'

export const spreadsheetId = 'simulated'
export const robot: Caller = { email: 'robot@example.com', project: 'simulation' }

/** A call that has reached Google. It may be applied later, and more than once. */
export interface Admitted {
  readonly kind: Route['kind'] | 'token'
  readonly apply: () => Answer
}

export interface GoogleOptions {
  readonly truth: Truth
  readonly dice: Dice
  readonly now: () => Millis
  /** How long an access token keepMs. */
  readonly tokenLifeMs: Millis
}

/** The emulator's model of Google, without HTTP and in simulated time. Tells `truth` what it applies. */
export class SimulatedGoogle {
  readonly sheet: SpreadsheetHandle
  readonly people: People
  readonly #model: SheetsModel
  readonly #state: SpreadsheetState
  readonly #truth: Truth
  readonly #sharing: Sharing
  readonly #tokenLifeMs: Millis
  /** When each token runs out. */
  readonly #tokens = new Map<string, Millis>()

  constructor(options: GoogleOptions) {
    const { truth, dice, now, tokenLifeMs } = options
    this.#tokenLifeMs = tokenLifeMs
    this.#truth = truth
    this.#model = new SheetsModel({ random: dice.random })
    this.#state = this.#model.create({
      id: spreadsheetId,
      sharedWith: { [owner.email]: 'owner', [robot.email]: 'editor' },
    })
    this.sheet = new SpreadsheetHandle(this.#model, this.#state)
    const { sheet } = this
    this.#sharing = new Sharing({ sheet, email: robot.email, dice, now })
    this.people = new People({ sheet, sharing: this.#sharing, truth, dice })
  }

  /** Takes a request that reaches Google: checks its token now. It may be applied later. */
  admit(request: OutgoingRequest, now: Millis, isLate: boolean): Admitted {
    const url = new URL(request.url)
    if (url.pathname === '/token') return { kind: 'token', apply: () => this.#issueToken(now) }
    const route = findRoute(request.method, url.pathname)
    if (!route) {
      return { kind: 'get', apply: () => htmlAnswer(404, 'Not Found', 'No such path.') }
    }
    // The process has stood still in between, so its window is over. Nothing can keep this one call back.
    if (!isLate) this.#truth.countCall(now)
    return {
      kind: route.kind,
      apply: this.#guard(() => {
        if (this.tokenOf(request, now) === undefined) throw unauthenticated()
        return () => this.#apply(route, url.searchParams, textOf(request))
      }),
    }
  }

  /** When the request's access token was issued; undefined when it has run out. */
  tokenOf({ headers }: OutgoingRequest, now: Millis): Millis | undefined {
    const token = headers?.['authorization']?.replace('Bearer ', '') ?? ''
    const end = this.#tokens.get(token) ?? 0
    return end > now ? end - this.#tokenLifeMs : undefined
  }

  /** Makes all tokens invalid, as when they run out. */
  endTokens(): void {
    this.#tokens.clear()
  }

  /** Somebody else takes the id of the marker with which this request begins. */
  takeMarker({ marker, rows }: SentBatch): boolean {
    if (marker === undefined || rows.length === 0 || this.#state.metadata.has(marker)) return false
    this.#state.metadata.set(marker, { id: marker, key: 'somebody.else', value: 'mine' })
    return true
  }

  #issueToken(now: Millis): Answer {
    const token = `token-${this.#tokens.size + 1}-${now}`
    this.#tokens.set(token, now + this.#tokenLifeMs)
    const body = { access_token: token, expires_in: this.#tokenLifeMs / 1000, token_type: 'Bearer' }
    return jsonAnswer(200, body, false)
  }

  /** Runs the checks of `door` now. Returns a function that runs what `door` returned, or gives its refusal. */
  #guard(door: () => () => Answer): () => Answer {
    const answered = (step: () => Answer) => {
      try {
        return step()
      } catch (error) {
        if (error instanceof ApiError) return errorAnswer(error, false)
        throw error
      }
    }
    let behind: () => Answer
    const refused = answered(() => {
      behind = door()
      return passed
    })
    return () => (refused === passed ? answered(behind) : refused)
  }

  #apply(route: Route, query: URLSearchParams, body: string): Answer {
    const parsed: unknown = body === '' ? undefined : JSON.parse(body)
    this.#sharing.meetServer()
    const result = answer(this.#model, { route, query, body: parsed, caller: robot })
    if (route.kind === 'batchUpdate') this.#seeApplied(readBatch(parsed))
    return jsonAnswer(200, result, false)
  }

  #seeApplied({ rows, marker }: SentBatch): void {
    for (const { email, sheetId } of rows) this.#truth.applyRow(email, sheetId, marker)
    this.#truth.countMarkers(this.#ourMarkers())
  }

  #ourMarkers(): number {
    let count = 0
    for (const { id, key } of this.#state.metadata.values()) {
      if (key.startsWith('rollcall') && !this.#truth.history.isRevived(id)) count += 1
    }
    return count
  }
}

const passed: Answer = { status: 200, headers: {}, body: '' }
