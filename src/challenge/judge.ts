import type { SiteverifyAnswer, NoVerdict } from './answer.ts'
import type { Misconfigured, Rejected, Unavailable, Verdict } from './challenge.ts'
import type { ChallengeNames } from '../signup/setting-names.ts'
import { isTestSecret, type ProviderName, providers } from './providers.ts'

export interface JudgeOptions {
  readonly provider: ProviderName
  readonly secret: string
  /** The host names, in lower case, that a token may come from; undefined allows any. */
  readonly hostnames?: readonly string[] | undefined
  readonly names: ChallengeNames
}

/** Turns an answer of siteverify into a verdict on the visitor, with hints for the operator. */
export function judge(answer: SiteverifyAnswer, options: JudgeOptions): Verdict {
  switch (answer.kind) {
    case 'success':
      return hostProblem(answer.hostname, options) ?? { kind: 'passed' }
    case 'refused':
      return { kind: 'rejected', reason: answer.code, ...hintOn(answer.code, options) }
    case 'setup':
      return ofTestSecret(answer.code, options) ?? setupProblem(answer.code, options)
    case 'none':
      return noVerdict(answer, options)
  }
}

/** Checks the host, which siteverify reports but does not check. With a test secret the host is made up. */
function hostProblem(
  hostname: string | undefined,
  { provider, secret, hostnames, names }: JudgeOptions,
): Rejected | undefined {
  if (hostnames === undefined || isTestSecret(provider, secret)) return undefined
  if (hostname !== undefined && hostnames.includes(hostname.toLowerCase())) return undefined
  const from = hostname !== undefined && /^[\w.:-]{1,253}$/.test(hostname) ? hostname : 'unknown'
  return {
    kind: 'rejected',
    reason: `the token is from the host ${from}`,
    hint: `If that is your host, add it to ${names.hostnames}.`,
  }
}

/** A hint on what the operator should check. None for expired and spent tokens, which are common. */
function hintOn(code: string, { names }: JudgeOptions): { hint?: string } {
  if (/expired|duplicate|already-seen/.test(code)) return {}
  return {
    hint:
      'A single such token comes from a bot or from an old page. If this happens to every visitor, ' +
      `${names.siteKey} and ${names.secretKey} belong to different sites.`,
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
    hint: `${names.secretKey} is a test key. It accepts only tokens of ${providers[provider].title}’s test site keys.`,
  }
}

function setupProblem(code: string, { provider, names }: JudgeOptions): Misconfigured {
  const { title } = providers[provider]
  const isMismatch = code === 'sitekey-secret-mismatch'
  return {
    kind: 'misconfigured',
    reason: isMismatch ? 'mismatch' : 'refused',
    message: isMismatch ? 'Invalid challenge token' : `${title} refuses our calls: ${code}`,
    hint: `${setupHint(code, title, names)} Until then signups are answered with 503.`,
    retryAfterSeconds: 30,
  }
}

function setupHint(code: string, title: string, names: ChallengeNames): string {
  if (code === 'sitekey-secret-mismatch') {
    return `${names.siteKey} and ${names.secretKey} belong to different sites (${code}). Copy both again from one site.`
  }
  if (code.endsWith('-input-secret')) {
    return (
      `Copy the secret key of the site again from ${title} into ${names.secretKey}, and check that ` +
      `${names.provider} names the provider of this key.`
    )
  }
  return `Check ${names.provider}, CHALLENGE_VERIFY_URL and both keys.`
}

function noVerdict(answer: NoVerdict, { provider }: JudgeOptions): Unavailable {
  const { message, retryAfterSeconds = 5, cause } = answer
  return {
    kind: 'unavailable',
    message: `${providers[provider].title} gave no verdict: ${message}`,
    retryAfterSeconds,
    ...(cause !== undefined && { cause }),
  }
}
