import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'

import type { Report, Share } from './runner-worker.ts'

/** The results of many runs. */
export interface Summary {
  readonly runs: number
  /** Seeds whose run broke an invariant, and that invariant. */
  readonly failures: readonly { readonly seed: number; readonly violation: string }[]
  /** How often each event happened in all runs together. */
  readonly counts: ReadonlyMap<string, number>
}

/** Processes that were killed in a schedule wait for ever and keep 50 kB, so a worker ends after this many. */
const runsPerWorker = 10_000

/** With less, a tenth of the time goes into moving what is still in use. */
const youngMegabytes = 64

/** Runs the schedules of `runs` seeds from `seed` on, on all processors. */
export async function runSchedules(seed: number, runs: number): Promise<Summary> {
  const workers = Math.min(runs, availableParallelism())
  const reports: Report[] = []
  for (let first = seed; first < seed + runs; first += workers * runsPerWorker) {
    const end = Math.min(seed + runs, first + workers * runsPerWorker)
    const shares = Array.from({ length: workers }, (_, index) =>
      runShare({ first: first + index, step: workers, end }),
    )
    reports.push(...(await Promise.all(shares)))
  }
  const counts = new Map<string, number>()
  for (const report of reports) {
    for (const [event, count] of report.counts) counts.set(event, (counts.get(event) ?? 0) + count)
  }
  const failures = reports.flatMap((report) => report.failures)
  return {
    runs: reports.reduce((sum, report) => sum + report.runs, 0),
    failures: failures.toSorted((left, right) => left.seed - right.seed),
    counts,
  }
}

/** The command that runs one seed again and prints what happens. */
export function replayCommand(seed: number): string {
  return `npm run simulate -- --seed ${seed}`
}

async function runShare(share: Share): Promise<Report> {
  const worker = new Worker(new URL('./runner-worker.ts', import.meta.url), {
    workerData: share,
    resourceLimits: { maxYoungGenerationSizeMb: youngMegabytes },
  })
  const [report] = (await once(worker, 'message')) as [Report]
  await worker.terminate()
  return report
}
