import { InvalidArgumentError } from '@commander-js/extra-typings'
import type { Millis } from '../signup/signup.ts'

const dateForm = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d))?$/

/** Parses a date, which begins at midnight in UTC, or a moment with its time zone. */
export function parseMoment(text: string): Millis {
  const at = dateForm.test(text) ? Date.parse(text) : NaN
  // Date.parse takes the 31st of February for a day in March.
  const day = text.slice(0, 10)
  if (Number.isNaN(at) || !new Date(Date.parse(day)).toISOString().startsWith(day)) {
    throw new InvalidArgumentError(
      'Give a date like 2026-11-20, or a time like 2026-11-20T10:00:00Z.',
    )
  }
  return at
}
