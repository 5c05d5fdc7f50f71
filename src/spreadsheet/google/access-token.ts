import type { JWTPayload } from 'jose'
import { type Clock, minute } from '../../platform/clock.ts'
import { type HttpClient, HttpFailure } from '../../platform/http-client.ts'
import type { Refused, Retryable } from '../spreadsheet.ts'
import { parseObject } from '../../signup/json.ts'
import { invalidCredentials } from './failure.ts'

/** The scope that reads and writes spreadsheets, developer metadata included. */
const scope = 'https://www.googleapis.com/auth/spreadsheets'
/** Google requires this audience, whatever address the assertion is sent to. */
const audience = 'https://oauth2.googleapis.com/token'
/** Matches a token that fits into a header. */
const visible = /^[\x21-\x7e]+$/

/**
 * Makes a signed JWT from the claims by which a service account gets an access token (RFC 7523). It is
 * passed in, so that a simulation need not sign.
 */
export type SignAssertion = (claims: JWTPayload) => Promise<string>

/** @param privateKey RSA, PKCS#8 PEM. */
export function signWith(privateKey: string): SignAssertion {
  return async (claims) => {
    // Loaded when it is needed, as it takes 4 MB.
    const { importPKCS8, SignJWT } = await import('jose')
    return new SignJWT(claims)
      .setProtectedHeader({ alg: 'RS256', typ: 'JWT' })
      .sign(await importPKCS8(privateKey, 'RS256'))
  }
}

export interface AccessTokenOptions {
  readonly email: string
  readonly sign: SignAssertion
  readonly tokenUrl: string
  readonly http: HttpClient
  readonly clock: Clock
}

export type TokenResult = { readonly kind: 'token'; readonly token: string } | Refused | Retryable

/**
 * Gets access tokens for a service account with a signed assertion (RFC 7523). A token is used until
 * five minutes before it expires, as in Google's own library.
 */
export class AccessTokens {
  readonly #options: AccessTokenOptions
  #token: { readonly text: string; readonly until: number } | undefined

  constructor(options: AccessTokenOptions) {
    this.#options = options
  }

  async get(signal: AbortSignal): Promise<TokenResult> {
    const { clock } = this.#options
    if (this.#token && clock.elapsed() < this.#token.until) {
      return { kind: 'token', token: this.#token.text }
    }
    return this.#request(signal)
  }

  /** Call when Google did not accept the token. The next `get` asks for a new one. */
  drop(): void {
    this.#token = undefined
  }

  async #request(signal: AbortSignal): Promise<TokenResult> {
    const { http, tokenUrl, clock } = this.#options
    const askedAt = clock.elapsed()
    try {
      const answer = await http({
        method: 'POST',
        url: tokenUrl,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({
          grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
          assertion: await this.#assertion(),
        }).toString(),
        timeoutMs: 30_000,
        answerBytesMax: 1024 * 1024,
        signal,
      })
      const body = parseObject(answer.text)
      const token = body?.['access_token']
      if (answer.status === 200 && typeof token === 'string' && visible.test(token)) {
        const lifetime = Number(body?.['expires_in'] ?? 3600) * 1000
        this.#token = { text: token, until: askedAt + lifetime - 5 * minute }
        return { kind: 'token', token }
      }
      return tokenFailure(answer.status, body)
    } catch (error) {
      if (!(error instanceof HttpFailure)) throw error
      return { kind: 'retryable', message: error.message, cause: error }
    }
  }

  #assertion(): Promise<string> {
    const { email, sign, clock } = this.#options
    const now = Math.floor(clock.now() / 1000)
    // Begins half a minute ago and lasts 55 minutes, to allow for a clock that is a little off.
    return sign({ iss: email, aud: audience, scope, iat: now - 30, exp: now + 55 * 60 })
  }
}

/**
 * The meaning of a failed token request. The endpoint answers 400 or 401 with an RFC 6749 error when a
 * person must act, and 200 without a token when the scope is unknown.
 */
function tokenFailure(
  status: number,
  body: Record<string, unknown> | undefined,
): Refused | Retryable {
  const isAnswer = status === 200 || status === 400 || status === 401 || status === 403
  if (!isAnswer || body === undefined) {
    return { kind: 'retryable', message: `The token endpoint answered HTTP ${status}` }
  }
  const words = [body['error_description'], body['error']].find((text) => typeof text === 'string')
  return invalidCredentials(
    `Google says: ${words?.replace(/\.$/, '') ?? 'nothing, and gives no access token'}`,
  )
}
