/** Tells the time in milliseconds. It is passed in, so that a simulation can control the time. */
export interface Clock {
  /** The wall clock, since the Unix epoch. May jump forwards or backwards. */
  now(): number
  /** Milliseconds since an arbitrary moment. Never jumps and never runs backwards. */
  elapsed(): number
  /** Resolves after `ms`, or as soon as `signal` aborts; never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

export const second = 1000
export const minute = 60 * second
export const hour = 60 * minute
export const day = 24 * hour

/** ISO 8601 in UTC, as all JSON has it. */
export function iso(at: number): string {
  return new Date(at).toISOString()
}

export function isoOrNull(at: number | undefined): string | null {
  return at === undefined ? null : iso(at)
}

/** A duration in milliseconds for people: in the largest unit of which there are two or more. */
export function inWords(ms: number): string {
  if (ms >= 2 * day) return `${Math.floor(ms / day)} days`
  if (ms >= 2 * hour) return `${Math.floor(ms / hour)} hours`
  if (ms >= 2 * minute) return `${Math.floor(ms / minute)} minutes`
  return `${Math.max(0, Math.round(ms / second))} seconds`
}

/** Returns a number in [0, 1), like `Math.random`. */
export type Random = () => number

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  sleep(ms, signal) {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve()
      const done = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', done)
        resolve()
      }
      const timer = setTimeout(done, ms)
      signal?.addEventListener('abort', done)
    })
  },
}

/** All that look so often look at the same moments, so that their looks can share a round trip. */
export function untilLook(clock: Pick<Clock, 'elapsed'>, everyMs: number): number {
  return 1.5 * everyMs - ((clock.elapsed() + everyMs / 2) % everyMs)
}

/**
 * Works at each look (`untilLook`), until it is disposed of, which waits for the work.
 *
 * @param failed gets what the work throws, which goes on all the same
 */
export function everySo(
  clock: Pick<Clock, 'elapsed' | 'sleep'>,
  everyMs: number,
  work: (signal: AbortSignal) => Promise<unknown>,
  failed: (error: unknown) => void,
): AsyncDisposable {
  const stopping = new AbortController()
  const { signal } = stopping
  const run = async () => {
    for (;;) {
      await clock.sleep(untilLook(clock, everyMs), signal)
      if (signal.aborted) return
      await work(signal).catch(failed)
    }
  }
  const running = run()
  return {
    [Symbol.asyncDispose]: async () => {
      stopping.abort()
      await running
    },
  }
}
