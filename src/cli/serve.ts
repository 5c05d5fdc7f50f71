import type { Command } from '@commander-js/extra-typings'
import { letHeapGrow } from '../platform/node/heap.ts'
import { startService } from '../service/service.ts'
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
  const { config, secrets } = await readSettings()
  await using service = await startService(config, secrets, { stop })
  letHeapGrow()
  const { url, locations } = service
  const where = locations.length > 1 ? `${locations.length} spreadsheets` : locations.join()
  const page = config.hasSites ? `${url}/?site=${config.sites[0].name}` : `${url}/`
  print(`Rollcall listens on ${url}\nRows go to ${where}\nTry: open ${page} in a browser\n`)
  const code = await Promise.race([stopped, service.failed.then(() => exit.notAll)])
  if (code === exit.done) print('Rollcall is stopping: it finishes the work that it has begun.\n')
  return code
}
