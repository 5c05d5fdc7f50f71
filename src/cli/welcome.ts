import type { Config } from '../config/config.ts'
import type { SiteConfig } from '../config/site.ts'
import type { Service } from '../service/service.ts'

type Tried = Pick<Config, 'allowedHosts' | 'hasSites'> &
  Pick<SiteConfig, 'name' | 'challenge' | 'origins' | 'fields'>

/** The text printed once the service listens. It names something to try that works with the settings. */
export function welcome(
  { url, locations }: Pick<Service, 'url' | 'locations'>,
  config: Tried,
): string {
  const [location = '', ...others] = locations
  const where = others.length === 0 ? location : `${locations.length} spreadsheets`
  return `Rollcall listens on ${url}\nRows go to ${where}\nTry: ${toTry(url, config)}\n`
}

function toTry(url: string, tried: Tried): string {
  const { challenge, origins, allowedHosts, hasSites, name, fields } = tried
  const query = hasSites ? `?site=${name}` : ''
  if (!challenge && fields.some(({ required }) => required)) {
    return `open ${url}/${query} in a browser`
  }
  if (!challenge) {
    // A shell may take a question mark for a pattern.
    const address = hasSites ? `'${url}/api/signup${query}'` : `${url}/api/signup`
    return `curl ${address} -H 'Content-Type: application/json' -d '{"email":"ada@example.com"}'`
  }
  const { host, hostname } = new URL(url)
  const isOwn = origins === '*' || (allowedHosts?.includes(host) ?? true)
  const isChallenged = challenge.hostnames?.includes(hostname) ?? true
  if (isOwn && isChallenged) {
    return `open ${url}/${query} in a browser, where the challenge can be passed`
  }
  const list = isOwn ? 'CHALLENGE_HOSTNAMES' : 'ALLOWED_HOSTS'
  return `open the signup page in a browser under a name of ${list}; here nobody can pass`
}
