import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { type RunningService, type StartOptions, startService } from '../harness/start-service.ts'

/** Everything that is measured runs on the first core, load and providers on the others. */
const measuredCore = '0'
const otherCores = availableParallelism() > 1 ? `1-${availableParallelism() - 1}` : '0'

/** Pins a process, all its threads, to a core; where that cannot be done it goes without. */
function pin(pid: number, cores: string): void {
  try {
    execFileSync('taskset', ['-a', '-p', '-c', cores, String(pid)], { stdio: 'ignore' })
  } catch {
    // No taskset on this machine: `describeMachine` tells.
  }
}

/** We are the load: away from the core on which others are measured. */
export function pinOurselves(): void {
  pin(process.pid, otherCores)
}

/** The service, or a program of `programs/`, on the measured core. */
export async function startMeasured(options: StartOptions): Promise<RunningService> {
  const running = await startService(options)
  pin(running.pid, measuredCore)
  return running
}

/** A program of `programs/` that others are measured with. */
export async function startBeside(name: string, args: Record<string, string> = {}) {
  const running = await startService({ program: programPath(name), env: args })
  pin(running.pid, otherCores)
  return running
}

export function programPath(name: string): string {
  return join(import.meta.dirname, 'programs', `${name}.ts`)
}

/** Lets one of them run alone: the others do not work on in the background meanwhile. */
export function leaveAlone(one: RunningService, all: readonly RunningService[]): void {
  for (const other of all) process.kill(other.pid, other === one ? 'SIGCONT' : 'SIGSTOP')
}

export function wakeAll(all: readonly RunningService[]): void {
  for (const { pid } of all) process.kill(pid, 'SIGCONT')
}

/** CPU time of a process so far, in microseconds (Linux, in steps of 10 ms). */
export function cpuMicroseconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10_000
}

/** Whether the system keeps the peak of a process's memory (Linux). */
export const isPeakKnown = existsSync('/proc/self/status')

/** The most memory that a process has had so far, in bytes; what it has now where the peak is not known. */
export function peakBytes(pid: number): number {
  const kilobytes = isPeakKnown
    ? /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    : execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })
  return Number(kilobytes) * 1024
}
