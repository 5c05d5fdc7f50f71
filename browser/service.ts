import type { ConfigAnswer, Problem } from '../src/signup/wire.ts'
import { Told } from './told.ts'

const timeoutMs = 15_000
const answers = new Map<string, Promise<ConfigAnswer>>()

/**
 * Reads `GET /api/config` once. Reads it again after a failure, and while nobody can sign up. `endpoint`
 * is the address for signups, `…/api/signup`. Rejects with `Told` when the service refuses to tell them, so
 * that this form cannot work on this page, and with another error when trying again may help.
 */
export function readConfig(endpoint: string): Promise<ConfigAnswer> {
  const known = answers.get(endpoint)
  if (known) return known
  const asked = askConfig(endpoint)
  answers.set(endpoint, asked)
  const forget = () => forgetConfig(endpoint)
  asked.then((config) => closedBy(config) && forget(), forget)
  return asked
}

/** Makes the next `readConfig` ask the service again, because the settings may have changed. */
export function forgetConfig(endpoint: string): void {
  answers.delete(endpoint)
}

/** Why nobody can sign up by browser just now: signups are closed, or the challenge has no key. */
export function closedBy({ open, notice, challengeEnabled, challengeSiteKey }: ConfigAnswer) {
  // During an upgrade the answer may come from an instance that does not know of closing.
  if (notice && !open) return 'closed'
  return challengeEnabled && !challengeSiteKey && 'unavailable'
}

/** Whether trying again may help: no answer, one that came too late, too many requests, or an outage. */
export function mayPass(status: number): boolean {
  return status === 0 || status === 408 || status === 429 || status >= 500
}

/** Sends `GET /api/…` for the site of the form. */
export function ask(endpoint: string, what: 'config' | 'stamp' | 'challenge'): Promise<Response> {
  const site = new URL(endpoint).searchParams.get('site')
  const url = new URL(`${what}${site ? `?site=${site}` : ''}`, endpoint)
  return fetch(url, { signal: AbortSignal.timeout(timeoutMs) })
}

async function askConfig(endpoint: string): Promise<ConfigAnswer> {
  const answer = await ask(endpoint, 'config')
  if (answer.ok) return (await answer.json()) as ConfigAnswer
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
