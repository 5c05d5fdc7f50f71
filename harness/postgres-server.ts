import { type ChildProcess, spawn } from 'node:child_process'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { endWithUs } from './end-with-us.ts'
import { freePort } from './free-port.ts'
import { giveAway, preparePostgres, roles, startedBy } from './postgres-programs.ts'

export interface PostgresOptions {
  /** Settings of the server, such as `{ max_connections: '10' }`. */
  readonly settings?: Readonly<Record<string, string>>
  /** Syncs to disk, as a real server does. Without it, a test is much faster. */
  readonly isDurable?: boolean
  /** A folder for the data folder, such as a small file system. By default a temporary one, which is removed. */
  readonly folder?: string
}

/**
 * How a server ends. `smart` waits for its clients to leave, `fast` ends their transactions, and
 * `immediate` is a crash: the next start recovers from the log.
 */
export type StopMode = 'smart' | 'fast' | 'immediate'

const signals = { smart: 'SIGTERM', fast: 'SIGINT', immediate: 'SIGQUIT' } as const

export interface TestDatabase extends AsyncDisposable {
  readonly name: string
  /** For DATABASE_URL, with the password of the service's role. */
  readonly url: string
  /** Runs SQL in it as the superuser. Resolves with the rows of a single statement. */
  query(sql: string): Promise<readonly Readonly<Record<string, unknown>>[]>
}

/** A real PostgreSQL server. Disposing of it ends it and removes its data. */
export interface PostgresServer extends AsyncDisposable {
  readonly port: number
  /** Of its first process, which starts the others. */
  readonly pid: number
  /** @param port of a proxy; by default of the server itself */
  url(database: string, port?: number): string
  /**
   * Makes a database that belongs to the service's role.
   *
   * @param template the name of a database to copy, to which nobody is connected
   */
  createDatabase(template?: string): Promise<TestDatabase>
  /** Runs SQL as the superuser. */
  query(sql: string): Promise<pg.QueryResult<Record<string, unknown>>>
  /** Changes settings of the running server. Settings that need a restart are taken by the next start. */
  configure(settings: Readonly<Record<string, string>>): Promise<void>
  /** Resolves when the server and all its processes have ended. */
  stop(mode: StopMode): Promise<void>
  /** Starts it again after a stop, on its port and data. Resolves when it answers. */
  start(): Promise<void>
  /** What it has logged so far. */
  log(): string
}

const fastSettings = { fsync: 'off', full_page_writes: 'off', wal_level: 'minimal' }

const usualSettings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  shared_buffers: '32MB',
  // In the data folder, so that nothing is left of a crash.
  dynamic_shared_memory_type: 'mmap',
  // Fewer processes.
  io_method: 'sync',
  max_wal_senders: '0',
  max_connections: '60',
}

/**
 * Starts PostgreSQL on a free port of 127.0.0.1, with databases of its own. It ends when this process ends.
 *
 * @throws Error with its log when it does not start
 */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const prepared = await preparePostgres()
  const folder = await mkdtemp(join(options.folder ?? tmpdir(), 'rollcall-postgres-data-'))
  await cp(prepared.data, folder, { recursive: true })
  await giveAway(folder)
  const settings = {
    ...usualSettings,
    ...(!options.isDurable && fastSettings),
    ...options.settings,
    port: String(await freePort()),
  }
  const parameters = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const server = new Server(Number(settings.port), folder, [
    join(prepared.bin, 'postgres'),
    '-D',
    folder,
    ...parameters,
  ])
  try {
    await server.start()
  } catch (error) {
    await server[Symbol.asyncDispose]()
    throw error
  }
  return server
}

class Server implements PostgresServer {
  readonly port: number
  readonly #folder: string
  readonly #command: readonly string[]
  #process: ChildProcess | undefined
  #ended: Promise<unknown> = Promise.resolve()
  #log = ''
  #admin: pg.Pool | undefined
  #databases = 0

  constructor(port: number, folder: string, command: readonly string[]) {
    this.port = port
    this.#folder = folder
    this.#command = command
  }

  get pid(): number {
    return this.#process?.pid ?? 0
  }

  url(database: string, port = this.port): string {
    const { name, password } = roles.service
    return `postgres://${name}:${encodeURIComponent(password)}@127.0.0.1:${port}/${database}`
  }

  async start(): Promise<void> {
    const [program = '', ...parameters] = this.#command
    const started = spawn(program, parameters, {
      ...startedBy,
      cwd: this.#folder,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    endWithUs(started, () => started.kill(signals.immediate))
    this.#process = started
    this.#ended = new Promise((resolve) => started.once('close', resolve).once('error', resolve))
    const before = this.#log.length
    await new Promise<void>((resolve, reject) => {
      started.stderr.setEncoding('utf8').on('data', (text: string) => {
        this.#log += text
        if (this.#log.includes('ready to accept connections', before)) resolve()
      })
      started.once('error', reject).once('close', () => {
        reject(new Error(`PostgreSQL has ended:\n${this.#log.slice(before)}`))
      })
    })
  }

  async stop(mode: StopMode): Promise<void> {
    const admin = this.#admin
    this.#admin = undefined
    await admin?.end()
    this.#process?.kill(signals[mode])
    await this.#ended
  }

  async createDatabase(template = 'template1'): Promise<TestDatabase> {
    this.#databases += 1
    const name = `test_${this.#databases}`
    await this.query(
      `CREATE DATABASE ${name} OWNER ${roles.service.name} TEMPLATE ${template} STRATEGY file_copy`,
    )
    return {
      name,
      url: this.url(name),
      query: async (sql) => {
        const client = new pg.Client({ ...this.#asAdmin(), database: name })
        await client.connect()
        const done = client.query<Record<string, unknown>>(sql)
        return (await done.finally(() => client.end())).rows
      },
      [Symbol.asyncDispose]: async () => {
        await this.query(`DROP DATABASE ${name} WITH (FORCE)`)
      },
    }
  }

  async query(sql: string): Promise<pg.QueryResult<Record<string, unknown>>> {
    // DROP DATABASE waits for each backend that waits for a standby, and only a query of another connection
    // can end that: so there are more connections than tests that run at the same time.
    this.#admin ??= new pg.Pool({ ...this.#asAdmin(), max: 8 }).on('error', () => {})
    return this.#admin.query<Record<string, unknown>>(sql)
  }

  async configure(settings: Readonly<Record<string, string>>): Promise<void> {
    const loadedAt = async () => {
      // A new connection has what the server itself has read.
      const client = new pg.Client(this.#asAdmin())
      await client.connect()
      const { rows } = await client.query<{ at: Date }>('SELECT pg_conf_load_time() AS at')
      await client.end()
      return rows[0]?.at.getTime() ?? 0
    }
    const before = await loadedAt()
    for (const [name, value] of Object.entries(settings)) {
      await this.query(`ALTER SYSTEM SET ${name} = ${pg.escapeLiteral(value)}`)
    }
    await this.query('SELECT pg_reload_conf()')
    while ((await loadedAt()) === before);
  }

  log(): string {
    return this.#log
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop('immediate')
    await rm(this.#folder, { recursive: true, force: true })
  }

  #asAdmin(): pg.ClientConfig {
    const { name: user, password } = roles.admin
    return { host: '127.0.0.1', port: this.port, user, password, database: 'postgres' }
  }
}
