import type { HttpAnswer } from '../platform/http-client.ts'
import { parseObject } from '../signup/json.ts'
import type { SettingNames } from '../platform/setting-names.ts'
import type { Misconfigured, Rejected, Unavailable, Verdict } from './challenge.ts'
import { isTestSecret, type ProviderName, providers } from './providers.ts'

export interface JudgeOptions {
  readonly provider: ProviderName
  readonly secret: string
  /** The host names, in lower case, that a token may come from; undefined allows any. */
  readonly hostnames?: readonly string[] | undefined
  readonly names: SettingNames
}

/** Error codes, of all three providers, that mean wrong settings and not a bad token. */
const setupCodes: ReadonlySet<string> = new Set([
  'missing-input-secret',
  'invalid-input-secret',
  'sitekey-secret-mismatch',
  'not-using-dummy-passcode',
  'bad-request',
  'missing-remoteip',
  'invalid-remoteip',
])

/**
 * Turns an answer of siteverify into a verdict on the visitor, with hints for the operator. Valid and
 * invalid tokens both get status 200, and only `success: true` means success. An answer in another form is
 * no verdict on the token.
 */
export function judge(
  { status, text }: Pick<HttpAnswer, 'status' | 'text'>,
  options: JudgeOptions,
): Verdict {
  const body = parseObject(text)
  const isSuccess = body?.['success']
  const codes = codesIn(body?.['error-codes'])
  const setup = codes.find((code) => setupCodes.has(code))
  if (isSuccess === false && setup !== undefined) {
    return ofTestSecret(setup, options) ?? setupProblem(setup, options)
  }
  if (status !== 200) {
    return { ...noVerdict(`it answered HTTP ${status}`, options), isPassing: status >= 500 }
  }
  if (isSuccess === true) return hostProblem(body['hostname'], options) ?? { kind: 'passed' }
  if (isSuccess !== false) return noVerdict('its answer is not a verdict', options)
  if (codes.includes('internal-error')) return noVerdict('it answered internal-error', options)
  const [reason = 'no error code'] = codes
  return { kind: 'rejected', reason, ...hintOn(reason, options) }
}

/** The outcome of a call that brought no verdict, which the same call may bring a moment later. */
export function noVerdict(
  why: string,
  { provider }: Pick<JudgeOptions, 'provider'>,
  cause?: unknown,
): Unavailable {
  const message = `${providers[provider].title} gave no verdict: ${why}`
  return { kind: 'unavailable', message, isPassing: true, retryAfterSeconds: 5, cause }
}

const looksLikeACode = /^[a-z][a-z-]{1,63}$/

/** Keeps only texts that look like error codes, because they are logged. */
function codesIn(given: unknown): readonly string[] {
  return [given]
    .flat()
    .filter((code) => typeof code === 'string')
    .filter((code) => looksLikeACode.test(code))
}

/** Checks the host, which siteverify reports but does not check. With a test secret the host is made up. */
function hostProblem(
  hostname: unknown,
  { provider, secret, hostnames, names }: JudgeOptions,
): Rejected | undefined {
  if (hostnames === undefined || isTestSecret(provider, secret)) return undefined
  const host = typeof hostname === 'string' ? hostname.toLowerCase() : ''
  if (hostnames.includes(host)) return undefined
  const from = /^[\w.:-]{1,253}$/.test(host) ? host : 'unknown'
  return {
    kind: 'rejected',
    reason: `the token is from the host ${from}`,
    hint: `If that is your host, add it to ${names.CHALLENGE_HOSTNAMES}.`,
    isFinal: true,
  }
}

/** A hint on what the operator should check. None for expired and spent tokens, which are common. */
function hintOn(code: string, { names }: JudgeOptions): { hint?: string } {
  if (/expired|duplicate|already-seen/.test(code)) return {}
  return {
    hint:
      'A single such token comes from a bot or from an old page. If this happens to every visitor, ' +
      `${names.CHALLENGE_SITE_KEY} and ${names.CHALLENGE_SECRET_KEY} belong to different sites.`,
  }
}

/** With a test secret, a code that blames the secret means that the token is not a test token. */
function ofTestSecret(
  code: string,
  { provider, secret, names }: JudgeOptions,
): Rejected | undefined {
  const isOnSecret = code === 'invalid-input-secret' || code === 'not-using-dummy-passcode'
  if (!isOnSecret || !isTestSecret(provider, secret)) return undefined
  return {
    kind: 'rejected',
    reason: code,
    hint: `${names.CHALLENGE_SECRET_KEY} is a test key. It accepts only tokens of ${providers[provider].title}’s test site keys.`,
    isFinal: true,
  }
}

function setupProblem(code: string, { provider, names }: JudgeOptions): Misconfigured {
  const { title } = providers[provider]
  const isMismatch = code === 'sitekey-secret-mismatch'
  const hint = isMismatch
    ? `${names.CHALLENGE_SITE_KEY} and ${names.CHALLENGE_SECRET_KEY} belong to different sites (${code}). Copy both again from one site.`
    : `Copy the secret key again from ${title} into ${names.CHALLENGE_SECRET_KEY}, and check ${names.CHALLENGE_PROVIDER} and CHALLENGE_VERIFY_URL.`
  return {
    kind: 'misconfigured',
    reason: isMismatch ? 'mismatch' : 'refused',
    message: isMismatch ? 'Invalid challenge token' : `${title} refuses our calls: ${code}`,
    hint: `${hint} Until then signups are answered with 503.`,
    retryAfterSeconds: 30,
  }
}
