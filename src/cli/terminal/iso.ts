import type { Millis } from '../../signup/signup.ts'

/** ISO 8601 in UTC, as all JSON of the command line has it. */
export function iso(at: Millis): string {
  return new Date(at).toISOString()
}
