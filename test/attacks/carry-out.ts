import { isPeakKnown, peakBytes } from '../../bench/processes.ts'
import { measure, measuredProgram } from '../../harness/measure.ts'
import { startService } from '../../harness/start-service.ts'
import type { Attack, Counts, Size } from './attack.ts'
import { Bystander, signUp } from './bystander.ts'

export interface Report {
  readonly counts: Counts
  /** The longest time that another visitor waited for an answer during the attack. */
  readonly slowestMs: number
  /** The time of an ordinary signup after the attack. */
  readonly afterMs: number
  readonly peakBytes: number
}

const defaultPeakBytesMax = 300 * 1024 * 1024
/** Processor time. A signup takes some milliseconds, and the end of the attack takes a little more. */
const afterMsMax = 500

/**
 * Runs an attack against a fresh process of the service. Rejects when the process ended, took too much
 * memory, refused other visitors, was slow to take a signup afterwards, or failed unexpectedly.
 */
export async function carryOut(attack: Attack, size: Size): Promise<Report> {
  await using started = new AsyncDisposableStack()
  const settings = await attack.settings?.(started)
  const env = { LOG_LEVEL: 'warn', ...settings }
  const service = started.use(await startService({ program: measuredProgram, env }))
  const ended = service.exited.then((code) => {
    throw new Error(
      `the process ended with code ${String(code)}:\n${service.output().slice(-4000)}`,
    )
  })
  const bystander = new Bystander(service.url)
  const counts = await Promise.race([attack.run(service, size), ended])
  const slowestMs = await Promise.race([bystander.leave(), ended])
  await measure(service)
  const report = {
    counts,
    slowestMs,
    afterMs: await signUp(service.url),
    peakBytes: peakBytes(service.pid),
  }
  const most = attack.peakBytesMax ?? defaultPeakBytesMax
  const { processorMs } = await measure(service)
  // Without the peak, the memory at the end says little.
  if (isPeakKnown) expectAtMost(most, report.peakBytes, 'bytes of memory were taken')
  expectAtMost(afterMsMax, processorMs, 'ms of work were needed for a signup afterwards')
  if (service.output().includes('failed unexpectedly')) {
    throw new Error(`a request failed unexpectedly:\n${service.output().slice(0, 4000)}`)
  }
  ended.catch(() => {})
  expectAtMost(0, (await service.stop()) ?? 1, 'was its exit code')
  return report
}

function expectAtMost(most: number, value: number, what: string): void {
  if (value > most) throw new Error(`${Math.ceil(value)} ${what}, over ${most}`)
}
