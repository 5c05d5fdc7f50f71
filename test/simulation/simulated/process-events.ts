import { createEvents, type Events } from '../../../src/ops/events.ts'
import type { Health } from '../../../src/ops/health.ts'
import { createLog } from '../../../src/ops/log.ts'
import type { Clock } from '../../../src/platform/clock.ts'

export interface ProcessEventsOptions {
  readonly health: Health
  readonly clock: Clock
  /** Adds an event to the trace. */
  readonly note: (event: string, detail: string) => void
  /** Called with an error that the writer does not know. */
  readonly onFailure: (error: unknown) => void
}

const silent = createLog('silent')

/** The events of a process: they change its health as in the product, and are in the trace. */
export function processEvents(options: ProcessEventsOptions): Events {
  const { health, clock, note, onFailure } = options
  const { mail, ...told } = createEvents(silent, health, clock)
  const names = Object.keys(told) as (keyof typeof told)[]
  const traced = names.map((name) => [
    name,
    (...values: readonly unknown[]) => {
      Reflect.apply(told[name], told, values)
      if (name === 'deliveryFailed') onFailure(values[0])
      // Leaves out marker ids: the journal draws them at random, so they differ between runs of a seed.
      note(name, name === 'deliveryOddity' ? '' : values.map(wordsOf).join(', '))
    },
  ])
  return { ...(Object.fromEntries(traced) as typeof told), mail }
}

export function wordsOf(value: unknown): string {
  if (value instanceof Error) return value.message
  return value === undefined ? '' : JSON.stringify(value)
}
