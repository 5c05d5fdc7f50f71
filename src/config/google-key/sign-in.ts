import { isRecord, parseObject } from '../../signup/json.ts'
import { Wrong } from '../kind.ts'
import { webUrl } from '../values.ts'
import { readPrivateKey } from './private-key.ts'

/** How Rollcall signs in at Google. It is secret. */
export type SignIn =
  | {
      readonly kind: 'key'
      /** The address of the service account. */
      readonly email: string
      /** PKCS#8, PEM. */
      readonly privateKey: string
      /** The person of the domain as whom it acts. */
      readonly subject?: string
    }
  /** By a credentials file of a person, or of workload identity. */
  | { readonly kind: 'file'; readonly file: Readonly<Record<string, unknown>> }
  /** As the service account of whose tokens this URL is, which the source may impersonate. */
  | {
      readonly kind: 'impersonated'
      readonly url: string
      readonly delegates: readonly unknown[]
      readonly source: SignIn
    }
  /** By the metadata server at this URL. */
  | { readonly kind: 'machine'; readonly url: string }

export interface Account {
  /** The address to share the spreadsheet with; `noAddress` where only Google knows it. */
  readonly email: string
  readonly signIn: SignIn
}

/** Stands for an address in messages. Accounts without one share the windows of the quota. */
export const noAddress = 'the account that signs in'

/** For each type of file but that of a key, the members that it needs. */
const needed: Readonly<Record<string, readonly string[]>> = {
  authorized_user: ['client_id', 'client_secret', 'refresh_token'],
  external_account: ['audience', 'subject_token_type', 'token_url', 'credential_source'],
  impersonated_service_account: ['service_account_impersonation_url', 'source_credentials'],
}

/** Reads a credentials file of Google: a key file, or one of the types above. */
export function readCredentials(content: string): Account | Wrong {
  const file = parseObject(content.trim())
  const { type = 'service_account', service_account_impersonation_url: url } = file ?? {}
  if (!file || type === 'service_account') return readKeyAccount(content)
  const problem = problemIn(file, String(type))
  if (problem !== undefined) return new Wrong(problem, makeNew)
  const [, email = noAddress] = /\/([^/:]+@[^/:]+):generateAccessToken$/.exec(String(url)) ?? []
  const { source_credentials: source, delegates } = file
  if (source === undefined) return { email, signIn: { kind: 'file', file } }
  const own = readCredentials(JSON.stringify(source))
  if (own instanceof Wrong)
    return new Wrong(`has source_credentials, where it ${own.problem}`, makeNew)
  const listed = Array.isArray(delegates) ? delegates : []
  const way = { url: String(url), delegates: listed, source: own.signIn }
  return { email, signIn: { kind: 'impersonated', ...way } }
}

const anyUrl = 'https://example.com'
const makeNew = 'Make the file anew with gcloud or in the Cloud console: docs/google-setup.md.'

function readKeyAccount(content: string): Account | Wrong {
  const key = readPrivateKey(content)
  if (key instanceof Wrong) return key
  const { pem: privateKey, clientEmail: email } = key
  if (email !== undefined) return { email, signIn: { kind: 'key', email, privateKey } }
  const hint =
    'Use the JSON key file; or set SHEETS_CREDENTIALS_EMAIL and SHEETS_PRIVATE_KEY instead.'
  return new Wrong('is a bare key, without the address of its account.', hint)
}

function problemIn(file: Readonly<Record<string, unknown>>, type: string): string | undefined {
  const { credential_source: proof } = file
  const members = Object.hasOwn(needed, type) ? needed[type] : undefined
  const types = Object.keys(needed).join(', ')
  if (!members) return `has a type that is none of service_account, ${types}.`
  const missing = members.find((name) => !file[name])
  if (missing !== undefined) return `has no ${missing}.`
  const { token_url: sts = anyUrl, service_account_impersonation_url: iam = anyUrl } = file
  if (!webUrl(String(sts)) || !webUrl(String(iam))) return 'has a URL that is none.'
  if (isRecord(proof) && ('executable' in proof || 'certificate' in proof)) {
    return 'has a program or a certificate as its credential_source: a file, a URL or AWS can be used.'
  }
  return undefined
}
