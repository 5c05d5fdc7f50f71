import { createPublicKey, randomBytes, verify, type KeyObject } from 'node:crypto'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { ApiError } from './api-error.ts'
import type { Caller } from './state.ts'

interface Account extends Caller {
  readonly publicKey: KeyObject
}

interface IssuedToken {
  readonly caller: Caller
  readonly expiresMs: number
}

export interface TokenAnswer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

const grantType = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const googleAudience = 'https://oauth2.googleapis.com/token'
const lifetimeSeconds = 3599
const assertionSecondsMax = 3600
const onlyScope = 'https://www.googleapis.com/auth/spreadsheets'

/** OAuth for service accounts: trades signed assertions for bearer tokens, and checks those. */
export class TokenOffice {
  readonly #accounts = new Map<string, Account>()
  readonly #issued = new Map<string, IssuedToken>()

  /** Registers an account, or replaces its key. */
  register(caller: Caller, publicKeyPem: string): void {
    this.#accounts.set(caller.email, { ...caller, publicKey: createPublicKey(publicKeyPem) })
  }

  /** A new bearer token of a registered account. */
  issue(email: string, nowMs: number): string {
    const account = this.#accounts.get(email)
    if (!account) throw new Error(`There is no service account ${email} in this emulator.`)
    const token = `ya29.c.${randomBytes(48).toString('base64url')}`
    const caller = { email: account.email, project: account.project }
    this.#issued.set(token, { caller, expiresMs: nowMs + lifetimeSeconds * 1000 })
    return token
  }

  /** The token endpoint. The checks come in the order in which Google's were observed. */
  exchange(form: URLSearchParams, ownUrl: string, nowMs: number): TokenAnswer {
    if (form.get('grant_type') !== grantType) {
      const given = form.get('grant_type') ?? ''
      return refusal('unsupported_grant_type', `Invalid grant_type: ${given}`)
    }
    const assertion = decodeAssertion(form.get('assertion') ?? '')
    if (!assertion) return refusal('invalid_request', 'Bad Request')
    const { header, claims } = assertion
    if (header.alg !== 'RS256') return refusal('invalid_grant', 'Invalid JWT Signature.')
    const account = this.#accounts.get(String(claims['iss']))
    if (!account) return refusal('invalid_grant', 'Invalid grant: account not found')
    const { signed, signature } = assertion
    if (!verify('RSA-SHA256', Buffer.from(signed), account.publicKey, signature)) {
      return refusal('invalid_grant', 'Invalid JWT Signature.')
    }
    const problem = claimsProblem(claims, [googleAudience, ownUrl], nowMs)
    if (problem) return problem
    if (claims['scope'] !== onlyScope) {
      // Observed: for an unknown scope, the answer has an id_token and no access_token.
      return { status: 200, body: { id_token: randomBytes(60).toString('base64url') } }
    }
    const token = this.issue(account.email, nowMs)
    const body = { access_token: token, expires_in: lifetimeSeconds, token_type: 'Bearer' }
    return { status: 200, body }
  }

  /** The caller by the Authorization header. Throws the API's 401 or 403. */
  authenticate(authorization: string | undefined, nowMs: number): Caller {
    if (!authorization) {
      throw new ApiError(403, 'PERMISSION_DENIED', unregisteredMessage)
    }
    const issued = this.#issued.get(/^Bearer (\S+)$/i.exec(authorization)?.[1] ?? '')
    if (!issued || issued.expiresMs <= nowMs) throw unauthenticated()
    return issued.caller
  }
}

const unregisteredMessage =
  "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API."

export function unauthenticated(): ApiError {
  return new ApiError(
    401,
    'UNAUTHENTICATED',
    'Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential. See https://developers.google.com/identity/sign-in/web/devconsole-project.',
  )
}

export function insufficientScopes(): ApiError {
  const message = 'Request had insufficient authentication scopes.'
  return new ApiError(403, 'PERMISSION_DENIED', message, [
    {
      '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
      reason: 'ACCESS_TOKEN_SCOPE_INSUFFICIENT',
      domain: 'googleapis.com',
      metadata: { service: 'sheets.googleapis.com' },
    },
  ])
}

function refusal(error: string, description: string): TokenAnswer {
  return { status: 400, body: { error, error_description: description } }
}

type Claims = Readonly<Record<string, unknown>>

function claimsProblem(
  claims: Claims,
  audiences: readonly string[],
  nowMs: number,
): TokenAnswer | undefined {
  const invalid = (text: string) => refusal('invalid_grant', `Invalid JWT: ${text}`)
  const [issued, expires] = [seconds(claims['iat']), seconds(claims['exp'])]
  if (issued === undefined) return invalid('iat (issued at) is not set.')
  if (expires === undefined) return invalid('exp (expiration time) is not set.')
  const now = nowMs / 1000
  const tooLong = expires > now + assertionSecondsMax || expires - issued > assertionSecondsMax
  if (tooLong || expires <= now || issued > expires) {
    return invalid(
      'Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and exp values in the JWT claim.',
    )
  }
  if (typeof claims['scope'] !== 'string' || claims['scope'].trim() === '') {
    return refusal('invalid_scope', 'Invalid OAuth scope or ID token audience provided.')
  }
  if (!audiences.includes(String(claims['aud']))) return invalid('Failed audience check.')
  return undefined
}

function seconds(claim: unknown): number | undefined {
  return typeof claim === 'number' ? claim : undefined
}

/** The parts of an assertion; undefined when it is not a JWT. */
function decodeAssertion(assertion: string) {
  try {
    const claims: Claims = decodeJwt(assertion)
    const dot = assertion.lastIndexOf('.')
    return {
      header: decodeProtectedHeader(assertion),
      claims,
      signed: assertion.slice(0, dot),
      signature: Buffer.from(assertion.slice(dot + 1), 'base64url'),
    }
  } catch {
    return undefined
  }
}
