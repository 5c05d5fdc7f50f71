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

type WelcomeSettings = Pick<Config, 'hasSites'> & Pick<SiteConfig, 'name' | 'challenge' | 'fields'>

/** The text printed once the service listens. It names something to try that works with the settings. */
export function welcome(
  { url, locations }: Pick<Service, 'url' | 'locations'>,
  { challenge, hasSites, name, fields }: WelcomeSettings,
): string {
  const [location = '', ...others] = locations
  const where = others.length === 0 ? location : `${locations.length} spreadsheets`
  const query = hasSites ? `?site=${name}` : ''
  // A shell may take a question mark for a pattern.
  const address = hasSites ? `'${url}/api/signup${query}'` : `${url}/api/signup`
  const needsPage = challenge !== undefined || fields.some(({ required }) => required)
  const toTry = needsPage
    ? `open ${url}/${query} in a browser, under a name that the settings allow`
    : `curl ${address} -H 'Content-Type: application/json' -d '{"email":"ada@example.com"}'`
  return `Rollcall listens on ${url}\nRows go to ${where}\nTry: ${toTry}\n`
}
