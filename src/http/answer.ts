import type { PlainAnswer } from '../platform/http-exchange.ts'
import { securityHeaders } from './headers.ts'

/** Names of the answers that are no refusals. */
const statuses = {
  ok: 200,
  written: 201,
  accepted: 202,
  noContent: 204,
  partlyAccepted: 207,
  seeOther: 303,
  notModified: 304,
  notReady: 503,
} as const

type Outcome = keyof typeof statuses

/** What a handler answers, as plain data: the edge dresses it, and an adapter sends it. */
export interface Answer extends PlainAnswer {
  /** The headers of the request, besides `Origin`, on which it depends; for caches. */
  readonly vary: string | undefined
  /** Names and values in turn: what a browser may do with it. */
  readonly security: readonly string[]
  /** Whether pages of every origin may read it: it holds nothing of anybody. */
  readonly isPublic: boolean
}

/** All that an answer may say besides its body. */
export type Extras = Partial<Pick<Answer, 'headers' | 'vary' | 'security' | 'isPublic'>>

const none: readonly string[] = []

/** An answer of this status. `body` null has no length, and '' is empty. */
export function answer(status: number, body: Answer['body'], extras: Extras = {}): Answer {
  const { headers = none, vary, security = securityHeaders, isPublic = false } = extras
  return { status, headers, body, vary, security, isPublic }
}

const jsonType = ['content-type', 'application/json']

/** Of `extras`, every member but the media type. */
export function json(outcome: Outcome, body: object, extras: Extras = {}): Answer {
  const { headers } = extras
  const all = headers && headers.length > 0 ? [...jsonType, ...headers] : jsonType
  return answer(statuses[outcome], JSON.stringify(body), { ...extras, headers: all })
}

/** A page for people. What was typed may be in it: it is never stored, unless `security` says so. */
export function page(html: string, extras: Extras): Answer {
  return pageOf(statuses.ok, html, extras)
}

/** The same for a refusal, which has a status of its own. */
export function pageOf(status: number, html: string, extras: Extras): Answer {
  const headers = ['content-type', 'text/html; charset=utf-8', ...(extras.headers ?? none)]
  return answer(status, html, { ...extras, headers })
}

/** A file, as `headers` describe it. */
export function file(body: Uint8Array<ArrayBuffer>, extras: Extras): Answer {
  return answer(statuses.ok, body, extras)
}

/** The client has the file already. */
export function notModified(extras: Extras): Answer {
  return answer(statuses.notModified, null, extras)
}

/** To another page, by GET: its reload sends no form again. `location` is a serialised URL or a part of one. */
export function seeOther(location: string): Answer {
  // Of forms only, which are answered in JSON where that is preferred.
  return answer(statuses.seeOther, '', { headers: ['location', location], vary: 'Accept' })
}

export function noContent(headers: readonly string[]): Answer {
  return answer(statuses.noContent, null, { headers })
}
