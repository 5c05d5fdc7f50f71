import type { HttpHeaders } from '../platform/http-exchange.ts'
/** The longest wait that is granted, in seconds. */
const waitSecondsMax = 30

/** Matches one preference with its parameters. Commas in a quoted text do not end it. */
const preferences = /(?:[^,"]|"(?:[^"\\]|\\.)*"?)+/g

/**
 * How many seconds the client wants to wait for the row, from the `wait` preference (RFC 7240);
 * undefined when it does not want to wait. The first `wait` counts; it is ignored unless it is a whole
 * number.
 */
export function preferredWait(headers: HttpHeaders): number | undefined {
  const header = headers.get('prefer')
  if (header === null) return undefined
  const given = header.match(preferences) ?? []
  const wait = given.find((preference) => /^\s*wait\s*(?:[=;]|$)/i.test(preference))
  const [, bare, quoted] = /^\s*wait\s*=\s*(?:(\d+)|"(\d+)")\s*(?:;|$)/i.exec(wait ?? '') ?? []
  const seconds = Math.min(waitSecondsMax, Number(bare ?? quoted ?? 0))
  return seconds > 0 ? seconds : undefined
}
