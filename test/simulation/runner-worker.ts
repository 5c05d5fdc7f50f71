import { parentPort, workerData } from 'node:worker_threads'

import { runSchedule } from './world.ts'

/** The seeds of one worker: every `step`-th from `first`, before `end`. */
export interface Share {
  readonly first: number
  readonly step: number
  readonly end: number
}

export interface Report {
  readonly runs: number
  readonly failures: readonly { readonly seed: number; readonly violation: string }[]
  readonly counts: ReadonlyMap<string, number>
}

/** A worker stops after this many failures: there is enough to look at. */
const failuresMax = 5

async function run({ first, step, end }: Share): Promise<Report> {
  const failures: { seed: number; violation: string }[] = []
  const counts = new Map<string, number>()
  let runs = 0
  for (let seed = first; seed < end && failures.length < failuresMax; seed += step) {
    const result = await runSchedule(seed)
    runs += 1
    if (result.violation) failures.push({ seed, violation: result.violation })
    for (const [event, count] of result.counts) counts.set(event, (counts.get(event) ?? 0) + count)
  }
  return { runs, failures, counts }
}

parentPort?.postMessage(await run(workerData as Share))
