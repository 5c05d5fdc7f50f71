import type { GoogleConfig } from '../config/google.ts'
import type { Reader } from '../journal/contracts/reader.ts'
import type { Millis } from '../signup/signup.ts'

const minute = 60 * 1000
const day = 24 * 60 * minute

/** How many calls a window takes, and how many of them are left. */
export interface Window {
  readonly limit: number
  readonly left: number
}

/** The calls of an account that are left in the minute and in the day that end now. */
export async function quotaLeft(
  { credentials, quota }: GoogleConfig,
  reader: Pick<Reader, 'callsSince'>,
  now: Millis,
): Promise<{ readonly perMinute: Window; readonly perDay: Window }> {
  const window = async (limit: number, ms: Millis) => {
    const used = await reader.callsSince(credentials.email, now - ms)
    return { limit, left: Math.max(0, limit - used) }
  }
  return {
    perMinute: await window(quota.perMinute, minute),
    perDay: await window(quota.perDay, day),
  }
}
