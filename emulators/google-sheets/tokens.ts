import { createPublicKey, randomBytes, verify, type KeyObject } from 'node:crypto'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { ApiError } from './api-error.ts'
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
  readonly headers?: Readonly<Record<string, string>>
  /** JSON, or a text. */
  readonly body: Readonly<Record<string, unknown>> | string
}

/** Whoever has a token and no key of a service account. */
interface Identity {
  readonly email: string
  /** A refresh token, or what a workload's proof has to be. */
  readonly secret: string
  /** The scopes that a person has given; none for a workload. */
  readonly scopes?: readonly string[]
}

const exchangeType = 'urn:ietf:params:oauth:grant-type:token-exchange'
const grantType = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const googleAudience = 'https://oauth2.googleapis.com/token'
const assertionSecondsMax = 3600
const onlyScope = 'https://www.googleapis.com/auth/spreadsheets'
const platformScope = 'https://www.googleapis.com/auth/cloud-platform'

/** OAuth for service accounts: trades signed assertions for bearer tokens, and checks those. */
export class TokenOffice {
  readonly #accounts = new Map<string, Account>()
  readonly #issued = new Map<string, IssuedToken>()
  readonly #identities: Identity[] = []
  /** Pairs of who may act as whom, by delegation or by impersonation. */
  readonly #actors = new Set<string>()
  /** The service account of the machine that the metadata server is on. */
  machine: string | undefined
  /** The life of tokens. An organization can allow more than an hour; undefined: the answer does not tell it. */
  lifetimeSeconds: number | undefined = 3599

  /** Registers an account, or replaces its key. */
  register(caller: Caller, publicKeyPem: string): void {
    this.#accounts.set(caller.email, { ...caller, publicKey: createPublicKey(publicKeyPem) })
  }

  /** Registers a person by a refresh token, or a workload by its proof. */
  registerIdentity(identity: Identity): void {
    this.#identities.push(identity)
  }

  /** Lets one act as another: a service account as a person, or an identity as a service account. */
  allow(actor: string, target: string): void {
    this.#actors.add(`${actor} ${target}`)
  }

  /** Every token that was issued. */
  get issued(): readonly string[] {
    return [...this.#issued.keys()]
  }

  /** A new bearer token of a registered account. */
  issue(email: string, nowMs: number, scopes: readonly string[] = [onlyScope]): string {
    const token = `ya29.c.${randomBytes(48).toString('base64url')}`
    const { project = 'emulated-project' } = this.#accounts.get(email) ?? {}
    const expiresMs = nowMs + (this.lifetimeSeconds ?? 3599) * 1000
    this.#issued.set(token, { caller: { email, project }, scopes, expiresMs })
    return token
  }

  /** An answer of OAuth with a new token. */
  grant(email: string, scope: string, nowMs: number): TokenAnswer {
    const token = this.issue(email, nowMs, scope.split(/[ ,]/))
    const life = this.lifetimeSeconds === undefined ? {} : { expires_in: this.lifetimeSeconds }
    return { status: 200, body: { access_token: token, ...life, token_type: 'Bearer' } }
  }

  /** STS: trades the proof of a workload. */
  trade(form: URLSearchParams, nowMs: number): TokenAnswer {
    const proof = form.get('subject_token') ?? ''
    const found = this.#identities.find(({ secret }) => proofOf(proof).includes(secret))
    if (form.get('grant_type') !== exchangeType || !form.get('audience')) {
      return refusal('invalid_request', 'Invalid grant_type or audience.')
    }
    if (!found)
      return refusal(
        'invalid_grant',
        'The given credential is rejected by the attribute condition.',
      )
    return this.grant(found.email, form.get('scope') ?? '', nowMs)
  }

  /** iamcredentials: a token of a service account for an identity that may act as it. */
  impersonate(
    email: string,
    authorization: string | undefined,
    { scope = [] }: { readonly scope?: readonly string[] },
    nowMs: number,
  ): TokenAnswer {
    const own = this.#issued.get(/^Bearer (\S+)$/.exec(authorization ?? '')?.[1] ?? '')
    const mayAct = own && this.#actors.has(`${own.caller.email} ${email}`)
    if (!mayAct || !own.scopes.includes(platformScope)) {
      const message =
        "Permission 'iam.serviceAccounts.getAccessToken' denied on resource (or it may not exist)."
      return { status: 403, body: { error: { code: 403, message, status: 'PERMISSION_DENIED' } } }
    }
    const accessToken = this.issue(email, nowMs, scope)
    const { lifetimeSeconds: life } = this
    const expireTime =
      life === undefined ? {} : { expireTime: new Date(nowMs + life * 1000).toISOString() }
    return { status: 200, body: { accessToken, ...expireTime } }
  }

  /** A person's refresh token for an access token. Its scopes are those that the person has given. */
  #refresh(form: URLSearchParams, nowMs: number): TokenAnswer {
    const found = this.#identities.find(({ secret }) => secret === form.get('refresh_token'))
    if (!found?.scopes) return refusal('invalid_grant', 'Token has been expired or revoked.')
    const scope = found.scopes.join(' ')
    const { status, body } = this.grant(found.email, scope, nowMs)
    return { status, body: { ...(body as object), scope } }
  }

  /** The token endpoint. The checks come in the order in which Google's were observed. */
  exchange(form: URLSearchParams, ownUrl: string, nowMs: number): TokenAnswer {
    if (form.get('grant_type') === 'refresh_token') return this.#refresh(form, nowMs)
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
    const { sub } = claims
    const scope = String(claims['scope'])
    if (typeof sub !== 'string') return this.grant(account.email, scope, nowMs)
    if (this.#actors.has(`${account.email} ${sub}`)) return this.grant(sub, scope, nowMs)
    const description =
      'Client is unauthorized to retrieve access tokens using this method, or client not authorized for any of the scopes requested.'
    return { ...refusal('unauthorized_client', description), status: 401 }
  }

  /** The caller by the Authorization header. Throws the API's 401 or 403. */
  authenticate(authorization: string | undefined, nowMs: number): Caller {
    if (!authorization) {
      throw new ApiError(403, 'PERMISSION_DENIED', unregisteredMessage)
    }
    const issued = this.#issued.get(/^Bearer (\S+)$/i.exec(authorization)?.[1] ?? '')
    if (!issued || issued.expiresMs <= nowMs) throw unauthenticated()
    if (!issued.scopes.includes(onlyScope)) throw insufficientScopes()
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

function insufficientScopes(): ApiError {
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

/** The proof as it was given, or the signed request of AWS in it. */
function proofOf(proof: string): string {
  return proof.startsWith('%7B') ? decodeURIComponent(proof) : proof
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
