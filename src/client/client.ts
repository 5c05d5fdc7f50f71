import type {
  BulkAccepted,
  DeliveryBlocked,
  Problem,
  ProblemField,
  SignupAccepted,
  SignupRequest,
  SignupStatusAnswer,
  WebhookMessage as Message,
} from '../signup/wire.ts'

/** A typed client of the service for every runtime with `fetch`: Node, browsers, edge runtimes. */

export interface ClientOptions {
  /** The service's URL, such as `https://signup.example.com`; may end with a proxy's path. */
  readonly baseUrl: string
  /**
   * One of the service's `API_KEYS`. A service that has keys requires one for `bulk`, and signups with
   * a key are not rate-limited. For servers only: a page would show the key to everybody.
   */
  readonly apiKey?: string
  /** The site of all signups; needed when the service has several. */
  readonly site?: string
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>
  /** The time limit of one try, added to the time that `wait` asks for. Default 15,000. */
  readonly timeoutMs?: number
  /** How many times a request is repeated when another try may help. Default 4. */
  readonly retries?: number
}

export interface SubmitOptions {
  /** The same for all tries of a call. Default: a new key for each call. */
  readonly idempotencyKey?: string
  /** Seconds to wait for the row in the spreadsheet, 1 to 30. Default: wait only until it is on disk. */
  readonly wait?: number
  /** Aborts the call, which rejects with the signal's reason. The signup may still have been stored. */
  readonly signal?: AbortSignal
}

/** The body of a message that a webhook gets: docs/webhooks.md. */
export type WebhookMessage = Message

export type JsonValue =
  string | number | boolean | null | readonly JsonValue[] | { readonly [key: string]: JsonValue }

export interface BulkItem extends Omit<SignupRequest, 'challengeToken' | 'metadata' | 'confirmed'> {
  readonly metadata?: Readonly<Record<string, JsonValue>>
}

export interface SignupFields extends BulkItem {
  readonly challengeToken?: string
  /** With an API key: the person has confirmed elsewhere, so no mail asks for it. */
  readonly confirmed?: boolean
}

export type SignupResult = Omit<SignupAccepted, 'status' | 'delivery'> & { isReplay: boolean } & (
    | { readonly status: 'accepted'; readonly delivery?: DeliveryBlocked }
    | { readonly status: 'written' }
    | { readonly status: 'pending' | 'expired' }
  )

export interface BulkResults extends BulkAccepted {
  /** Whether an earlier request had the same key. Then this is its answer, with the current state. */
  readonly isReplay: boolean
}

export type StatusResult = Omit<SignupStatusAnswer, 'status' | 'writtenAt'> &
  (
    | { readonly status: 'pending' | 'accepted' | 'expired' }
    | { readonly status: 'written'; readonly writtenAt: string }
  )

/**
 * All methods reject with `RollcallError`, or with the signal's reason when it aborts the call. `Fields`
 * are the declared fields of the site.
 */
export interface Client<Fields = unknown> {
  signup(fields: SignupFields & Fields, options?: SubmitOptions): Promise<SignupResult>
  /** Resolves when at least one signup was accepted; `results` has each. Rejects when none was. */
  bulk(
    signups: readonly (BulkItem & Fields)[],
    options?: SubmitOptions & Pick<SignupFields, 'challengeToken' | 'confirmed'>,
  ): Promise<BulkResults>
  status(id: string, options?: Pick<SubmitOptions, 'signal'>): Promise<StatusResult>
}

/** The service refused, or there was no answer after all tries. */
export class RollcallError extends Error {
  override readonly name = 'RollcallError'
  /** Undefined when no answer came. */
  readonly status: number | undefined
  /** What is wrong and what to do. */
  readonly detail: string
  /** Every wrong field; empty when the error is not about fields. */
  readonly errors: readonly ProblemField[]
  /** Whether the site takes no more signups. */
  readonly isClosed: boolean
  /** Identifies the request in the service's log. */
  readonly requestId: string | undefined
  /**
   * Whether the signup may have been stored all the same: an answer was lost, or the service did not know.
   * Sending it again with `idempotencyKey` stores it once.
   */
  readonly mayBeStored: boolean
  /** Pass it to a later call to send the same signup again without a second row. */
  readonly idempotencyKey: string | undefined

  constructor(request: Sent, status: number | undefined, detail: string, more: ErrorMore) {
    super(`${request.method} ${request.url}: ${status ?? 'no answer'}: ${detail}`, more)
    this.status = status
    this.detail = detail
    this.isClosed = status === 410
    this.errors = more.errors ?? []
    this.requestId = more.requestId
    this.mayBeStored = more.mayBeStored
    this.idempotencyKey = request.headers['idempotency-key']
  }
}

type ErrorMore = Pick<Partial<Problem>, 'errors' | 'requestId'> & {
  readonly mayBeStored: boolean
  readonly cause?: unknown
}

interface Sent {
  readonly method: 'GET' | 'POST'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly timeoutMs: number
  readonly signal: AbortSignal | undefined
}

type Tried =
  | { readonly answer: object; readonly isReplay: boolean }
  | {
      readonly error: RollcallError
      readonly mayRetry: boolean
      readonly retryAfterMs?: number | undefined
    }

const retried = [429, 502, 503, 504]
const backoffMsMin = 250
const backoffMsMax = 10_000
/** The longest pause that `Retry-After` can ask for. The rate limit of a minute is over by then. */
const retryAfterMsMax = 65_000

