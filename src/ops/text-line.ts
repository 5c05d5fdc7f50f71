import pino from 'pino'
import { visible } from '../platform/visible.ts'

/** A line of the log as pino writes it. */
interface LogLine {
  readonly time: string
  readonly level: number
  readonly msg?: string
  readonly err?: { readonly stack?: string }
  readonly [field: string]: unknown
}

/** By the number of the level: red from `error` on, yellow, green, blue, and grey below `debug`. */
const colours: Readonly<Record<number, number>> = { 60: 31, 50: 31, 40: 33, 30: 32, 20: 34 }

/**
 * A line of the log for people: time of day, level, message, fields; the stack of an error on lines of its
 * own. No control character of a value gets into it.
 *
 * @param json one line of JSON, as pino writes it
 */
export function textLine(json: string, hasColours: boolean): string {
  const { time, level, msg = '', err, ...fields } = JSON.parse(json) as LogLine
  const paint = (text: string, colour: number) =>
    hasColours ? `\u001b[${colour}m${text}\u001b[0m` : text
  const name = (pino.levels.labels[level] ?? '').toUpperCase().padEnd(5)
  const rest = Object.entries(fields).map(([key, value]) => {
    return `  ${paint(`${visible(key)}=`, 36)}${valueText(value)}`
  })
  const stack = (err?.stack ?? '').split('\n').filter((line) => line !== '')
  const below = stack.map((line) => `\n    ${visible(line)}`)
  const beginning = `${paint(timeOfDay(time), 90)} ${paint(name, colours[level] ?? 90)}`
  return `${beginning} ${visible(msg)}${rest.join('')}${below.join('')}\n`
}

/** The local time, with milliseconds. */
function timeOfDay(iso: string): string {
  return new Date(iso).toTimeString().slice(0, 8) + iso.slice(19, 23)
}

/** Quotes what a reader could not tell from the words around it. */
function valueText(value: unknown): string {
  if (typeof value === 'string' && /^[\w.:/@%+-]+$/.test(value)) return value
  return visible(JSON.stringify(value))
}
