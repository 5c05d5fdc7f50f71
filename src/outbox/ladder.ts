import { type Clock, hour, minute, type Random, second } from '../platform/clock.ts'
import type { Millis } from '../signup/signup.ts'

const pauseMaxMs = 2 * hour
const probeMaxMs = 5 * minute
/** The pauses between so many tries take a day, give or take two hours. No jump of a clock changes that. */
export const triesMax = 27

/**
 * 5 s after the first try, twice as long after each further one, and at most 2 hours; a half is jitter. Whole
 * milliseconds, as the journal keeps no others.
 */
export function pauseMs(tries: number, random: Random, maxMs = pauseMaxMs): Millis {
  const ceiling = Math.min(maxMs, 5 * second * 2 ** Math.min(tries - 1, 30))
  return Math.round((ceiling * (1 + random())) / 2)
}

/** The same for a server that takes nothing at all: at most 5 minutes, so that it is missed for no longer. */
export function probePauseMs(failures: number, random: Random): Millis {
  return pauseMs(failures, random, probeMaxMs)
}

const webhookPauses = [5 * second, minute, 3 * hour, 21 * hour]

/** The pause after so many tries, and up to a tenth more; undefined after the fifth, a day after the first. */
export function webhookPauseMs(tries: number, random: Random): Millis | undefined {
  const pause = webhookPauses[tries - 1]
  return pause === undefined ? undefined : withTenth(pause, random)
}

const rests = [5 * second, minute, 5 * minute, 30 * minute]

/** How long an endpoint rests that takes nothing, for the so manieth time in a row, and up to a tenth more. */
export function webhookRestMs(time: number, random: Random): Millis {
  return withTenth(rests[time - 1] ?? hour, random)
}

function withTenth(pause: Millis, random: Random): Millis {
  return Math.round(pause * (1 + random() / 10))
}

/** A wall clock that never runs backwards, so that one that was set back makes nothing wait for longer. */
export function steadyTime(clock: Pick<Clock, 'elapsed'>, time: Pick<Clock, 'now'>): () => Millis {
  let last = { at: -Infinity, elapsed: 0 }
  return () => {
    const elapsed = clock.elapsed()
    const at = Math.max(time.now(), Math.floor(last.at + elapsed - last.elapsed))
    last = { at, elapsed }
    return at
  }
}