export function createClient<Fields = unknown>(options: ClientOptions): Client<Fields> {
  const { apiKey, site, timeoutMs = 15_000, retries = 4 } = options
  const send = options.fetch ?? ((url, init) => globalThis.fetch(url, init))
  const api = `${new URL(options.baseUrl).href.replace(/\/+$/, '')}/api/signup`
  const query = site === undefined ? '' : `?site=${encodeURIComponent(site)}`

  const ask = async <T>(request: Sent): Promise<T & { isReplay: boolean }> => {
    let mayBeStored = false
    for (let tries = 0; ; tries++) {
      const tried = await tryOnce(request, send, mayBeStored)
      // The service's own types describe its answers.
      if ('answer' in tried) return { ...(tried.answer as T), isReplay: tried.isReplay }
      if (!tried.mayRetry || tries >= retries) throw tried.error
      mayBeStored = tried.error.mayBeStored
      await pause(tried.retryAfterMs ?? backoffMs(tries), request.signal)
    }
  }

  const post = (url: string, content: object, submit: SubmitOptions) => {
    const { idempotencyKey = newKey(), wait, signal } = submit
    const headers = {
      'content-type': 'application/json',
      'idempotency-key': idempotencyKey,
      ...(wait !== undefined && { prefer: `wait=${wait}` }),
      ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
    }
    const patienceMs = timeoutMs + (wait ?? 0) * 1000
    const body = JSON.stringify(content)
    return { method: 'POST', url, headers, body, timeoutMs: patienceMs, signal } as const
  }

  return {
    signup: (fields, submit = {}) => ask<SignupResult>(post(`${api}${query}`, fields, submit)),
    bulk: (signups, { challengeToken, confirmed, ...submit } = {}) =>
      ask<BulkAccepted>(
        post(`${api}/bulk${query}`, { signups, challengeToken, confirmed }, submit),
      ),
    status: async (id, { signal } = {}) => {
      const url = `${api}/${encodeURIComponent(id)}${query}`
      const request = { method: 'GET', url, headers: {}, timeoutMs, signal } as const
      const { isReplay: _, ...status } = await ask<StatusResult>(request)
      return status
    },
  }
}

/**
 * Sends the request once. Rejects only when the caller has aborted the call.
 *
 * @param mayBeStored whether an earlier try may have stored the signup
 */
async function tryOnce(
  request: Sent,
  send: NonNullable<ClientOptions['fetch']>,
  mayBeStored: boolean,
): Promise<Tried> {
  const { url, method, body, timeoutMs, signal } = request
  signal?.throwIfAborted()
  const timeout = AbortSignal.timeout(timeoutMs)
  const ends = signal ? AbortSignal.any([signal, timeout]) : timeout
  const headers = { accept: 'application/json', ...request.headers }
  try {
    const answer = await send(url, { method, headers, signal: ends, ...(body && { body }) })
    const content = await answer.text()
    if (!answer.ok) return refused(request, answer, content, mayBeStored)
    const isReplay = answer.headers.get('idempotency-replayed') === 'true'
    // Throws when the body is not a JSON object. That counts as no answer.
    return { answer: parseObject(content), isReplay }
  } catch (cause) {
    signal?.throwIfAborted()
    const reason = timeout.aborted ? `none within ${timeoutMs} ms` : String(cause)
    const detail = `${reason}. Check the address and the network, then send it again.`
    const more = { cause, mayBeStored: method === 'POST' }
    return { error: new RollcallError(request, undefined, detail, more), mayRetry: true }
  }
}

function refused(
  request: Sent,
  { status, headers }: Response,
  content: string,
  mayBeStored: boolean,
): Tried {
  const problem = parseProblem(content)
  // A proxy does not know what became of the request behind it.
  const isUnknown = problem.outcome === 'unknown' || (status >= 500 && !problem.requestId)
  const detail = problem.detail ?? 'The answer does not say why: it may come from a proxy.'
  const error = new RollcallError(request, status, detail, {
    ...problem,
    mayBeStored: mayBeStored || (isUnknown && request.method === 'POST'),
  })
  const seconds = Number(headers.get('retry-after') ?? Number.NaN)
  const retryAfterMs = seconds >= 0 ? Math.min(seconds * 1000, retryAfterMsMax) : undefined
  return { error, mayRetry: retried.includes(status), retryAfterMs }
}

function parseObject(text: string): object {
  const value: unknown = JSON.parse(text)
  if (typeof value === 'object' && value !== null) return value
  throw new TypeError('the answer is not a JSON object')
}

/** The members of a problem document; empty for another body, such as a proxy's error page. */
function parseProblem(text: string): Partial<Problem> {
  try {
    return parseObject(text)
  } catch {
    return {}
  }
}

/** The exponential pause before the next try, with full jitter. */
function backoffMs(tries: number): number {
  return Math.random() * Math.min(backoffMsMax, backoffMsMin * 2 ** tries)
}

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await new Promise<void>((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal?.addEventListener('abort', end)
    if (signal?.aborted) end()
  })
}

/** The time, so that the journal has keys in order, and 128 random bits. Without TLS there is no `randomUUID`. */
function newKey(): string {
  return [Date.now(), ...crypto.getRandomValues(new Uint32Array(4))].join('-')
}
