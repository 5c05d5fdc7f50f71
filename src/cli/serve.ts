import type { Command } from '@commander-js/extra-typings'
import { startService } from '../service/service.ts'
import { exit, type ExitCode, type Run, type Session } from './session.ts'
import { welcome } from './welcome.ts'
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
