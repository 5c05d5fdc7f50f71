import type { PlainAnswer } from '../platform/http-exchange.ts'
import { securityHeaders } from './headers.ts'

/** The status of each kind of answer that is not a refusal. */
const statuses = {
  ok: 200,
  written: 201,
  accepted: 202,
  noContent: 204,
  partlyAccepted: 207,
  seeOther: 303,
  notReady: 503,
} as const

type StatusName = keyof typeof statuses

/** For caches: the request headers that an answer depends on. */
type Vary =
  | 'Origin'
  | 'Accept, Origin'
  | 'Accept-Encoding, Origin'
  | 'Accept-Language, Origin'
  | 'Accept, Accept-Language, Origin'

/** A handler's answer as plain data. The edge adds the common headers, and an adapter sends it. */
export interface Answer extends PlainAnswer {
  readonly vary: Vary
  /** Security headers: names and values in turn. */
  readonly security: readonly string[]
  /** Whether pages of every origin may read the answer. Only for answers without personal data. */
  readonly isPublic: boolean
}

export type Extras = Partial<Pick<Answer, 'headers' | 'vary' | 'security' | 'isPublic'>>

const none: readonly string[] = []

/** An answer with any status. With a `body` of null it has no `content-length`; with '' the length is 0. */
export function answer(status: number, body: Answer['body'], extras: Extras = {}): Answer {
  const { headers = none, vary = 'Origin', security = securityHeaders, isPublic = false } = extras
  return { status, headers, body, vary, security, isPublic }
}

const jsonType = ['content-type', 'application/json']

/** An answer in JSON. Sets the media type itself, so `extras` must not. */
export function json(status: StatusName, body: object, extras: Extras = {}): Answer {
  const headers = [...jsonType, ...(extras.headers ?? none)]
  return answer(statuses[status], JSON.stringify(body), { ...extras, headers })
}

/** An HTML page. It may show what a visitor typed, so caches never store it unless `security` says so. */
export function page(html: string, extras: Extras, status: number = statuses.ok): Answer {
  const headers = ['content-type', 'text/html; charset=utf-8', ...(extras.headers ?? none)]
  return answer(status, html, { ...extras, headers })
}

/** A file to be kept, as long as it comes. */
export function download(name: string, type: string, body: AsyncGenerator<string>): Answer {
  const disposition = `attachment; filename="${name}"`
  return answer(statuses.ok, body, {
    headers: ['content-type', type, 'content-disposition', disposition],
  })
}

/**
 * Sends the browser to another page by GET, so that a reload does not post the form again.
 *
 * @param location a serialised URL, absolute or relative
 */
export function seeOther(location: string): Answer {
  // Only forms are redirected, and a form gets JSON instead when `Accept` prefers it.
  return answer(statuses.seeOther, '', { headers: ['location', location], vary: 'Accept, Origin' })
}

export function noContent(headers: readonly string[]): Answer {
  return answer(statuses.noContent, null, { headers })
}
