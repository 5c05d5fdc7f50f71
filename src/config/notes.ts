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
  'Signups from this machine and from local networks are not rate-limited, because they may come through a proxy. If there is a proxy, set TRUST_PROXY.'

const anyHost =
  'ALLOWED_ORIGINS is set and ALLOWED_HOSTS is not. Set ALLOWED_HOSTS to the hosts of this service: without it, pages count as its own under every host name that points here.'
