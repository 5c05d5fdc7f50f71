import type { TokenAnswer, TokenOffice } from './tokens.ts'

interface SignInCall {
  readonly target: URL
  readonly authorization: string | undefined
  readonly flavor: string | undefined
  readonly body: string
  readonly tokenUrl: string
}

const metadataPath = '/computeMetadata/v1/instance/service-accounts/default/'
const impersonation = /^\/v1\/projects\/-\/serviceAccounts\/([^/:]+):generateAccessToken$/

/** Whether the path is one of OAuth, of STS, of iamcredentials or of the metadata server. */
export function isSignIn(path: string): boolean {
  return (
    ['/token', '/v1/token'].includes(path) ||
    impersonation.test(path) ||
    path.startsWith(metadataPath)
  )
}

/** Answers a call by which somebody signs in. The servers of Google are told apart by the path. */
export function answerSignIn(
  office: TokenOffice,
  { target: { pathname, searchParams }, authorization, flavor, body, tokenUrl }: SignInCall,
  nowMs: number,
): TokenAnswer {
  const form = new URLSearchParams(body)
  if (pathname === '/token') return office.exchange(form, tokenUrl, nowMs)
  if (pathname === '/v1/token') return office.trade(form, nowMs)
  const [, email] = impersonation.exec(pathname) ?? []
  if (email !== undefined) {
    return office.impersonate(email, authorization, JSON.parse(body) as object, nowMs)
  }
  const headers = { 'Metadata-Flavor': 'Google' }
  if (flavor !== 'Google') return { status: 403, body: 'Missing Metadata-Flavor:Google header.' }
  const { machine } = office
  if (machine === undefined) return { status: 404, headers, body: 'Not Found' }
  if (pathname === `${metadataPath}email`) return { status: 200, headers, body: machine }
  return { headers, ...office.grant(machine, searchParams.get('scopes') ?? '', nowMs) }
}
