import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { type RunningService, type StartOptions, startService } from '../harness/start-service.ts'

/** Measured processes run on the first core. Load and providers run on the others. */
const measuredCore = '0'
const otherCores = availableParallelism() > 1 ? `1-${availableParallelism() - 1}` : '0'
// Read before this process is pinned: from then on it counts only its own cores.
const allCores = `0-${availableParallelism() - 1}`

/** Pins all threads of a process to cores, where the system can. */
function pin(pid: number, cores: string): void {
  try {
    execFileSync('taskset', ['-a', '-p', '-c', cores, String(pid)], { stdio: 'ignore' })
  } catch {
    // This machine has no taskset. `describeMachine` says so.
  }
}

/** Keeps this process, which makes the load, away from the measured core. */
export function pinOurselves(): void {
  pin(process.pid, otherCores)
}

/** Starts the service, or a program of `programs/`, on the measured core. */
export async function startMeasured(options: StartOptions): Promise<RunningService> {
  const running = await startService(options)
  pin(running.pid, measuredCore)
  return running
}

/** Lets a process, and all that it starts from now on, run on every core. */
export function pinNowhere(pid: number): void {
  pin(pid, allCores)
}

/** Starts a program of `programs/` away from the measured core. */
export async function startBeside(name: string, args: Record<string, string> = {}) {
  const running = await startService({ program: programPath(name), env: args })
  pin(running.pid, otherCores)
  return running
}

export function programPath(name: string): string {
  return join(import.meta.dirname, 'programs', `${name}.ts`)
}

/** Stops all processes but these, so that they do not work in the background. */
export function leaveAlone(these: readonly RunningService[], all: readonly RunningService[]): void {
  for (const one of all) process.kill(one.pid, these.includes(one) ? 'SIGCONT' : 'SIGSTOP')
}

export function wakeAll(all: readonly RunningService[]): void {
  for (const { pid } of all) process.kill(pid, 'SIGCONT')
}

/** The CPU time that a process has used, in microseconds, in steps of 10 ms. Linux only. */
export function cpuMicroseconds(pid: number): number {
  const fields = statOf(String(pid))
  return (Number(fields[11]) + Number(fields[12])) * 10_000
}

/** The same of a process and its children, with those that have ended. Linux only. */
export function cpuMicrosecondsOfAll(pid: number): number {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  let ticks = 0
  for (const one of pids) {
    const fields = statOf(one)
    const isParent = Number(one) === pid
    if (!isParent && Number(fields[1]) !== pid) continue
    ticks += Number(fields[11]) + Number(fields[12])
    // What its ended children have used.
    if (isParent) ticks += Number(fields[13]) + Number(fields[14])
  }
  return ticks * 10_000
}

/** The fields of a process after its name; empty when it has ended. */
function statOf(pid: string): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  } catch {
    return []
  }
}

/** Whether the system keeps the peak of a process's memory, as Linux does. */
export const isPeakKnown = existsSync('/proc/self/status')

/** The peak of a process's memory in bytes, or its present memory where the peak is not known. */
export function peakBytes(pid: number): number {
  if (!isPeakKnown) return presentBytes(pid)
  const kilobytes = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kilobytes) * 1024
}

/** The present memory of a process in bytes. */
export function presentBytes(pid: number): number {
  return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) * 1024
}
