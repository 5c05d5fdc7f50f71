import { generateKeyPairSync } from 'node:crypto'
import { join } from 'node:path'
import { type PostgresServer, startPostgres } from '../harness/postgres-server.ts'
import type { RunningService } from '../harness/start-service.ts'
import { type TempFolder, tempFolder } from '../harness/temp-folder.ts'
import { pinNowhere, programPath, startBeside, startMeasured } from './processes.ts'

const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
})

export interface ProviderOptions {
  readonly delayMs?: number
  readonly isDown?: boolean
}

export interface ReceiverOptions {
  readonly delayMs?: number
  readonly hangs?: boolean
}

interface ServiceOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly dataDir?: string
  /** Whether it runs on the measured core only. */
  readonly isPinned?: boolean
}

/** Starts the processes of one scenario. Disposing of it stops them all and deletes their files. */
export class World implements AsyncDisposable {
  readonly #started = new AsyncDisposableStack()
  readonly #folder: TempFolder

  private constructor(folder: TempFolder) {
    this.#folder = this.#started.use(folder)
  }

  static async create(): Promise<World> {
    return new World(await tempFolder())
  }

  get folder(): string {
    return this.#folder.path
  }

  async provider({ delayMs = 0, isDown = false }: ProviderOptions = {}): Promise<RunningService> {
    const settings = { DELAY_MS: String(delayMs), IS_DOWN: isDown ? '1' : '0' }
    return this.#started.use(await startBeside('provider', settings))
  }

  /** Starts who receives webhooks. */
  async receiver({ delayMs = 0, hangs = false }: ReceiverOptions): Promise<RunningService> {
    const settings = { DELAY_MS: String(delayMs), HANGS: hangs ? '1' : '0' }
    return this.#started.use(await startBeside('receiver', settings))
  }

  /** Starts the real service, which delivers to this provider, or to the local workbook. */
  async service(
    provider: RunningService | undefined,
    { env = {}, dataDir, isPinned = true }: ServiceOptions = {},
  ): Promise<RunningService> {
    const google = provider && googleSettings(provider.url)
    const settings = { LOG_LEVEL: 'error', ...google, ...env }
    const service = this.#started.use(
      await startMeasured({ env: settings, ...(dataDir === undefined ? {} : { dataDir }) }),
    )
    if (!isPinned) pinNowhere(service.pid)
    return service
  }

  /** Starts PostgreSQL, which syncs every commit to disk. It runs on every core. */
  async database(): Promise<PostgresServer> {
    const server = this.#started.use(await startPostgres({ isDurable: true }))
    pinNowhere(server.pid)
    return server
  }

  async baseline(journal: 'none' | 'each'): Promise<RunningService> {
    const env = { JOURNAL: journal }
    return this.#started.use(await startMeasured({ program: programPath('baseline'), env }))
  }

  path(name: string): string {
    return join(this.folder, name)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#started.disposeAsync()
  }
}

export function googleSettings(providerUrl: string): Record<string, string> {
  return {
    SHEETS_SHEET_ID: 'bench-spreadsheet-0001-abcdefghijklmnop',
    SHEETS_CREDENTIALS_EMAIL: 'rollcall@bench.iam.gserviceaccount.com',
    SHEETS_PRIVATE_KEY: privateKey,
    SHEETS_API_URL: providerUrl,
    SHEETS_TOKEN_URL: `${providerUrl}/token`,
  }
}
