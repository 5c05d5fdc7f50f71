import { visible } from '../platform/visible.ts'

/** A line of the log as pino writes it. */
interface LogLine {
  readonly time: string
  readonly level: number
  readonly msg?: string
  readonly err?: { readonly stack?: string }
  readonly [field: string]: unknown
}

const levels = [
  { from: 60, name: 'FATAL', colour: 31 },
  { from: 50, name: 'ERROR', colour: 31 },
  { from: 40, name: 'WARN', colour: 33 },
  { from: 30, name: 'INFO', colour: 32 },
  { from: 20, name: 'DEBUG', colour: 34 },
  { from: 0, name: 'TRACE', colour: 90 },
] as const

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
  const { name, colour } = levels.find(({ from }) => level >= from) ?? levels[5]
  const rest = Object.entries(fields).map(([key, value]) => {
    return `  ${paint(`${visible(key)}=`, 36)}${valueText(value)}`
  })
  const stack = (err?.stack ?? '').split('\n').filter((line) => line !== '')
  const below = stack.map((line) => `\n    ${visible(line)}`)
  const beginning = `${paint(timeOfDay(time), 90)} ${paint(name.padEnd(5), colour)}`
  return `${beginning} ${visible(msg)}${rest.join('')}${below.join('')}\n`
}

/** Of this machine. */
function timeOfDay(iso: string): string {
  const time = new Date(iso)
  const [hours, minutes, seconds] = [time.getHours(), time.getMinutes(), time.getSeconds()]
  const clock = [hours, minutes, seconds].map((part) => String(part).padStart(2, '0')).join(':')
  return `${clock}.${String(time.getMilliseconds()).padStart(3, '0')}`
}

/** Quotes what a reader could not tell from the words around it. */
function valueText(value: unknown): string {
  if (typeof value === 'string' && /^[\w.:/@%+-]+$/.test(value)) return value
  return visible(JSON.stringify(value))
}
