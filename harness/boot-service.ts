import { join } from 'node:path'
import { loadConfig } from '../src/config/config.ts'
import { createLog } from '../src/ops/log.ts'
import { type Overrides, startService } from '../src/service/service.ts'
import { personalLines } from './personal-data.ts'
import { tempFolder } from './temp-folder.ts'

export interface BootOptions extends Omit<Overrides, 'log'> {
  /** Settings of the service, besides HOST, PORT and DATA_DIR. */
  readonly env?: Readonly<Record<string, string>>
  /** The data folder, which is kept. By default the service gets a folder that is removed when it ends. */
  readonly dataDir?: string
}

export interface BootedService extends AsyncDisposable {
  /** Without a slash at the end. */
  readonly url: string
  /** Its working folder, which is removed when it ends. */
  readonly folder: string
  /** Its log so far. */
  output(): string
  /** Stops the service gracefully. Rejects when it has logged anything personal or secret. */
  stop(): Promise<void>
}

/**
 * Starts the service in this process within milliseconds, on a free port of 127.0.0.1, without the
 * settings of this machine. Tests of kills, signals, output and file permissions need a process: see
 * `startService` in `start-service.ts`.
 *
 * @throws ConfigError for wrong settings
 */
export async function bootService(options: BootOptions = {}): Promise<BootedService> {
  const { env = {}, dataDir, ...overrides } = options
  const folder = await tempFolder()
  const variables = {
    ...env,
    HOST: '127.0.0.1',
    PORT: '0',
    DATA_DIR: dataDir ?? join(folder.path, 'data'),
  }
  let output = ''
  try {
    const { config, secrets } = loadConfig({ variables, folder: folder.path, readText })
    const log = createLog(config.logLevel, { write: (line) => (output += line) })
    const service = await startService(config, secrets, { ...overrides, log })
    const stop = async () => {
      await service[Symbol.asyncDispose]()
      await folder[Symbol.asyncDispose]()
      const leaks = personalLines(output, env)
      if (leaks.length > 0)
        throw new Error(`The service has logged something personal or secret:\n${leaks.join('\n')}`)
    }
    return {
      url: service.url.replace('localhost', '127.0.0.1'),
      folder: folder.path,
      output: () => output,
      stop,
      [Symbol.asyncDispose]: stop,
    }
  } catch (error) {
    await folder[Symbol.asyncDispose]()
    throw error
  }
}

function readText(path: string): string {
  throw new Error(`This test reads no files, but a setting names ${path}.`)
}
