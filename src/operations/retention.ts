import { expiredFact } from '../journal/contracts/erasure.ts'
import type { Journal } from '../journal/contracts/journal.ts'
import type { Reader } from '../journal/contracts/reader.ts'
import { type Clock, day, hour } from '../platform/clock.ts'

/** How long to rest after each slice, so that intake and delivery go first. */
const restMs = 20

/**
 * Expires the cells of signups that were written more than `days` ago: now and every hour, a slice at a
 * time. Disposing ends it. Does nothing with 0 days.
 */
export function startRetention(
  { retention, erasure, time }: Pick<Journal, 'retention' | 'erasure' | 'time'>,
  days: number,
  clock: Pick<Clock, 'now' | 'sleep'>,
  log: { warn(details: object, message: string): void },
): AsyncDisposable {
  const stopping = new AbortController()
  const { signal } = stopping

  /** Rounds since what was erased was cleaned up. */
  let rounds = 0

  async function expireAll(): Promise<void> {
    const before = (time ?? clock).now() - days * day
    while (!signal.aborted && (await retention.expire(before))) await clock.sleep(restMs, signal)
    // With DUPLICATES=ignore it stops this process for a second or more for each million signups.
    if (rounds++ % 24 === 0) await erasure.scrub()
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      try {
        await expireAll()
      } catch (error) {
        log.warn(
          { err: error },
          'old signups were not erased from the journal: tried again in an hour',
        )
      }
      await clock.sleep(hour, signal)
    }
  }

  const running = days > 0 ? run() : Promise.resolve()
  return {
    [Symbol.asyncDispose]: async () => {
      stopping.abort()
      await running
    },
  }
}

/**
 * Up to when the journal has lost the cells of written signups by `RETENTION_DAYS`: ISO 8601 in UTC. Null
 * when it has all.
 */
export async function expiredUpTo(reader: Pick<Reader, 'fact'>): Promise<string | null> {
  const fact = await reader.fact(expiredFact)
  return fact === undefined ? null : new Date(Number(fact)).toISOString()
}
