import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { projectRoot } from './source-file.ts'
import type { RunningService } from './start-service.ts'

/** A program that runs the service and answers the functions below. */
export const measuredProgram = join(projectRoot, 'harness/measured-child.ts')

type Service = Pick<RunningService, 'pid' | 'output'>

/** Processor time of the service's main thread, in milliseconds. */
export interface Measured {
  /** The longest turn of the event loop. During a turn, the service serves nobody else. */
  readonly longestTurnMs: number
  readonly processorMs: number
}

/** The processor time that the service has used since the last call of this function. */
export async function measure(service: Service): Promise<Measured> {
  const told = await ask(service, 'SIGUSR2', /measured: (\d+) ms longest turn, (\d+) ms in all\n/)
  return { longestTurnMs: Number(told[1]), processorMs: Number(told[2]) }
}

/** The memory that the service uses, in bytes, without garbage. */
export async function memoryInUse(service: Service): Promise<number> {
  const told = await ask(service, 'SIGHUP', /measured: (\d+) bytes in use\n/)
  return Number(told[1])
}

async function ask({ pid, output }: Service, signal: NodeJS.Signals, answer: RegExp) {
  const told = output().length
  process.kill(pid, signal)
  for (;;) {
    const found = answer.exec(output().slice(told))
    if (found) return found
    await sleep(1)
  }
}
