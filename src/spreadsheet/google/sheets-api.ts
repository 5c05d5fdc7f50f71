import { type HttpClient, HttpFailure } from '../../platform/http-client.ts'
import type { CallGate, MaySend, Refused, Retryable, Unknown } from '../spreadsheet.ts'
import type { AccessTokens } from './access-token.ts'
import { type Access, classify, type GoogleError, parseObject, readError } from './failure.ts'

export interface SheetsApiOptions {
  /** `https://sheets.googleapis.com`, or where an emulator listens. */
  readonly apiUrl: string
  readonly access: Access
  readonly http: HttpClient
  readonly tokens: AccessTokens
  readonly gate: CallGate
}

export interface ApiRequest {
  readonly method: 'GET' | 'POST'
  /** What follows `/v4/spreadsheets/{id}`, query included. */
  readonly path: string
  /** JSON, in pieces where it is large. */
  readonly body?: string | readonly string[]
  /** Asked before each time it is sent. */
  readonly maySend?: MaySend | undefined
}

export type ApiResult = { readonly kind: 'ok'; readonly body: Record<string, unknown> } | ApiFailure

/** A failure with what Google said, for those who know more about their request. */
export type ApiFailure = (Refused | Retryable | Unknown) & { readonly error?: GoogleError }

const withdrawn = {
  kind: 'retryable',
  message: 'The call was not made: its batch has ended meanwhile',
  afterMs: 0,
} as const

/** Google works on one call for at most 180 s; most take under one. */
const timeoutMs = 60_000
const answerBytesMax = 16 * 1024 * 1024

/** One spreadsheet of the Sheets API v4: paced, authenticated calls, every answer classified. */
export class SheetsApi {
  readonly #options: SheetsApiOptions

  constructor(options: SheetsApiOptions) {
    this.#options = options
  }

  get spreadsheetId(): string {
    return this.#options.access.spreadsheetId
  }

  /** Makes one call, or two when Google refused the token and a new one may do (401). */
  async call(request: ApiRequest, signal: AbortSignal): Promise<ApiResult> {
    const first = await this.#callOnce(request, signal)
    if (first.kind !== 'refused' || first.error?.status !== 401) return first
    this.#options.tokens.drop()
    return this.#callOnce(request, signal)
  }

  async #callOnce(request: ApiRequest, signal: AbortSignal): Promise<ApiResult> {
    const { tokens, gate, access } = this.#options
    const token = await tokens.get(signal)
    if (token.kind !== 'token') return token
    try {
      await gate(signal)
      if (request.maySend && !(await request.maySend())) return withdrawn
    } catch (cause) {
      return { kind: 'retryable', message: 'The call was not made', cause }
    }
    try {
      const answer = await this.#send(request, token.token, signal)
      const body = parseObject(answer.text)
      if (answer.status === 200 && body) return { kind: 'ok', body }
      if (answer.status === 200) {
        return { kind: 'unknown', message: 'The answer of the Sheets API is not JSON' }
      }
      const error = readError(answer)
      return { ...classify(error, access), error }
    } catch (error) {
      if (!(error instanceof HttpFailure)) throw error
      return { kind: 'unknown', message: error.message, cause: error }
    }
  }

  #send(request: ApiRequest, token: string, signal: AbortSignal) {
    const { apiUrl, access, http } = this.#options
    const id = encodeURIComponent(access.spreadsheetId)
    return http({
      method: request.method,
      url: `${apiUrl}/v4/spreadsheets/${id}${request.path}`,
      headers: {
        authorization: `Bearer ${token}`,
        ...(request.body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(request.body !== undefined && { body: request.body }),
      timeoutMs,
      answerBytesMax,
      signal,
    })
  }
}
