import { createPublicKey, randomBytes, verify, type KeyObject } from 'node:crypto'
import { ApiError } from './api-error.ts'
import type { Route } from './route.ts'
import type { Caller } from './state.ts'

interface Account extends Caller {
  readonly publicKey: KeyObject
}

interface IssuedToken {
  readonly caller: Caller
  readonly scopes: readonly string[]
  readonly expiresMs: number
}

export interface TokenAnswer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

const grantType = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const googleAudiences = [
  'https://oauth2.googleapis.com/token',
  'https://www.googleapis.com/oauth2/v4/token',
]
const lifetimeSeconds = 3599
const assertionSecondsMax = 3600
const scopeBase = 'https://www.googleapis.com/auth/'
const knownScopes = new Set(
  [
    'spreadsheets',
    'spreadsheets.readonly',
    'drive',
    'drive.file',
    'drive.readonly',
    'cloud-platform',
  ]
    .map((name) => scopeBase + name)
    .concat('openid', 'email', 'profile'),
)
const writeScopes = ['spreadsheets', 'drive', 'drive.file']
const readScopes = [...writeScopes, 'spreadsheets.readonly', 'drive.readonly']

/** OAuth for service accounts: trades signed assertions for bearer tokens and checks those. */
export class TokenOffice {
  readonly #accounts = new Map<string, Account>()
  readonly #issued = new Map<string, IssuedToken>()
  /** Answers of the token endpoint with 200. */
  issuedCount = 0

  register(caller: Caller, publicKeyPem: string): void {
    this.#accounts.set(caller.email, { ...caller, publicKey: createPublicKey(publicKeyPem) })
  }

  /** The account is deleted; its tokens stop working too. */
  remove(email: string): void {
    this.#accounts.delete(email)
    for (const [token, { caller }] of this.#issued) {
      if (caller.email === email) this.#issued.delete(token)
    }
  }

  /** All tokens issued so far stop working, as when they run out. */
  expireAll(): void {
    this.#issued.clear()
  }

  issue(email: string, scopes: readonly string[], nowMs: number): string {
    const account = this.#accounts.get(email)
    if (!account) throw new Error(`There is no service account ${email} in this emulator.`)
    const token = `ya29.c.${randomBytes(48).toString('base64url')}`
    const caller = { email: account.email, project: account.project }
    this.#issued.set(token, { caller, scopes, expiresMs: nowMs + lifetimeSeconds * 1000 })
    this.issuedCount += 1
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
    if (header['alg'] !== 'RS256') return refusal('invalid_grant', 'Invalid JWT Signature.')
    const account = this.#accounts.get(String(claims['iss']))
    if (!account) return refusal('invalid_grant', 'Invalid grant: account not found')
    const { signed, signature } = assertion
    if (!verify('RSA-SHA256', Buffer.from(signed), account.publicKey, signature)) {
      return refusal('invalid_grant', 'Invalid JWT Signature.')
    }
    const problem = claimsProblem(claims, [...googleAudiences, ownUrl], nowMs)
    if (problem) return problem
    const scopes = String(claims['scope']).split(' ').filter(Boolean)
    if (!scopes.every((scope) => knownScopes.has(scope))) {
      // Observed: with a scope that is none, the answer is an id_token and no access_token.
      return { status: 200, body: { id_token: randomBytes(60).toString('base64url') } }
    }
    const token = this.issue(account.email, scopes, nowMs)
    const body = { access_token: token, expires_in: lifetimeSeconds, token_type: 'Bearer' }
    return { status: 200, body }
  }

  /** Who calls, from the Authorization header; throws the 401 or 403 of the API. */
  authenticate(authorization: string | undefined, route: Route, nowMs: number): Caller {
    if (!authorization) {
      throw new ApiError(403, 'PERMISSION_DENIED', unregisteredMessage)
    }
    const issued = this.#issued.get(/^Bearer (\S+)$/i.exec(authorization)?.[1] ?? '')
    if (!issued || issued.expiresMs <= nowMs) throw unauthenticated()
    const enough = route.readonlyScope ? readScopes : writeScopes
    if (!enough.some((name) => issued.scopes.includes(scopeBase + name))) {
      throw insufficientScopes()
    }
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

function refusal(error: string, description: string, status = 400): TokenAnswer {
  return { status, body: { error, error_description: description } }
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
  if (claims['sub'] !== undefined && claims['sub'] !== claims['iss']) {
    return refusal('unauthorized_client', noDelegation, 401)
  }
  return undefined
}

const noDelegation =
  'Client is unauthorized to retrieve access tokens using this method, or client not authorized for any of the scopes requested.'

/** Digit strings are taken as well. */
function seconds(claim: unknown): number | undefined {
  if (typeof claim === 'number') return claim
  return typeof claim === 'string' && /^\d+$/.test(claim) ? Number(claim) : undefined
}

function decodeAssertion(assertion: string) {
  const parts = assertion.split('.')
  const [header = '', payload = '', signature = ''] = parts
  if (parts.length !== 3 || !parts.every((part) => /^[\w-]+$/.test(part))) return undefined
  const decoded = [decodePart(header), decodePart(payload)]
  const [headerFields, claims] = decoded
  if (!headerFields || !claims) return undefined
  return {
    header: headerFields,
    claims,
    signed: `${header}.${payload}`,
    signature: Buffer.from(signature, 'base64url'),
  }
}

function decodePart(part: string): Claims | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString())
    return isClaims(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isClaims(value: unknown): value is Claims {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
