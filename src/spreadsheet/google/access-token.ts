import type { JWTPayload } from 'jose'
import { type Clock, minute } from '../../platform/clock.ts'
import { type HttpAnswer, type HttpClient, HttpFailure } from '../../platform/http-client.ts'
import type { Refused, Retryable } from '../spreadsheet.ts'
import { isRecord, parseObject } from '../../signup/json.ts'
import { invalidCredentials, refused } from './failure.ts'

/** The scope that reads and writes spreadsheets, developer metadata included. */
export const sheetsScope = 'https://www.googleapis.com/auth/spreadsheets'
/** Google requires this audience, whatever address the assertion is sent to. */
export const googleTokenUrl = 'https://oauth2.googleapis.com/token'
/** Matches a token that fits into a header. */
const visible = /^[\x21-\x7e]+$/
/** Markers stay long enough for a token that lives so long: docs/decisions/exactly-once.md. */
const lifeSecondsMax = 3600

/** The bounds of each request for a token. */
export const tokenBounds = { timeoutMs: 30_000, answerBytesMax: 1024 * 1024 } as const

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

/** What it takes to ask for a token. */
export interface Asking {
  readonly tokenUrl: string
  readonly http: HttpClient
  readonly clock: Clock
}

/** A token as it came. */
export interface AccessToken {
  readonly kind: 'token'
  readonly token: string
  /** For how many seconds it lives, as the answer tells; NaN when it does not. */
  readonly seconds: number
  /** The address of its account, where only the answer tells it. */
  readonly email?: string
}

/** A way to sign in: gets a new token. @throws HttpFailure when no answer came */
export type AskForToken = (
  asking: Asking,
  signal: AbortSignal,
) => Promise<AccessToken | Refused | Retryable>

export interface AccessTokenOptions extends Asking {
  readonly ask: AskForToken
}

/** Keeps an access token until five minutes before it expires, as Google's own library does. */
export class AccessTokens {
  readonly #options: AccessTokenOptions
  #kept: { readonly token: AccessToken; readonly until: number } | undefined

  constructor(options: AccessTokenOptions) {
    this.#options = options
  }

  async get(signal: AbortSignal): Promise<AccessToken | Refused | Retryable> {
    const { ask, clock } = this.#options
    const askedAt = clock.elapsed()
    if (this.#kept && askedAt < this.#kept.until) return this.#kept.token
    try {
      const token = await ask(this.#options, signal)
      if (token.kind !== 'token') return token
      if (token.seconds <= 0)
        return { kind: 'retryable', message: 'The access token has no life left' }
      if (!(token.seconds <= lifeSecondsMax)) return longLived(token.seconds)
      this.#kept = { token, until: askedAt + token.seconds * 1000 - 5 * minute }
      return token
    } catch (error) {
      if (!(error instanceof HttpFailure)) throw error
      return { kind: 'retryable', message: error.message, cause: error }
    }
  }

  /** Call when Google did not accept the token. The next `get` asks for a new one. */
  drop(): void {
    this.#kept = undefined
  }
}

function longLived(seconds: number): Refused {
  const life = Number.isNaN(seconds) ? 'not told' : `${seconds} s`
  const hint = `Its life is ${life}, and may be ${lifeSecondsMax} s at most, as one row for one signup rests on that: docs/google-setup.md.`
  return refused('tokenLife', hint)
}

/** The service account, and as whom it acts. */
export interface KeyOptions {
  readonly email: string
  readonly sign: SignAssertion
  /** A person of the domain (domain-wide delegation). */
  readonly subject?: string
  readonly scope?: string
}

/** Signs in with the key of a service account: trades a signed assertion for a token (RFC 7523). */
export function keyTokens({ email, sign, subject, scope = sheetsScope }: KeyOptions): AskForToken {
  const advice = `If that is no fault of the key, an administrator has to allow ${email} the scope ${sheetsScope} (domain-wide delegation), and SHEETS_SUBJECT has to be a person of the domain.`
  return async ({ http, tokenUrl, clock }, signal) => {
    const now = Math.floor(clock.now() / 1000)
    // Begins half a minute ago and lasts 55 minutes, to allow for a clock that is a little off.
    const claims = { iss: email, aud: googleTokenUrl, scope, iat: now - 30, exp: now + 55 * 60 }
    const answer = await http({
      method: 'POST',
      url: tokenUrl,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({
        grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
        assertion: await sign(subject === undefined ? claims : { ...claims, sub: subject }),
      }).toString(),
      ...tokenBounds,
      signal,
    })
    return tokenIn(answer, clock, 'Google', subject === undefined ? undefined : advice)
  }
}

/**
 * The token in an answer, in the form of OAuth or of `generateAccessToken`; else what its lack means. When a
 * person must act, OAuth answers 400 or 401 with an RFC 6749 error, or 200 without a token when the scope is
 * unknown, and other APIs answer with an object as the error, also with 404.
 *
 * @param advice what to do when `who` has refused; about a key when left out
 */
export function tokenIn(
  { status, headers, text }: HttpAnswer,
  clock: Pick<Clock, 'now'>,
  who: string,
  advice?: string,
): AccessToken | Refused | Retryable {
  const body = parseObject(text)
  const { error, error_description: description, expires_in: seconds, expireTime } = body ?? {}
  const token = body?.['access_token'] ?? body?.['accessToken']
  if (status === 200 && typeof token === 'string' && visible.test(token)) {
    // By the clock of who made it, which tells whole seconds.
    const madeAt = Date.parse(headers.get('date') ?? '') || clock.now()
    const life = Math.floor((Date.parse(String(expireTime)) - madeAt) / 1000)
    return { kind: 'token', token, seconds: seconds === undefined ? life : Number(seconds) }
  }
  const isEnvelope = isRecord(error)
  const isAnswer = [200, 400, 401, 403].includes(status) || (status === 404 && isEnvelope)
  if (!isAnswer || body === undefined) {
    const endpoint = who === 'Google' ? 'The token endpoint' : who
    return { kind: 'retryable', message: `${endpoint} answered HTTP ${status}` }
  }
  const told = [description, isEnvelope ? error['message'] : error]
  const words = told.find((it) => typeof it === 'string') ?? 'nothing, and gives no access token'
  // A long run of letters may be a piece of a token.
  const reason = words.slice(0, 500).replace(/[\w+=.-]{60,}|\.$/g, '')
  return invalidCredentials(`${who} says: ${reason}`, advice)
}
