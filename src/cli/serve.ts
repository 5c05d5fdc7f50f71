import { loadConfig } from '../config/config.ts'
import { readEnvironment } from '../config/env.ts'
import { ConfigError } from '../config/problem.ts'
import { startService } from '../service/service.ts'
import { welcome } from './welcome.ts'
import { onStopSignal } from './terminal/stop-signals.ts'

/** The documented exit codes of `rollcall serve`. */
const exit = { stopped: 0, failed: 1, badSettings: 2 } as const

/** `rollcall serve`: runs the service until SIGTERM, SIGINT or a failure. Resolves with the exit code. */
export async function serve(
  out: NodeJS.WritableStream,
  err: NodeJS.WritableStream,
): Promise<number> {
  const stop = new Promise<void>((resolve) => onStopSignal(resolve)).then(() => exit.stopped)
  // Ignore write errors, such as a closed pipe or a full disk: the service must go on.
  for (const stream of [out, err]) stream.on('error', () => {})
  // The service writes email addresses: only its own user may read its files.
  if (process.platform !== 'win32') process.umask(0o077)
  try {
    const { config, secrets } = loadConfig(readEnvironment())
    await using service = await startService(config, secrets)
    out.write(welcome(service, config))
    const code = await Promise.race([stop, service.failed.then(() => exit.failed)])
    if (code === exit.stopped)
      out.write('Rollcall is stopping: it finishes the work that it has begun.\n')
    return code
  } catch (error) {
    err.write(`${error instanceof Error ? error.message : String(error)}\n`)
    return error instanceof ConfigError ? exit.badSettings : exit.failed
  }
}
