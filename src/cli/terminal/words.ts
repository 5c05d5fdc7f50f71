import type { Millis } from '../../signup/signup.ts'

/** A number as people read it: "12,345". */
export function digits(count: number): string {
  return count.toLocaleString('en-US')
}

/** A number of things in words: "1 signup", "12,345 signups". */
export function counted(count: number, thing: string): string {
  return `${digits(count)} ${thing}${count === 1 ? '' : 's'}`
}

/** ISO 8601 in UTC, as all JSON of the command line has it. */
export function iso(at: Millis): string {
  return new Date(at).toISOString()
}
