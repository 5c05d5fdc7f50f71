import type { HttpAnswer } from '../../platform/http-client.ts'
import { isRecord } from '../../signup/json.ts'
import {
  type AskForToken,
  googleTokenUrl,
  sheetsScope,
  tokenBounds,
  tokenIn,
} from './access-token.ts'
import { invalidCredentials } from './failure.ts'

/** The content of a credentials file. `config/` has checked that it has what its type needs. */
type CredentialsFile = Readonly<Record<string, unknown>>

/** What an identity needs that gets tokens of another one. */
export const platformScope = 'https://www.googleapis.com/auth/cloud-platform'
/** Of an impersonated account: under an hour, to allow for a clock that is a little off. */
const lifeSeconds = 55 * 60

const advice =
  'Check that the credentials file is the present one, and that its identity may act as the account that it names: docs/google-setup.md.'

/**
 * Signs in as the service account of whose tokens the URL is. The library's own class for this takes no other server
 * than Google's, and writes to standard error.
 *
 * @param askForOwn gets a token of `platformScope` for who impersonates it
 */
export function impersonatedTokens(
  { url, delegates }: { readonly url: string; readonly delegates: readonly unknown[] },
  askForOwn: AskForToken,
  scope = sheetsScope,
): AskForToken {
  return async (asking, signal) => {
    const own = await askForOwn(asking, signal)
    if (own.kind !== 'token') return own
    const answer = await asking.http({
      ...{ method: 'POST', url, ...tokenBounds, signal },
      headers: { authorization: `Bearer ${own.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ delegates, scope: [scope], lifetime: `${lifeSeconds}s` }),
    })
    return tokenIn(answer, asking.clock, new URL(url).host, advice)
  }
}

/**
 * Signs in as a credentials file says: as a person (`authorized_user`), or by workload identity (`external_account`).
 * Google's library finds the proof of an identity, signs it where AWS needs that, and trades it for a token.
 */
export function fileTokens(file: CredentialsFile, scope = sheetsScope): AskForToken {
  return async ({ tokenUrl, http, clock }, signal) => {
    const library = await import('google-auth-library')
    let last: HttpAnswer | Error | undefined
    let host = ''
    const fetchImplementation = async (input: unknown, init: RequestInit = {}) => {
      const { method = 'GET', headers = {}, body = null } = init
      const sent = new Request(String(input), { method, headers, body })
      const url = sent.url === googleTokenUrl ? tokenUrl : sent.url
      host = new URL(url).host
      last = await http({
        ...{ method: sent.method as 'GET' | 'POST' | 'PUT', url, ...tokenBounds, signal },
        ...{ headers: Object.fromEntries(sent.headers), body: await sent.text() },
      }).catch((error: unknown) => error as Error)
      if (last instanceof Error) throw last
      const { status, text, headers: told } = last
      const type = told.get('content-type') ?? 'text/plain'
      return new Response(text || null, { status, headers: { 'content-type': type } })
    }
    // A client for each token: what is kept and what is tried again is up to us.
    const bounds = { fetchImplementation, retryConfig: { retry: 0 }, noProxy: [/^/] }
    const transporter = new library.gaxios.Gaxios(bounds)
    // With its own parameters the library would log tokens where its log is switched on.
    const options = {
      ...{ ...file, transporter, useAuthRequestParameters: false, scopes: [scope] },
      refreshToken: file['refresh_token'],
      service_account_impersonation: { token_lifetime_seconds: lifeSeconds },
    }
    const { credential_source: source } = file
    const isAws = isRecord(source) && 'environment_id' in source
    const workload = isAws ? 'AwsClient' : 'IdentityPoolClient'
    const name = file['type'] === 'authorized_user' ? 'UserRefreshClient' : workload
    let failure: unknown
    try {
      const client = new library[name](options as never)
      // The exchange of tokens has a transporter of its own.
      Object.assign(Reflect.get(client, 'stsCredential') ?? {}, { transporter })
      await client.getAccessToken()
    } catch (error) {
      failure = error
    }
    if (last instanceof Error) throw last
    if (last && (!failure || last.status >= 300)) return tokenIn(last, clock, host, advice)
    // The library's message may quote the proof.
    const code = failure instanceof Error && 'code' in failure ? ` (${String(failure.code)})` : ''
    return invalidCredentials(`The proof of credential_source cannot be read${code}`, advice)
  }
}
