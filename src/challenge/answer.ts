import type { AnswerHeaders, HttpAnswer } from '../platform/http-client.ts'
import { isRecord } from '../signup/json.ts'

/** The parsed answer of siteverify. `judge` decides what it means for the visitor. */
export type SiteverifyAnswer =
  | { readonly kind: 'success'; readonly hostname: string | undefined }
  /** The token is not valid. */
  | { readonly kind: 'refused'; readonly code: string }
  /** The request itself is wrong, for example its secret; every token would fail. */
  | { readonly kind: 'setup'; readonly code: string }
  | NoVerdict

export interface NoVerdict {
  readonly kind: 'none'
  readonly message: string
  /** Whether the same request may succeed a moment later. */
  readonly isPassing: boolean
  readonly retryAfterSeconds?: number | undefined
  readonly cause?: unknown
}

/** Error codes, of all three providers, that mean wrong settings and not a bad token. */
const setupCodes: ReadonlySet<string> = new Set([
  'missing-input-secret',
  'invalid-input-secret',
  'sitekey-secret-mismatch',
  'not-using-dummy-passcode',
  'bad-request',
  'missing-remoteip',
  'invalid-remoteip',
])

const retryAfterMaxSeconds = 300

/**
 * Reads an answer of siteverify. Valid and invalid tokens both get status 200, and only
 * `success: true` means success. An answer in another form is no verdict on the token.
 */
export function readAnswer({ status, headers, text }: HttpAnswer): SiteverifyAnswer {
  const body = parseObject(text)
  const codes = codesIn(body?.['error-codes'])
  const setup = codes.find((code) => setupCodes.has(code))
  if (body?.['success'] === false && setup !== undefined) return { kind: 'setup', code: setup }
  if (status !== 200) {
    return {
      kind: 'none',
      message: `it answered HTTP ${status}`,
      isPassing: status >= 500,
      retryAfterSeconds: retryAfter(headers),
    }
  }
  if (typeof body?.['success'] !== 'boolean') {
    return { kind: 'none', message: 'its answer is not a verdict', isPassing: true }
  }
  if (body['success']) {
    const { hostname } = body
    return { kind: 'success', hostname: typeof hostname === 'string' ? hostname : undefined }
  }
  if (codes.includes('internal-error')) {
    return { kind: 'none', message: 'it answered internal-error', isPassing: true }
  }
  return { kind: 'refused', code: codes[0] ?? 'no error code' }
}

const looksLikeACode = /^[a-z][a-z-]{1,63}$/

/** Keeps only texts that look like error codes, because they are logged. */
function codesIn(given: unknown): readonly string[] {
  if (!Array.isArray(given)) return []
  return given
    .filter((code) => typeof code === 'string')
    .filter((code) => looksLikeACode.test(code))
}

/** The `Retry-After` header in seconds; undefined when it is missing or a date. */
function retryAfter(headers: AnswerHeaders): number | undefined {
  const text = headers.get('retry-after')?.trim() ?? ''
  return /^\d{1,9}$/.test(text) ? Math.min(Number(text), retryAfterMaxSeconds) : undefined
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}
