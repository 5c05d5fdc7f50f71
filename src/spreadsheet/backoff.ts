import { hour, minute, type Random, second } from '../platform/clock.ts'
import type { Millis } from '../signup/signup.ts'

/** Google's guide on Sheets limits recommends a ceiling of 32 or 64 seconds. */
const backoffMax = 64 * second

/**
 * How long to wait before try number `attempt` + 1: exponential with full jitter, and never shorter
 * than what the provider asked for. `afterMs` of 0 makes the first retry immediate.
 */
export function backoffMs(attempt: number, afterMs: Millis | undefined, random: Random): Millis {
  if (attempt === 1 && afterMs === 0) return 0
  const ceiling = Math.min(backoffMax, second * 2 ** (attempt - 1))
  return Math.max(afterMs ?? 0, random() * ceiling)
}

/**
 * How long to wait before the next try while delivery is blocked: 5 s at first, at most 30 s in the
 * first hour, 5 minutes later.
 */
export function blockedRetryMs(attempt: number, blockedForMs: Millis): Millis {
  if (blockedForMs >= hour) return 5 * minute
  return Math.min(30 * second, 5 * second * 2 ** (attempt - 1))
}
