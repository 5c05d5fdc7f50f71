import type { HttpHeaders } from '../platform/http-exchange.ts'
/** Longest wait that is granted, in seconds. */
const waitSecondsMax = 30

/** One preference with its parameters: commas in a quoted text do not end it. */
const preferences = /(?:[^,"]|"(?:[^"\\]|\\.)*"?)+/g

/**
 * How many seconds the client would wait for the row to be written, by the `wait` preference of RFC
 * 7240; undefined when it would not. The first `wait` counts; one that is no whole number is ignored.
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
