import { parse, v5 as uuidv5 } from 'uuid'

import type { Clock } from '../platform/clock.ts'
import { type HttpClient, HttpFailure } from '../platform/http-client.ts'
import { limits } from '../signup/limits.ts'
import type { Attempt, Challenge, Verdict } from './challenge.ts'
import { judge, type JudgeOptions, noVerdict } from './judge.ts'
import { isTestSecret, providers } from './providers.ts'

export interface SiteverifyOptions extends JudgeOptions {
  readonly siteKey: string
  /** Replaces the provider's own address. */
  readonly verifyUrl?: string | undefined
  readonly http: HttpClient
  readonly clock: Clock
}

/** The time limit of one try. A verdict usually takes a tenth of a second, and a visitor is waiting. */
const tryTimeoutMs = 4_000
const pauseBeforeRetryMs = 250
const answerBytesMax = 64 * 1024
/** The most calls at a time. More would wait only when the provider hangs, and would pile up. */
const waitingMax = 1_000

/** The namespace of the idempotency keys. If it changes, tokens in use at that moment fail once. */
const keyNamespace = parse('f2b6f3a4-6c0b-4d0e-9a51-3f0f6c3c2a77')
const utf8 = new TextEncoder()

/** The challenge of Turnstile, hCaptcha or reCAPTCHA, by their common protocol siteverify. */
export function createSiteverify(options: SiteverifyOptions): Challenge {
  let waiting = 0
  return {
    isForTests: isTestSecret(options.provider, options.secret),

    async verify(attempt): Promise<Verdict> {
      const { token } = attempt
      if (token === undefined) return { kind: 'rejected', reason: 'there is no token' }
      if (token.length > limits.tokenCharactersMax) {
        return { kind: 'rejected', reason: 'the token is too long' }
      }
      if (waiting >= waitingMax) {
        return noVerdict(`${waitingMax} calls wait for an answer`, options)
      }
      waiting += 1
      const begun = options.clock.elapsed()
      try {
        const verdict = await verifyOnce(requestBody(token, attempt, options), options)
        return { ...verdict, askedMs: options.clock.elapsed() - begun }
      } finally {
        waiting -= 1
      }
    },
  }
}

/** The form-encoded body, because all three providers accept that format. */
function requestBody(token: string, attempt: Attempt, options: SiteverifyOptions): string {
  const { isRepeatable, takesSiteKey } = providers[options.provider]
  const { submissionId, remoteAddress } = attempt
  const fields = new URLSearchParams({ secret: options.secret, response: token })
  if (remoteAddress !== undefined) fields.set('remoteip', remoteAddress)
  if (takesSiteKey) fields.set('sitekey', options.siteKey)
  if (isRepeatable) {
    // Encode here, because the library's own encoding takes longer than the digest.
    const name = utf8.encode(JSON.stringify([submissionId, token]))
    fields.set('idempotency_key', uuidv5(name, keyNamespace))
  }
  return fields.toString()
}

/**
 * Asks a second time when there was no verdict. Turnstile's idempotency key makes that safe. The other
 * providers have none, and the first call may have spent the token. So if their second call refuses
 * the token, that is no verdict either, and the visitor is asked to try again.
 */
async function verifyOnce(body: string, options: SiteverifyOptions): Promise<Verdict> {
  const first = await call(body, options)
  if (first.kind !== 'unavailable' || !first.isPassing) return first
  await options.clock.sleep(pauseBeforeRetryMs)
  const second = await call(body, options)
  const { isRepeatable } = providers[options.provider]
  const maybeSpent = second.kind === 'rejected' && !isRepeatable && !second.isFinal
  return maybeSpent ? first : second
}

async function call(body: string, options: SiteverifyOptions): Promise<Verdict> {
  const { provider, verifyUrl = providers[provider].verifyUrl, http } = options
  try {
    const answer = await http({
      method: 'POST',
      url: verifyUrl,
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
      body,
      timeoutMs: tryTimeoutMs,
      answerBytesMax,
    })
    return judge(answer, options)
  } catch (error) {
    if (!(error instanceof HttpFailure)) throw error
    return noVerdict(error.message, options, error)
  }
}
