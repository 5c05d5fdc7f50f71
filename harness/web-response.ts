import type { PlainAnswer } from '../src/platform/http-exchange.ts'

/** An answer as a web `Response`, whose headers a test can ask for by their names. */
export function webResponse({ status, headers: list, body }: PlainAnswer): Response {
  const headers = new Headers()
  for (let at = 0; at < list.length; at += 2) headers.append(list[at] ?? '', list[at + 1] ?? '')
  if (body instanceof Object && !(body instanceof Uint8Array))
    throw new Error('it comes bit by bit')
  return new Response(body, { status, headers })
}
