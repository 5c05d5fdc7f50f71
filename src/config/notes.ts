import type { Config } from './config.ts'

type Noted = Pick<Config, 'trustedProxies' | 'signupsPerMinute' | 'allowedOrigins' | 'allowedHosts'>

/** Notes to log at the start. They are not about mistakes. */
export function startNotes(config: Noted): readonly string[] {
  const { trustedProxies, signupsPerMinute, allowedOrigins, allowedHosts } = config
  const notes: string[] = []
  if (signupsPerMinute > 0 && trustedProxies === 0) notes.push(privateAddresses)
  if (allowedOrigins !== '*' && allowedHosts === undefined) notes.push(anyHost)
  return notes
}

const privateAddresses =
  'Signups from this machine and from local networks are not rate-limited, as a proxy may be in between: set TRUST_PROXY if there is one.'

const anyHost =
  'ALLOWED_ORIGINS is set and ALLOWED_HOSTS is not: name the hosts of this service there, so that no page on another name that points here counts as its own.'
