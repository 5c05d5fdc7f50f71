import { type HttpClient, HttpFailure } from '../../platform/http-client.ts'
import type { CallGate, Failed, MaySend, Refused, Retryable } from '../spreadsheet.ts'
import type { AccessToken, AccessTokens } from './access-token.ts'
import { parameters } from './ranges.ts'
import { parseObject } from '../../signup/json.ts'
import { type Access, classify, type GoogleError, readError } from './failure.ts'

export interface SheetsApiOptions {
  /** `https://sheets.googleapis.com`, or where an emulator listens. */
  readonly apiUrl: string
  readonly access: Access
  readonly http: HttpClient
  readonly tokens: AccessTokens
  /** Awaited before every call to the Sheets API (token requests do not count). */
  readonly gate: CallGate
  readonly called?: ((outcome: ApiResult['kind']) => void) | undefined
}

export interface ApiRequest {
  readonly method: 'GET' | 'POST'
  /** What follows `/v4/spreadsheets/{id}`, query included. */
  readonly path: string
  /** JSON. A large body comes in pieces. */
  readonly body?: string | readonly string[]
  /** Asked each time before the request is sent. */
  readonly maySend?: MaySend | undefined
}

export type ApiResult = { readonly kind: 'ok'; readonly body: Record<string, unknown> } | ApiFailure

/** A failure with Google's error, for callers that need its details. */
export type ApiFailure = Failed & {
  readonly error?: GoogleError
  readonly isTooLarge?: boolean
}

const withdrawn = {
  kind: 'retryable',
  message: 'The call was not made: its batch has ended meanwhile',
  afterMs: 0,
} as const

/** Google works on a call for at most 180 s. Most calls take under a second. */
const timeoutMs = 60_000
const answerBytesMax = 16 * 1024 * 1024

/** A call that only reads has failed. */
export class ReadFailed extends Error {
  override readonly name = 'ReadFailed'
  readonly failure: ApiFailure

  constructor(failure: ApiFailure) {
    super(failure.message, { cause: failure.cause })
    this.failure = failure
  }
}

/** Makes calls for one spreadsheet to the Sheets API v4: paces, authenticates and classifies them. */
export class SheetsApi {
  readonly #options: SheetsApiOptions

  constructor(options: SheetsApiOptions) {
    this.#options = options
  }

  /** Makes one call. After a 401 it makes a second one with a new token. */
  async call(request: ApiRequest, signal: AbortSignal): Promise<ApiResult> {
    const first = await this.#callOnce(request, signal)
    if (first.kind !== 'refused' || first.error?.status !== 401) return first
    this.#options.tokens.drop()
    return this.#callOnce(request, signal)
  }

  /**
   * Reads what a field mask names of the spreadsheet; of its cells, those in the ranges.
   *
   * @throws ReadFailed
   */
  read(
    fields: string,
    signal: AbortSignal,
    ranges: readonly string[] = [],
  ): Promise<Record<string, unknown>> {
    const query = `?prettyPrint=false&fields=${encodeURIComponent(fields)}${parameters(ranges)}`
    return this.ask({ method: 'GET', path: query }, signal)
  }

  /** Makes a call that changes nothing. @throws ReadFailed */
  async ask(request: ApiRequest, signal: AbortSignal): Promise<Record<string, unknown>> {
    const result = await this.call(request, signal)
    if (result.kind !== 'ok') throw new ReadFailed(result)
    return result.body
  }

  async #callOnce(request: ApiRequest, signal: AbortSignal): Promise<ApiResult> {
    const { tokens, gate } = this.#options
    const token = await tokens.get(signal)
    if (token.kind !== 'token') return token
    try {
      if (!(await gate(signal, request.maySend))) return withdrawn
    } catch (cause) {
      return { kind: 'retryable', message: 'The call was not made', cause }
    }
    const result = await this.#send(request, token, signal)
    this.#options.called?.(result.kind)
    return result
  }

  async #send(
    { method, path, body: sent }: ApiRequest,
    { token, email }: AccessToken,
    signal: AbortSignal,
  ): Promise<ApiResult> {
    const { apiUrl, access, http } = this.#options
    const authorization = `Bearer ${token}`
    try {
      const answer = await http({
        method,
        url: `${apiUrl}/v4/spreadsheets/${encodeURIComponent(access.spreadsheetId)}${path}`,
        ...(sent === undefined
          ? { headers: { authorization } }
          : { headers: { authorization, 'content-type': 'application/json' }, body: sent }),
        timeoutMs,
        answerBytesMax,
        signal,
      })
      const body = parseObject(answer.text)
      if (answer.status === 200 && body) return { kind: 'ok', body }
      if (answer.status === 200) {
        return { kind: 'unknown', message: 'The answer of the Sheets API is not JSON' }
      }
      const error = readError(answer)
      return { ...classify(error, { ...access, email: email ?? access.email }), error }
    } catch (error) {
      if (!(error instanceof HttpFailure)) throw error
      const { message, isTooLarge } = error
      return { kind: 'unknown', message, cause: error, ...(isTooLarge && { isTooLarge }) }
    }
  }
}

/** The result of an action that reads, or why it failed. A read can be tried again whatever its outcome. */
export async function reading<T>(action: () => Promise<T>): Promise<T | Refused | Retryable> {
  try {
    return await action()
  } catch (error) {
    if (!(error instanceof ReadFailed)) throw error
    const { failure } = error
    return failure.kind === 'unknown' ? { ...failure, kind: 'retryable' } : failure
  }
}

/** Whether Google refused the ranges of a read: a title has changed, or Google cannot read it. */
export function isRangeRefused(error: unknown): error is ReadFailed {
  return error instanceof ReadFailed && error.failure.error?.status === 400
}

/** Whether an answer was larger than a call may bring. Ask for less then. */
export function isTooLarge(error: unknown): boolean {
  return error instanceof ReadFailed && error.failure.isTooLarge === true
}
