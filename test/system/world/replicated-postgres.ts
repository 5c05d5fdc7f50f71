import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'

import { endWithUs } from '../../../harness/end-with-us.ts'
import { freePort } from '../../../harness/free-port.ts'
import { giveAway, startedBy } from '../../../harness/postgres-programs.ts'

const execute = promisify(execFile)

/** The programs of Debian's newest PostgreSQL. The npm package has no `pg_basebackup`. */
const bin = globSync('/usr/lib/postgresql/*/bin').sort().at(-1) ?? ''

interface Member {
  readonly port: number
  readonly folder: string
  process: ChildProcess | undefined
}

/** A primary and a standby that streams from it. Everybody may connect as `postgres`. */
export class ReplicatedPostgres implements AsyncDisposable {
  readonly #primary: Member
  readonly #standby: Member

  private constructor(primary: Member, standby: Member) {
    this.#primary = primary
    this.#standby = standby
  }

  static async start(): Promise<ReplicatedPostgres> {
    const [primary, standby] = [await newMember(), await newMember()]
    const pair = new ReplicatedPostgres(primary, standby)
    try {
      const options = { ...startedBy, cwd: primary.folder }
      const access = ['--auth=trust', '-U', 'postgres', '--encoding=UTF8', '--no-sync']
      await execute(join(bin, 'initdb'), ['-D', primary.folder, ...access], options)
      await start(primary)
      const from = ['-h', '127.0.0.1', '-p', String(primary.port), '-U', 'postgres']
      const how = ['-R', '-X', 'stream', '--checkpoint=fast', '--no-sync']
      await execute(join(bin, 'pg_basebackup'), [...from, ...how, '-D', standby.folder], options)
      await pair.startStandby()
      await pair.#untilStreaming()
    } catch (error) {
      await pair[Symbol.asyncDispose]()
      throw error
    }
    return pair
  }

  get primaryPort(): number {
    return this.#primary.port
  }

  get standbyPort(): number {
    return this.#standby.port
  }

  /** From now on a commit waits until the standby has it on disk. */
  async waitForStandby(): Promise<void> {
    await ask(this.#primary.port, `ALTER SYSTEM SET synchronous_standby_names = '*'`)
    await ask(this.#primary.port, 'SELECT pg_reload_conf()')
    while ((await this.#states()).every((state) => state !== 'sync')) await sleep(20)
  }

  async stopStandby(): Promise<void> {
    await end(this.#standby, 'SIGINT')
  }

  async startStandby(): Promise<void> {
    await start(this.#standby)
  }

  /** The primary crashes for ever, and the standby takes its place. */
  async failOver(): Promise<void> {
    await end(this.#primary, 'SIGQUIT')
    if (!this.#standby.process) await this.startStandby()
    await ask(this.#standby.port, 'SELECT pg_promote()')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const member of [this.#standby, this.#primary]) {
      await end(member, 'SIGQUIT')
      await rm(member.folder, { recursive: true, force: true })
    }
  }

  async #untilStreaming(): Promise<void> {
    while ((await this.#states()).length === 0) await sleep(20)
  }

  async #states(): Promise<unknown[]> {
    const sql = `SELECT sync_state FROM pg_stat_replication WHERE state = 'streaming'`
    return (await ask(this.#primary.port, sql)).map((row) => row['sync_state'])
  }
}

async function newMember(): Promise<Member> {
  const folder = await mkdtemp(join(tmpdir(), 'rollcall-replica-'))
  await giveAway(folder)
  return { folder, port: await freePort(), process: undefined }
}

/** Resolves when the server answers. */
async function start(member: Member): Promise<void> {
  const settings = [
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'dynamic_shared_memory_type=mmap',
    `port=${member.port}`,
  ]
  const parameters = ['-D', member.folder, ...settings.flatMap((setting) => ['-c', setting])]
  const started = spawn(join(bin, 'postgres'), parameters, {
    ...startedBy,
    cwd: member.folder,
    stdio: 'ignore',
  })
  endWithUs(started, () => started.kill('SIGQUIT'))
  member.process = started
  for (;;) {
    if (started.exitCode !== null) throw new Error('PostgreSQL does not start.')
    if ((await ask(member.port, 'SELECT 1').catch(() => [])).length > 0) return
    await sleep(20)
  }
}

async function end(member: Member, signal: NodeJS.Signals): Promise<void> {
  const running = member.process
  member.process = undefined
  if (running?.exitCode !== null) return
  const closed = once(running, 'close')
  running.kill(signal)
  await closed
}

async function ask(port: number, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres' })
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows
  } finally {
    await client.end()
  }
}
