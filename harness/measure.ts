import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { projectRoot } from './source-file.ts'
import type { RunningService } from './start-service.ts'

/** The program to start instead of the service, for `measure`. */
export const measuredProgram = join(projectRoot, 'harness/measured-child.ts')

/** Processor time of the service's main thread, in milliseconds. */
export interface Measured {
  /** Of the longest turn of its event loop, in which it serves nobody else. */
  readonly longestTurnMs: number
  readonly processorMs: number
}

/** What a service that was started by `measuredProgram` has needed since this was asked last. */
export async function measure({
  pid,
  output,
}: Pick<RunningService, 'pid' | 'output'>): Promise<Measured> {
  const told = output().length
  process.kill(pid, 'SIGUSR2')
  for (;;) {
    const found = /measured: (\d+) ms longest turn, (\d+) ms in all\n/.exec(output().slice(told))
    if (found) return { longestTurnMs: Number(found[1]), processorMs: Number(found[2]) }
    await sleep(1)
  }
}
