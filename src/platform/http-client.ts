/** Names in any case; what came several times is joined with commas. */
export interface AnswerHeaders {
  get(name: string): string | null
}

/** An answer that arrived whole. */
export interface HttpAnswer {
  readonly status: number
  readonly headers: AnswerHeaders
  readonly text: string
}

export interface OutgoingRequest {
  readonly method: 'GET' | 'POST'
  readonly url: string
  readonly headers?: Record<string, string>
  /** A large one comes in pieces: others get their turn while they are sent. */
  readonly body?: string | readonly string[]
  /** For everything, from connecting to the last byte of the answer. */
  readonly timeoutMs: number
  readonly answerBytesMax: number
  /** Gives the call up. */
  readonly signal?: AbortSignal
}

/**
 * Sends one request and reads the whole answer; never follows a redirect, never retries.
 *
 * @throws HttpFailure when no whole answer came. What became of the request is unknown then.
 */
export type HttpClient = (request: OutgoingRequest) => Promise<HttpAnswer>

export class HttpFailure extends Error {
  override readonly name = 'HttpFailure'
}
