/** An answer that arrived whole. */
export interface HttpAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

export interface HttpRequest {
  readonly method: 'GET' | 'POST'
  readonly url: string
  readonly headers?: Record<string, string>
  readonly body?: string
  /** For everything, from connecting to the last byte of the answer. */
  readonly timeoutMs: number
  readonly answerBytesMax: number
  readonly signal: AbortSignal
}

/**
 * Sends one request and reads the whole answer; never follows a redirect, never retries.
 *
 * @throws HttpFailure when no whole answer came. What became of the request is unknown then.
 */
export type HttpClient = (request: HttpRequest) => Promise<HttpAnswer>

export class HttpFailure extends Error {
  override readonly name = 'HttpFailure'
}

export const httpClient: HttpClient = async (request) => {
  const { origin } = new URL(request.url)
  const timeout = AbortSignal.timeout(request.timeoutMs)
  try {
    const answer = await fetch(request.url, {
      method: request.method,
      redirect: 'manual',
      signal: AbortSignal.any([request.signal, timeout]),
      ...(request.headers && { headers: request.headers }),
      ...(request.body !== undefined && { body: request.body }),
    })
    const text = await readText(answer, request.answerBytesMax)
    return { status: answer.status, headers: answer.headers, text }
  } catch (error) {
    const reason = timeout.aborted ? `no answer within ${request.timeoutMs} ms` : reasonOf(error)
    throw new HttpFailure(`${request.method} ${origin}: ${reason}`, { cause: error })
  }
}

async function readText(answer: Response, bytesMax: number): Promise<string> {
  if (!answer.body) return ''
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for await (const chunk of answer.body) {
    bytes += chunk.byteLength
    if (bytes > bytesMax) throw new Error(`the answer is larger than ${bytesMax} bytes`)
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

/** fetch says "fetch failed" and keeps the reason in its cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.cause instanceof Error) return error.cause.message || reasonOf(error.cause)
  return error.message
}
