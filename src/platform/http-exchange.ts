/** The subset of `Request` that handlers use; a real `Request` satisfies it. */
export interface HttpRequest {
  readonly method: string
  /** Absolute, as a URL parser writes it. */
  readonly url: string
  /** Names in lower case; what came several times is joined with commas. */
  readonly headers: HttpHeaders
  /** Aborts when the sender has left before the answer. */
  readonly signal: AbortSignal
  /** Piece by piece, once. Throws when it ends too early. */
  readonly body: AsyncIterable<Uint8Array<ArrayBuffer>> | null
  /** All of it, once. Rejects when it ends too early. */
  bytes(): Promise<Uint8Array<ArrayBuffer>>
}

export interface HttpHeaders {
  /** @param name in lower case */
  get(name: string): string | null
}

/** An answer as plain data: a `Response` and its `Headers` cost more than storing a signup. */
export interface PlainAnswer {
  readonly status: number
  /** Names and values in turn, without `content-length`. */
  readonly headers: readonly string[]
  /** Empty has a length of 0; null has none, as the status allows no body. */
  readonly body: string | Uint8Array<ArrayBuffer> | null
}

/** The connection that a request came over. */
export interface Connection {
  /** Address of the other end: an IP address. */
  readonly remoteAddress: string | undefined
}

/** Why something is no request that could be handed on. */
export type ProtocolFailure = 'malformed' | 'tooSlow' | 'headersTooLarge' | 'expectation' | 'tunnel'
