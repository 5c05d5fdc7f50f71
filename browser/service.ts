import type { ConfigAnswer, Problem } from '../src/signup/wire.ts'
import { Told } from './told.ts'

const timeoutMs = 15_000

/** Whether trying again may help: no answer, one that came too late, too many requests, or an outage. */
export function mayPass(status: number): boolean {
  return status === 0 || status === 408 || status === 429 || status >= 500
}

/** Sends `GET /api/…` for the site of the form. */
export function ask(
  endpoint: string,
  what: 'config' | 'stamp' | 'challenge',
  language = '',
): Promise<Response> {
  const site = new URL(endpoint).searchParams.get('site')
  const url = new URL(`${what}${site ? `?site=${site}` : ''}`, endpoint)
  const headers = { 'accept-language': language }
  return fetch(url, { headers, signal: AbortSignal.timeout(timeoutMs) })
}

/**
 * Reads `GET /api/config`.
 *
 * @throws Told when nobody can sign up just now, or the service refuses to tell, so that this form cannot work on
 *   this page; another error when trying again may help
 */
export async function readConfig(endpoint: string, language: string): Promise<ConfigAnswer> {
  const answer = await ask(endpoint, 'config', language)
  if (answer.ok) {
    const config = (await answer.json()) as ConfigAnswer
    const { open, notice, challengeEnabled, challengeSiteKey } = config
    // During an upgrade the answer may come from an instance that does not know of closing.
    if (notice && !open) throw new Told('closed', 0, undefined, notice)
    if (challengeEnabled && !challengeSiteKey) throw new Told('unavailable')
    return config
  }
  if (mayPass(answer.status)) throw new Error()
  const problem = (await answer.json().catch(() => undefined)) as Problem | undefined
  throw new Told('forbidden', answer.status, problem)
}

export function post(
  endpoint: string,
  key: string,
  language: string,
  body: URLSearchParams,
): Promise<Response> {
  return fetch(endpoint, {
    method: 'POST',
    // A mail that follows is in the language of the form.
    headers: {
      accept: 'application/json',
      'accept-language': language,
      'idempotency-key': key,
    },
    body,
    signal: AbortSignal.timeout(timeoutMs),
  })
}
