/** Time as the program sees it; passed in, so that a simulation can own it. Milliseconds throughout. */
export interface Clock {
  /** Wall clock, since the Unix epoch. May jump either way. */
  now(): number
  /** Never jumps, never runs backwards; its zero means nothing. */
  elapsed(): number
  /** Resolves after `ms`, or as soon as `signal` aborts; never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** A number in [0, 1), as `Math.random`. */
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
