import type { Command } from '@commander-js/extra-typings'
import type { Config } from '../config/config.ts'
import type { SiteConfig } from '../config/sites/site.ts'
import { type Service, startService } from '../service/service.ts'
import { exit, type ExitCode, type Run, type Session } from './session.ts'
import { readSettings } from './settings.ts'

export function addServe(program: Command, run: Run): void {
  program
    .command('serve')
    .description('run the service until SIGTERM or SIGINT (the default)')
    .action(() => run(serve))
}

/** Runs the service until a signal or a failure. */
async function serve({ out, stop }: Session): Promise<ExitCode> {
  const stopped = new Promise<ExitCode>((resolve) => {
    stop.addEventListener('abort', () => resolve(exit.done), { once: true })
    if (stop.aborted) resolve(exit.done)
  })
  // The service goes on when nobody reads its output any more, or when the disk is full.
  const print = (text: string) => void out.write(text).catch(() => {})
  const { config, secrets } = readSettings()
  await using service = await startService(config, secrets, { stop })
  print(welcome(service, { ...config, ...config.sites[0] }))
  const code = await Promise.race([stopped, service.failed.then(() => exit.notAll)])
  if (code === exit.done) print('Rollcall is stopping: it finishes the work that it has begun.\n')
  return code
}

type WelcomeSettings = Pick<Config, 'allowedHosts' | 'hasSites'> &
  Pick<SiteConfig, 'name' | 'challenge' | 'origins' | 'fields'>

/** The text printed once the service listens. It names something to try that works with the settings. */
export function welcome(
  { url, locations }: Pick<Service, 'url' | 'locations'>,
  config: WelcomeSettings,
): string {
  const [location = '', ...others] = locations
  const where = others.length === 0 ? location : `${locations.length} spreadsheets`
  return `Rollcall listens on ${url}\nRows go to ${where}\nTry: ${toTry(url, config)}\n`
}

function toTry(url: string, settings: WelcomeSettings): string {
  const { challenge, origins, allowedHosts, hasSites, name, fields } = settings
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
