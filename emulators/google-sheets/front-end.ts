import { answer } from './api.ts'
import { errorAnswer, htmlAnswer, jsonAnswer, type Answer } from './answer.ts'
import { ApiError, badRequest, invalidArgument } from './api-error.ts'
import { escapeHtml } from './html.ts'
import type { SheetsModel } from './model.ts'
import type { QuotaLedger } from './quota.ts'
import type { Route } from './route.ts'
import type { Caller } from './state.ts'
import type { TokenOffice } from './tokens.ts'

/** An HTTP request to the Sheets API with its body read. */
export interface SheetsRequest {
  readonly route: Route
  readonly query: URLSearchParams
  readonly authorization: string | undefined
  readonly body: string
}

/** Any other query parameter is refused. */
const knownParameters = new Set(['fields', 'alt', 'prettyPrint', 'ranges', 'includeGridData'])

/** Authenticates calls, counts them against the quota, and reads and writes their JSON. Synchronous. */
export class FrontEnd {
  readonly #model: SheetsModel
  readonly #tokens: TokenOffice
  readonly #quota: QuotaLedger

  constructor(model: SheetsModel, tokens: TokenOffice, quota: QuotaLedger) {
    this.#model = model
    this.#tokens = tokens
    this.#quota = quota
  }

  /** Authenticates and counts a call. Returns the caller, or the error to answer with. */
  admit({ route, query, authorization }: SheetsRequest, nowMs: number): Caller | Answer {
    try {
      const caller = this.#tokens.authenticate(authorization, nowMs)
      this.#quota.take(caller, route.access, nowMs)
      return caller
    } catch (error) {
      return this.#errorAnswer(error, query)
    }
  }

  /** Applies a call that was admitted, and returns the true answer. */
  apply(request: SheetsRequest, caller: Caller): Answer {
    const { route, query } = request
    try {
      const { body } = request
      if (Buffer.byteLength(body) > payloadBytesMax) {
        const limit = `Request payload size exceeds the limit: ${payloadBytesMax} bytes.`
        throw invalidArgument(limit)
      }
      assertKnownParameters(query)
      const parsed = parseJson(body)
      const result = answer(this.#model, { route, query, body: parsed, caller })
      return jsonAnswer(200, result, isPretty(query))
    } catch (error) {
      return this.#errorAnswer(error, query)
    }
  }

  #errorAnswer(error: unknown, query: URLSearchParams): Answer {
    if (error instanceof ApiError) return errorAnswer(error, isPretty(query))
    throw error
  }
}

const payloadBytesMax = 10_485_760

export function noSuchPath(path: string): Answer {
  const text = `The requested URL <code>${escapeHtml(path)}</code> was not found on this server.`
  return htmlAnswer(404, 'Not Found', text)
}

function isPretty(query: URLSearchParams): boolean {
  return query.get('prettyPrint')?.toLowerCase() !== 'false'
}

function parseJson(body: string): unknown {
  if (body.trim() === '') return undefined
  try {
    const parsed: unknown = JSON.parse(body)
    return parsed
  } catch {
    throw invalidArgument('Invalid JSON payload received. Unexpected token.')
  }
}

function assertKnownParameters(query: URLSearchParams): void {
  const violations = [...new Set(query.keys())]
    .filter((name) => !knownParameters.has(name))
    .map((name) => ({
      description: `Invalid JSON payload received. Unknown name "${name}": Cannot bind query parameter. Field '${name}' could not be found in request message.`,
    }))
  if (violations.length > 0) throw badRequest(violations)
}
