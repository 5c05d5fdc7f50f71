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
  const told = service.output().length
  process.kill(service.pid, 'SIGUSR2')
  for (;;) {
    const answer = /measured: (\d+) ms longest turn, (\d+) ms in all\n/
    const found = answer.exec(service.output().slice(told))
    if (found) return { longestTurnMs: Number(found[1]), processorMs: Number(found[2]) }
    await sleep(1)
  }
}
