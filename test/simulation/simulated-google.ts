import {
  errorAnswer,
  htmlAnswer,
  jsonAnswer,
  type Answer,
} from '../../emulators/google-sheets/answer.ts'
import { answer } from '../../emulators/google-sheets/api.ts'
import { ApiError } from '../../emulators/google-sheets/api-error.ts'
import { SheetsModel } from '../../emulators/google-sheets/model.ts'
import { QuotaLedger, type QuotaRule } from '../../emulators/google-sheets/quota.ts'
import { findRoute, type Route } from '../../emulators/google-sheets/route.ts'
import { owner, SpreadsheetHandle } from '../../emulators/google-sheets/spreadsheet-handle.ts'
import type { Caller, SpreadsheetState } from '../../emulators/google-sheets/state.ts'
import { unauthenticated } from '../../emulators/google-sheets/tokens.ts'
import type { Random } from '../../src/platform/clock.ts'
import type { OutgoingRequest } from '../../src/platform/http-client.ts'
import type { Millis } from '../../src/signup/signup.ts'
import type { PersonAct, Dice } from './schedule.ts'
import type { Truth } from './truth.ts'
import { readBatch, type SentBatch, textOf } from './read-batch.ts'

export const spreadsheetId = 'simulated'
export const robot: Caller = { email: 'robot@example.com', project: 'simulation' }
const tokenLifeMs = 3599 * 1000

/** A call that has reached Google. It may be applied later, and more than once. */
export interface Admitted {
  readonly kind: Route['kind'] | 'token'
  readonly apply: () => Answer
}

/** The emulator's model of Google, without HTTP and in simulated time. Tells `truth` what it applies. */
export class SimulatedGoogle {
  readonly sheet: SpreadsheetHandle
  readonly #model: SheetsModel
  readonly #state: SpreadsheetState
  readonly #truth: Truth
  readonly #quota: QuotaLedger
  /** When each token runs out. */
  readonly #tokens = new Map<string, Millis>()
  #changes = 0
  /** Calls that broke a quota of Google and were answered with 429. */
  overQuota = 0

  constructor(truth: Truth, random: Random, rules: readonly QuotaRule[] = []) {
    this.#truth = truth
    this.#quota = new QuotaLedger(rules)
    this.#model = new SheetsModel({ random })
    this.#state = this.#model.create({
      id: spreadsheetId,
      sharedWith: { [owner.email]: 'owner', [robot.email]: 'editor' },
    })
    this.sheet = new SpreadsheetHandle(this.#model, this.#state)
  }

  /** Takes a request that reaches Google: checks its token and the quota now. It may be applied later. */
  admit(request: OutgoingRequest, now: Millis): Admitted {
    const url = new URL(request.url)
    if (url.pathname === '/token') return { kind: 'token', apply: () => this.#issueToken(now) }
    const route = findRoute(request.method, url.pathname)
    if (!route) {
      return { kind: 'get', apply: () => htmlAnswer(404, 'Not Found', 'No such path.') }
    }
    this.#truth.countCall(now)
    return {
      kind: route.kind,
      apply: this.#guard(() => {
        if (this.tokenOf(request, now) === undefined) throw unauthenticated()
        try {
          this.#quota.take(robot, route.access, now)
        } catch (error) {
          this.overQuota += 1
          throw error
        }
        return () => this.#apply(route, url.searchParams, textOf(request))
      }),
    }
  }

  /** When the request's access token was issued; undefined when it has run out. */
  tokenOf({ headers }: OutgoingRequest, now: Millis): Millis | undefined {
    const token = headers?.['authorization']?.replace('Bearer ', '') ?? ''
    const end = this.#tokens.get(token) ?? 0
    return end > now ? end - tokenLifeMs : undefined
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

  /** Does to the spreadsheet what a person would do. Does nothing when that is not possible now. */
  act(act: PersonAct, dice: Dice): void {
    const titles = this.sheet.titles()
    const title = titles[dice.between(0, titles.length - 1)] ?? ''
    this.#changes += 1
    switch (act) {
      case 'rename tab':
        return this.sheet.renameTab(title, `${title} ${this.#changes}`)
      case 'delete tab':
        return titles.length > 1 ? this.sheet.deleteTab(title) : undefined
      case 'add tab': {
        const name = dice.pick(['News', 'events', 'Jobs'])
        const isThere = titles.some((other) => other.toLowerCase() === name.toLowerCase())
        if (!isThere) this.sheet.addTab(name, dice.chance(0.5) ? [['by hand']] : [])
        return
      }
      case 'protect tab':
        return this.sheet.protectTab(title)
      case 'free tab':
        return this.sheet.unprotectTab(title)
      case 'narrow tab': {
        // With fewer columns than our header, rows would go by the names that are left.
        const hasHeader = this.sheet.rows(title)[0]?.[0] === 'Email'
        return this.sheet.resizeTab(title, { columnCount: dice.between(hasHeader ? 7 : 3, 9) })
      }
      case 'unshare':
        return this.sheet.share(robot.email, dice.chance(0.5) ? 'none' : 'viewer')
      case 'share':
        return this.sheet.share(robot.email, 'editor')
    }
  }

  /** Shares the spreadsheet again and takes away every protection. */
  heal(): void {
    this.sheet.share(robot.email, 'editor')
    for (const title of this.sheet.titles()) this.sheet.unprotectTab(title)
  }

  /** Compares the rows of the tabs with those that were written. */
  check(): void {
    for (const { sheetId, title } of this.#state.sheets) {
      this.#truth.checkSheet(
        sheetId,
        this.sheet.rows(title).map(([first = '']) => first),
      )
    }
  }

  #issueToken(now: Millis): Answer {
    const token = `token-${this.#tokens.size + 1}-${now}`
    this.#tokens.set(token, now + tokenLifeMs)
    return jsonAnswer(200, { access_token: token, expires_in: 3599, token_type: 'Bearer' }, false)
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
    const result = answer(this.#model, { route, query, body: parsed, caller: robot })
    if (route.kind === 'batchUpdate') {
      for (const { tab, email, sheetId } of readBatch(parsed).rows) {
        this.#truth.applyRow(tab, email, sheetId)
      }
      this.#truth.countMarkers(this.#ourMarkers())
    }
    return jsonAnswer(200, result, false)
  }

  #ourMarkers(): number {
    let count = 0
    for (const { key } of this.#state.metadata.values()) if (key.startsWith('rollcall')) count += 1
    return count
  }
}

const passed: Answer = { status: 200, headers: {}, body: '' }
