import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { text } from 'node:stream/consumers'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { environmentOfAnyProgram } from '../harness/environment.ts'
import { projectRoot } from '../harness/source-file.ts'
import { postAtConstantRate } from './constant-rate.ts'
import { percentile } from './percentile.ts'
import { usualBody } from './load.ts'
import { peakBytes } from './processes.ts'

export interface BesideOptions {
  readonly url: string
  readonly dataDir: string
  /** The settings of the service. */
  readonly env: Readonly<Record<string, string>>
  readonly args: readonly string[]
  readonly perSecond: number
}

/** How long a command kept others from writing to the journal, in milliseconds. */
export interface Holds {
  /** For each transaction, from the moment when it had the lock until it began to commit. */
  readonly workMs: readonly number[]
  /** The processor time of that work. */
  readonly cpuMs: readonly number[]
  /** For each transaction, from then until others could write: one sync of the disk. */
  readonly commitMs: readonly number[]
  /** For each try to empty the write-ahead log. */
  readonly emptyMs: readonly number[]
}

/** What a command took, and what visitors noticed of it. */
export interface Beside {
  readonly seconds: number
  readonly megabytes: number
  /** The 99th percentile of the answers' times, from when each request was due. */
  readonly p99: number
  /** How long another process had to wait at most until it could write, for the service's commits too. */
  readonly waitMs: number
  readonly holds: Holds
  readonly signups: number
  readonly output: string
}

/** The load is made in parts, because its length is not known before. */
const partSeconds = 2
const probeEveryMs = 2

/** Runs a command to its end while the service takes signups at a constant rate. */
export async function besideCommand(options: BesideOptions): Promise<Beside> {
  const { url, perSecond, dataDir } = options
  const load = { url: `${url}/api/signup`, perSecond, connections: 64, body: usualBody }
  const state = { isRunning: true }
  const waited = longestWait(join(dataDir, 'journal.db'), state)
  const times: number[] = []
  const loaded = (async () => {
    do times.push(...(await postAtConstantRate({ ...load, seconds: partSeconds })))
    while (state.isRunning)
  })()
  try {
    const ran = await run(options)
    state.isRunning = false
    await loaded
    return { ...ran, p99: percentile(times, 0.99), waitMs: await waited, signups: times.length }
  } finally {
    state.isRunning = false
  }
}

async function run({ args, env, dataDir }: BesideOptions) {
  const begin = performance.now()
  const holdsFile = `${dataDir}.holds`
  const timed = ['--import', join(import.meta.dirname, 'programs/time-transactions.js')]
  const program = [...timed, join(projectRoot, 'src/start.js'), ...args]
  const child = spawn(process.execPath, program, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...environmentOfAnyProgram(), ...env, DATA_DIR: dataDir, HOLDS_FILE: holdsFile },
  })
  const output = text(child.stdout)
  const ended = once(child, 'close')
  let bytes = 0
  while (child.exitCode === null && child.signalCode === null) {
    bytes = Math.max(bytes, peakOf(child.pid ?? 0))
    await sleep(20)
  }
  await ended
  const seconds = (performance.now() - begin) / 1000
  if (child.exitCode !== 0) throw new Error(`rollcall ${args[0] ?? ''} failed: ${await output}`)
  const holds = JSON.parse(await readFile(holdsFile, 'utf8')) as Holds
  return { seconds, megabytes: bytes / 1e6, output: await output, holds }
}

/** 0 when the process has just ended. */
function peakOf(pid: number): number {
  try {
    return peakBytes(pid) || 0
  } catch {
    return 0
  }
}

/** Tries again and again to write to the journal. Returns the longest wait in milliseconds. */
async function longestWait(file: string, state: { readonly isRunning: boolean }): Promise<number> {
  using db = new DatabaseSync(file, { timeout: 0 })
  let longest = 0
  while (state.isRunning) {
    const begin = performance.now()
    while (!canWrite(db)) await nextTurn()
    longest = Math.max(longest, performance.now() - begin)
    await sleep(probeEveryMs)
  }
  return longest
}

function canWrite(db: DatabaseSync): boolean {
  try {
    db.exec('BEGIN IMMEDIATE; ROLLBACK')
    return true
  } catch {
    return false
  }
}
