import type { Starting } from '../operations/journal-home.ts'
import type { Clock } from '../platform/clock.ts'

export interface Patience extends Starting {
  readonly clock: Clock
  readonly maxMs: number
  readonly restMs: number
  /** What the log is told at first, in the place of the error's message. */
  readonly told?: string
  /** Whether it may help to try again after this error. */
  readonly mayPass: (error: Error) => boolean
}

/**
 * Does what a start needs as soon as it can be done. Tells the log why it waits, once for each reason.
 *
 * @throws Error when it waits for too long, or waiting does not help; the message says what to do
 */
export async function patiently<T>(
  act: () => Promise<T>,
  { clock, maxMs, restMs, told: words, mayPass, log, stop }: Patience,
): Promise<T> {
  const until = clock.elapsed() + maxMs
  let told = ''
  for (;;) {
    try {
      return await act()
    } catch (error) {
      const leftMs = until - clock.elapsed()
      if (!(error instanceof Error) || !mayPass(error) || leftMs <= 0) throw error
      const seconds = Math.ceil(leftMs / 1000)
      if (error.message !== told) {
        log.warn(
          `${words ?? error.message} The start waits for it, for ${seconds} seconds at most.`,
        )
      }
      told = error.message
    }
    await clock.sleep(restMs, stop)
    stop?.throwIfAborted()
  }
}
