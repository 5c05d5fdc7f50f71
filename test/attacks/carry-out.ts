import { isPeakKnown, peakBytes } from '../../bench/processes.ts'
import { measure, measuredProgram } from '../../harness/measure.ts'
import { type RunningService, startService } from '../../harness/start-service.ts'
import { Bystander, signUp } from './bystander.ts'

/** `small` takes a few seconds and runs in `npm test`. `full` runs in `npm run test:long` and sends as much as an attacker would. */
export type Size = 'small' | 'full'

/** The attacked process, which `measuredProgram` has started. */
export type Target = Pick<RunningService, 'url' | 'pid' | 'output'>

/** One way to harm the service. Each attack has a fresh process. */
export interface Attack {
  /** What the attacker does, as the title of its test ends. */
  readonly what: string
  /** Settings of the service. Servers that they need are added to `started` and end with the attack. */
  settings?(started: AsyncDisposableStack): Promise<Readonly<Record<string, string>>>
  /** The most memory that the process may take during the attack, in bytes. Default 300 MiB. */
  readonly peakBytesMax?: number
  /**
   * Attacks, and resolves when all requests have ended. Rejects when an answer is wrong. `carryOut`
   * checks what every attack must leave unharmed.
   */
  run(target: Target, size: Size): Promise<void>
}

const defaultPeakBytesMax = 300 * 1024 * 1024
/** Processor time. A signup takes some milliseconds, and the end of the attack takes a little more. */
const afterMsMax = 500

/**
 * Runs an attack against a fresh process of the service. Rejects when the process ended, took too much
 * memory, refused other visitors, was slow to take a signup afterwards, or failed unexpectedly.
 */
export async function carryOut(attack: Attack, size: Size): Promise<void> {
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
  await Promise.race([attack.run(service, size), ended])
  await Promise.race([bystander.leave(), ended])
  await measure(service)
  await signUp(service.url)
  const peak = peakBytes(service.pid)
  const most = attack.peakBytesMax ?? defaultPeakBytesMax
  const { processorMs } = await measure(service)
  // Without the peak, the memory at the end says little.
  if (isPeakKnown) expectAtMost(most, peak, 'bytes of memory were taken')
  expectAtMost(afterMsMax, processorMs, 'ms of work were needed for a signup afterwards')
  if (service.output().includes('failed unexpectedly')) {
    throw new Error(`a request failed unexpectedly:\n${service.output().slice(0, 4000)}`)
  }
  ended.catch(() => {})
  expectAtMost(0, (await service.stop()) ?? 1, 'was its exit code')
}

function expectAtMost(most: number, value: number, what: string): void {
  if (value > most) throw new Error(`${Math.ceil(value)} ${what}, over ${most}`)
}
