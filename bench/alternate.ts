import type { RunningService } from '../harness/start-service.ts'
import { cpuMicroseconds, leaveAlone, wakeAll } from './processes.ts'
import { median, type Sizes } from './scenario.ts'

/** Measures one process for a while; resolves with a rate. */
export type Slice = (url: string, seconds: number) => Promise<number>

export interface Subject {
  readonly service: RunningService
  /** Processes that share its work. */
  readonly others?: readonly RunningService[]
  readonly slice: Slice
  /** The load before each measurement that does not count: who stood still comes back to work. 0 by default. */
  readonly settleSeconds?: number
}

/**
 * Measures two subjects in turn, A, B, A, B, so that other load on the machine slows both. The process
 * that is not being measured is stopped. Resolves with the rates of each, and with the CPU time of one
 * request, which a busy machine changes less.
 */
export async function alternate(a: Subject, b: Subject, sizes: Sizes) {
  const all = [...servicesOf(a), ...servicesOf(b)]
  const of = { a: new Series(a), b: new Series(b) }
  const measure = (series: Series, seconds: number) => {
    leaveAlone(servicesOf(series.subject), all)
    return series.measure(seconds)
  }
  try {
    for (const series of [of.a, of.b]) {
      if (sizes.warmUpSeconds > 0) await measure(series, sizes.warmUpSeconds)
      series.clear()
    }
    for (let round = 0; round < sizes.rounds; round++) {
      await measure(of.a, sizes.sliceSeconds)
      await measure(of.b, sizes.sliceSeconds)
    }
  } finally {
    wakeAll(all)
  }
  return { a: of.a.rates, b: of.b.rates, cpu: { a: of.a.cpu, b: of.b.cpu } }
}

function servicesOf({ service, others = [] }: Subject): readonly RunningService[] {
  return [service, ...others]
}

/** The measurements of one subject. */
class Series {
  readonly subject: Subject
  readonly rates: number[] = []
  /** Microseconds of CPU time for one request, or for one signup where the rate counts signups. */
  readonly cpu: number[] = []

  constructor(subject: Subject) {
    this.subject = subject
  }

  async measure(seconds: number): Promise<void> {
    const { service, slice, settleSeconds = 0 } = this.subject
    if (settleSeconds > 0) await slice(service.url, settleSeconds)
    const before = this.#cpu()
    const rate = await slice(service.url, seconds)
    this.rates.push(rate)
    this.cpu.push((this.#cpu() - before) / (rate * seconds))
  }

  #cpu(): number {
    return servicesOf(this.subject).reduce((sum, { pid }) => sum + cpuMicroseconds(pid), 0)
  }

  clear(): void {
    this.rates.length = 0
    this.cpu.length = 0
  }
}

/** The median rates and CPU times of both, as text for the table. */
export function inWords(
  { a, b, cpu }: Awaited<ReturnType<typeof alternate>>,
  what = 'signups',
): string {
  const [slow, fast] = [median(b), median(a)].map(Math.round)
  const micro = [cpu.b, cpu.a].map((times) => median(times).toFixed(1))
  return `${slow} ${what}/s against ${fast}; CPU ${micro.join(' against ')} µs each`
}

/** The rate of B divided by that of A, for each round. */
export function ratios({ a, b }: { readonly a: readonly number[]; readonly b: readonly number[] }) {
  return b.map((rate, round) => rate / (a[round] ?? Number.NaN))
}
