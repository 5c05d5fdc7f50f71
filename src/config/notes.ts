import type { Config } from './config.ts'
import type { SiteConfig } from './sites/site.ts'

type Noted = Pick<Config, 'trustedProxies' | 'allowedHosts'> & {
  readonly sites: readonly Pick<SiteConfig, 'signupsPerMinute' | 'origins'>[]
}

/** Notes to log at the start. They are not about mistakes. */
export function startNotes(config: Noted): readonly string[] {
  const { trustedProxies, sites, allowedHosts } = config
  const isLimited = sites.some(({ signupsPerMinute }) => signupsPerMinute > 0)
  const namesOrigins = sites.some(({ origins }) => origins !== '*')
  const notes: string[] = []
  if (isLimited && trustedProxies === 0) notes.push(privateAddresses)
  if (namesOrigins && allowedHosts === undefined) notes.push(anyHost)
  return notes
}

const privateAddresses =
  'Signups from this machine and from local networks are not rate-limited, because they may come through a proxy. If there is a proxy, set TRUST_PROXY.'

const anyHost =
  'ALLOWED_ORIGINS is set and ALLOWED_HOSTS is not. Set ALLOWED_HOSTS to the hosts of this service: without it, pages count as its own under every host name that points here.'
