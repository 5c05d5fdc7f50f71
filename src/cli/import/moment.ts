import type { Millis } from '../../signup/signup.ts'

/** The order of day and month in dates with slashes. */
export type DateOrder = 'day-first' | 'month-first'

/** A little more than the time zones differ, as many files leave them out. */
const aheadMaxMs = 24 * 60 * 60 * 1000

const yearFirst = /^(\d{4})-(\d{1,2})-(\d{1,2})$/
const withDots = /^(\d{1,2})\.(\d{1,2})\.(\d{4})$/
const withSlashes = /^(\d{1,2})\/(\d{1,2})\/(\d{4})$/
const clockTime = /^(\d{1,2}):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(?: ?([AaPp])[Mm])?$/
const zone = /(?:Z| UTC| GMT| ?[+-]\d\d:?\d\d)$/

/**
 * A day number of Excel, with the time of day as a fraction: five digits are days from 1927 to 2173. Excel
 * counts from 1900 and takes it for a leap year. So since March 1900 its days are those since 1899-12-30.
 */
const dayNumber = /^(\d{5})(?:[.,](\d{1,15}))?$/
const dayMs = 24 * 60 * 60 * 1000
const dayNumberOf1970 = 25_569

/**
 * Reads a moment: `2026-11-20T10:00:00.000Z`, `2026-11-20 10:00`, `20.11.2026 10:00:00`, with an order
 * `11/20/2026 10:00 AM`, and `46346.5`, a day number of Excel. Without a time it is midnight; without a zone it
 * is UTC. Returns what is wrong instead, without the text.
 */
export function readMoment(
  text: string,
  now: Millis,
  order: DateOrder | undefined,
): Millis | { readonly problem: string } {
  const [date = '', rest = ''] = splitDate(text.trim())
  if (withSlashes.test(date) && order === undefined) return { problem: needsOrder }
  const day = rest === '' && dayNumber.test(date) ? readDayNumber(date) : readDate(date, order)
  const time = rest === '' ? 0 : readTime(rest)
  if (day === undefined || time === undefined) return { problem: wrongForm }
  const at = day + time
  if (at < 0) return { problem: 'The timestamp is before 1970.' }
  if (at > now + aheadMaxMs) return { problem: 'The timestamp is in the future.' }
  return at
}

const wrongForm = 'The timestamp must be a date such as 2026-11-20, or 2026-11-20 10:00:00.'
const needsOrder =
  'Nobody can tell day and month of the timestamp apart: say --dates day-first or --dates month-first.'

function splitDate(text: string): string[] {
  const at = text.search(/[T ]/)
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1).trim()]
}

function readDayNumber(text: string): Millis {
  const [, day = '', fraction = ''] = dayNumber.exec(text) ?? []
  return (Number(day) - dayNumberOf1970) * dayMs + Math.round(Number(`0.${fraction}`) * dayMs)
}

/** Midnight in UTC of a day that exists. */
function readDate(text: string, order: DateOrder | undefined): Millis | undefined {
  const [, ...iso] = yearFirst.exec(text) ?? []
  const [, ...dots] = withDots.exec(text) ?? []
  const [, ...slashes] = withSlashes.exec(text) ?? []
  const european = order === 'month-first' ? [] : slashes
  const american = order === 'month-first' ? slashes : []
  const parts = [iso, dots.toReversed(), european.toReversed(), american].find(
    (found) => found.length > 0,
  )
  if (!parts) return undefined
  const [first = 0, second = 0, third = 0] = parts.map(Number)
  const [year, month, date] = parts === american ? [third, first, second] : [first, second, third]
  const at = Date.UTC(year, month - 1, date)
  const day = new Date(at)
  return day.getUTCMonth() === month - 1 && day.getUTCDate() === date ? at : undefined
}

/** Milliseconds since midnight in UTC: of a time of day with its zone. */
function readTime(text: string): Millis | undefined {
  const [suffix = ''] = zone.exec(text) ?? []
  const found = clockTime.exec(text.slice(0, text.length - suffix.length))
  if (!found) return undefined
  const [, hours = '', minutes = '', seconds = '0', fraction = '', half] = found
  const hour = half === undefined ? Number(hours) : hourOfHalf(Number(hours), half)
  if (hour === undefined || hour > 23 || Number(minutes) > 59 || Number(seconds) > 59)
    return undefined
  const millis = Number(fraction.slice(0, 3).padEnd(3, '0'))
  const ofDay = ((hour * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000 + millis
  return ofDay - offsetOf(suffix)
}

/** The hour of "12 AM" is 0, and that of "12 PM" is 12. */
function hourOfHalf(hour: number, half: string): number | undefined {
  if (hour < 1 || hour > 12) return undefined
  return (hour % 12) + (half.toLowerCase() === 'p' ? 12 : 0)
}

function offsetOf(suffix: string): Millis {
  const [, sign = '+', hours = '0', minutes = '0'] = /([+-])(\d\d):?(\d\d)/.exec(suffix) ?? []
  const offset = (Number(hours) * 60 + Number(minutes)) * 60 * 1000
  return sign === '-' ? -offset : offset
}
