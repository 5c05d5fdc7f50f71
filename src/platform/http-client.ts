export interface HttpAnswer {
  readonly status: number
  /** By name, in any case. The values of a repeated header are joined with commas. */
  readonly headers: Pick<Headers, 'get'>
  readonly text: string
}

export interface OutgoingRequest {
  readonly method: 'GET' | 'POST' | 'PUT'
  readonly url: string
  readonly headers?: Record<string, string>
  /** Give a large body in pieces, so that other work runs between them. */
  readonly body?: string | readonly string[]
  /** The time limit for the whole call, from connecting to the last byte of the answer. */
  readonly timeoutMs: number
  readonly answerBytesMax: number
  readonly signal?: AbortSignal
}

/**
 * Sends one request and reads the whole answer. Never follows a redirect, never retries.
 *
 * @throws HttpFailure when no complete answer came. The server may or may not have handled the request.
 */
export type HttpClient = (request: OutgoingRequest) => Promise<HttpAnswer>

interface FailureOptions extends ErrorOptions {
  readonly isTooLarge?: boolean
  readonly status?: number | undefined
}

export class HttpFailure extends Error {
  override readonly name = 'HttpFailure'
  /** Whether the answer was larger than `answerBytesMax`. */
  readonly isTooLarge: boolean
  /** The status, when at least the head of the answer came. */
  readonly status: number | undefined

  constructor(message: string, options: FailureOptions = {}) {
    super(message, options)
    this.isTooLarge = options.isTooLarge ?? false
    this.status = options.status
  }
}
