import { expiredFact } from '../journal/contracts/erasure.ts'
import type { Journal } from '../journal/contracts/journal.ts'
import type { Reader } from '../journal/contracts/reader.ts'
import { type Clock, day, hour, minute } from '../platform/clock.ts'
import type { Millis } from '../signup/signup.ts'

/** How long to rest after each slice, so that intake and delivery go first. */
const restMs = 20
/** How often old cells of signups are looked for, and how often those beside the list. */
const [signupsEvery, sweepsEvery] = [hour, minute]

/**
 * Erases cells whose time is over, a slice at a time: every hour those of signups that were written more than
 * `days` ago, unless that is 0, and every minute those of pending ones. Disposing ends it.
 */
export function startRetention(
  journal: Pick<Journal, 'retention' | 'erasure' | 'confirmation' | 'time'>,
  days: number,
  clock: Pick<Clock, 'now' | 'sleep'>,
  log: { warn(details: object, message: string): void },
): AsyncDisposable {
  const { retention, erasure, confirmation, time } = journal
  const stopping = new AbortController()
  const { signal } = stopping

  const now = () => (time ?? clock).now()

  async function all(slice: () => Promise<boolean>): Promise<void> {
    while (!signal.aborted && (await slice())) await clock.sleep(restMs, signal)
  }

  /** @param rounds how often it ran before */
  async function expireAll(rounds: number): Promise<void> {
    if (days > 0) {
      const before = now() - days * day
      await all(() => retention.expire(before))
    }
    if (rounds % 24 === 0) await erasure.scrub()
  }

  async function every(pauseMs: Millis, work: (rounds: number) => Promise<void>): Promise<void> {
    for (let rounds = 0; !signal.aborted; rounds++) {
      try {
        await work(rounds)
      } catch (error) {
        log.warn({ err: error }, 'old signups were not erased from the journal: tried again later')
      }
      await clock.sleep(pauseMs, signal)
    }
  }

  const running = Promise.all([
    every(signupsEvery, expireAll),
    every(sweepsEvery, () => all(() => confirmation.sweep(now()))),
  ])
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
