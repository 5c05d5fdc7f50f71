/** The subset of `Request` that handlers use; a real `Request` satisfies it. */
export interface HttpRequest {
  readonly method: string
  /** The absolute URL, its path as it was sent. */
  readonly url: string
  /** Names are in lower case. The values of a repeated header are joined with commas. */
  readonly headers: HttpHeaders
  /** Aborts when the client disconnects before the answer. */
  readonly signal: AbortSignal
  /** The body in pieces; read it once. Throws when the body is incomplete. */
  readonly body: AsyncIterable<Uint8Array<ArrayBuffer>> | null
  /** The whole body; read it once. Rejects when the body is incomplete. */
  bytes(): Promise<Uint8Array<ArrayBuffer>>
}

export interface HttpHeaders {
  /** @param name in lower case */
  get(name: string): string | null
}

/** An answer as plain data, because a `Response` and its `Headers` cost more than storing a signup. */
export interface PlainAnswer {
  readonly status: number
  /** Names and values in turn, without `content-length`. */
  readonly headers: readonly string[]
  /**
   * An empty body has a `content-length` of 0; null has none, for statuses that allow no body. One that comes
   * bit by bit has none either: it is cut off when it throws, and `return` is called when the client leaves.
   */
  readonly body: string | Uint8Array<ArrayBuffer> | AsyncGenerator<string> | null
}

/** What may be told about any request: nothing that a visitor chose. */
export interface AnsweredRequest {
  /** The path as the router has it; undefined when there is no such path, or no valid request. */
  readonly route: string | undefined
  /** As it was sent; undefined when that is no valid request. */
  readonly method: string | undefined
  readonly status: number
  /** From the end of the request's headers until its answer was ready to be sent. */
  readonly ms: number
  readonly requestId: string
}

export interface Connection {
  /** The IP address of the other end. */
  readonly remoteAddress: string | undefined
}

/** Why the input of a connection is not a valid request. */
export type ProtocolFailure = 'malformed' | 'tooSlow' | 'headersTooLarge' | 'expectation' | 'tunnel'
