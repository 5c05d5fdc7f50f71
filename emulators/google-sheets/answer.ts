import type { ApiError } from './api-error.ts'

/** An HTTP answer. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** The recorded headers of the Sheets API, the same for errors and successes. */
const sheetsHeaders = {
  'Content-Type': 'application/json; charset=UTF-8',
  Vary: 'Origin, X-Origin, Referer',
  'X-XSS-Protection': '0',
  'X-Frame-Options': 'SAMEORIGIN',
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'private',
  Server: 'ESF',
}

/** Indented by two, with a newline at the end, unless `prettyPrint=false`. */
export function jsonAnswer(status: number, body: unknown, pretty = true): Answer {
  const text = pretty ? `${JSON.stringify(body, null, 2)}\n` : JSON.stringify(body)
  return { status, headers: sheetsHeaders, body: text }
}

export function errorAnswer(error: ApiError, pretty = true): Answer {
  const answer = jsonAnswer(error.code, error.toBody(), pretty)
  if (error.code !== 401) return answer
  const challenge = 'Bearer realm="https://accounts.google.com/", error="invalid_token"'
  return { ...answer, headers: { ...answer.headers, 'WWW-Authenticate': challenge } }
}

/** The page of Google's front end for errors outside the API. */
export function htmlAnswer(status: number, reason: string, text: string): Answer {
  const body = `<!DOCTYPE html>
<html lang=en>
  <meta charset=utf-8>
  <title>Error ${status} (${reason})!!1</title>
  <p><b>${status}.</b> <ins>That’s an error.</ins>
  <p>${text}  <ins>That’s all we know.</ins>
`
  return {
    status,
    headers: { 'Content-Type': 'text/html; charset=UTF-8', 'Referrer-Policy': 'no-referrer' },
    body,
  }
}
