import { InvalidArgumentError } from '@commander-js/extra-typings'
import type { Millis } from '../signup/signup.ts'

/** The order of day and month in dates with slashes. */
export type DateOrder = 'day-first' | 'month-first'

/** A little more than the time zones differ, as many files leave them out. */
const aheadMaxMs = 24 * 60 * 60 * 1000

const yearFirst = /^(?<year>\d{4})-(?<month>\d{1,2})-(?<day>\d{1,2})$/
const dayFirst = /^(?<day>\d{1,2})([./])(?<month>\d{1,2})\2(?<year>\d{4})$/
const monthFirst = /^(?<month>\d{1,2})\/(?<day>\d{1,2})\/(?<year>\d{4})$/
const clockTime =
  /^(\d{1,2})(:\d\d)(:\d\d(?:\.\d{1,9})?)?(?: ?([AP])M)?(?:Z| UTC| GMT| ?([+-]\d\d):?(\d\d))?$/i

/**
 * Reads a moment: `2026-11-20T10:00:00.000Z`, `2026-11-20 10:00`, `20.11.2026 10:00:00`, and with an order
 * `11/20/2026 10:00 AM`. Without a time it is midnight; without a zone it is UTC. Returns what is wrong
 * instead, without the text.
 */
export function readMoment(
  text: string,
  now: Millis,
  order?: DateOrder,
): Millis | { readonly problem: string } {
  const [date = '', time = '0:00'] = text.trim().split(/[T ]\s*(.+)/)
  if (order === undefined && date.includes('/') && dayFirst.test(date)) {
    return {
      problem:
        'Nobody can tell day and month of the timestamp apart: say --dates day-first or --dates month-first.',
    }
  }
  const at = readDate(date, order === 'month-first' ? monthFirst : dayFirst) + readTime(time)
  if (Number.isNaN(at)) {
    return {
      problem: 'The timestamp must be a date such as 2026-11-20, or 2026-11-20 10:00:00.',
    }
  }
  if (at < 0) return { problem: 'The timestamp is before 1970.' }
  if (at > now + aheadMaxMs) return { problem: 'The timestamp is in the future.' }
  return at
}

/** Midnight in UTC of a day that exists; otherwise NaN. */
function readDate(text: string, withSlashes: RegExp): Millis {
  const found = yearFirst.exec(text) ?? withSlashes.exec(text) ?? dayFirst.exec(text)
  const { year, month, day } = found?.groups ?? {}
  const at = Date.UTC(Number(year), Number(month) - 1, Number(day))
  // Date.UTC takes the 31st of February for a day in March.
  return new Date(at).getUTCMonth() === Number(month) - 1 ? at : NaN
}

/** Milliseconds since midnight in UTC: of a time of day with its zone. NaN when there is no such time. */
function readTime(text: string): Millis {
  const found = clockTime.exec(text) ?? []
  const [, hours, minutes, seconds = ':00', half, zoneHours = '+00', zoneMinutes = '00'] = found
  const given = Number(hours)
  if (half === undefined ? given > 23 : given < 1 || given > 12) return NaN
  // The hour of "12 AM" is 0, and that of "12 PM" is 12.
  const hour = half === undefined ? given : (given % 12) + (half.toLowerCase() === 'p' ? 12 : 0)
  const padded = String(hour).padStart(2, '0')
  return Date.parse(`1970-01-01T${padded}${minutes}${seconds}${zoneHours}:${zoneMinutes}`)
}

/** Parses the date or moment that an option gives. */
export function parseMoment(text: string): Millis {
  const at = readMoment(text, Infinity)
  if (typeof at === 'number') return at
  throw new InvalidArgumentError(
    'Give a date like 2026-11-20, or a time like 2026-11-20T10:00:00Z.',
  )
}
