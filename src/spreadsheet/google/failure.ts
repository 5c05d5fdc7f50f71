import type { HttpAnswer } from '../../platform/http-client.ts'
import { parseObject } from '../../signup/json.ts'
import { type RefusalReason, refusalWords } from '../../signup/trouble.ts'
import type { Failed, Refused } from '../spreadsheet.ts'
import { fieldIn } from './answer.ts'

/** The spreadsheet, and the address of the account that writes to it, or words for one that is not known. */
export interface Access {
  readonly email: string
  readonly spreadsheetId: string
  /** What names the spreadsheet in the settings. */
  readonly setting: string
}

/** An error from Google's error envelope, or from an answer without an envelope. */
export interface GoogleError {
  readonly status: number
  /** Google's text without its quotations; `HTTP` and the status when there is no envelope. */
  readonly message: string
  /** Whether the answer has Google's envelope, which shows that it is from the Sheets API itself. */
  readonly isEnvelope: boolean
  readonly retryAfterMs?: number
}

/** Reads an answer that is not a success. */
export function readError(answer: HttpAnswer): GoogleError {
  const message = envelopeMessage(answer.text)
  const retryAfterMs = retryAfter(answer.headers)
  return {
    status: answer.status,
    message: message === undefined ? `HTTP ${answer.status}` : withoutQuotations(message),
    isEnvelope: message !== undefined,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  }
}

/** Removes names of tabs and texts of cells, because they come from visitors and must not be logged. */
function withoutQuotations(message: string): string {
  return message
    .replace(/".*"/s, '"…"')
    .replace(/(Unable to parse range: ).*/s, '$1…')
    .replace(/(Range \().*(\) exceeds)/s, '$1…$2')
}

/**
 * The meaning of a Sheets API error. After a 4xx answer the call was certainly not applied. After a
 * timeout (408), a conflict (409) or any 5xx that is unknown.
 */
export function classify(error: GoogleError, access: Access): Failed {
  const after = error.retryAfterMs === undefined ? {} : { afterMs: error.retryAfterMs }
  if (error.status === 429) return { kind: 'retryable', message: error.message, ...after }
  if (error.status === 408 || error.status === 409 || error.status >= 500 || error.status < 400) {
    return { kind: 'unknown', message: error.message, ...after }
  }
  return refusal(error, access)
}

function refusal(error: GoogleError, { email, setting }: Access): Refused {
  if (error.status === 401) return invalidCredentials('Google did not accept the access token')
  if (!error.isEnvelope) {
    return refused('notTheApi', notTheApiHint, error.message)
  }
  if (error.status === 403 && error.message.startsWith(refusalWords.permission)) {
    return refused(
      'permission',
      `Share the spreadsheet with ${email} as Editor (Viewer is not enough). Changes take 1 to 2 minutes.`,
    )
  }
  if (error.status === 404) {
    return refused(
      'notFound',
      `Check ${setting}: there is no spreadsheet with this id that ${email} can see. ` +
        'Take the part of its URL after /spreadsheets/d/. Changes take 1 to 2 minutes.',
    )
  }
  if (/^Invalid requests\[\d+\]\.addSheet: A sheet with the name/.test(error.message)) {
    return refused(
      'tabName',
      'For Google, another tab has the same name. Rename that tab, or list the tabs that signups may ' +
        'use in SHEET_TABS, or in the tabs of the site.',
      error.message,
    )
  }
  const hint = error.message.includes('insufficient authentication scopes')
    ? 'Give the sign-in the scope of spreadsheets: docs/google-setup.md.'
    : "Correct the problem that Google's message describes. Delivery then goes on without a restart."
  return refused(reasonIn(error.message), hint, error.message)
}

const checkKey =
  'Check that the address of the account and its private key come from the same key file, that the key ' +
  "was not deleted in the Cloud console, and that this machine's clock is right."

export const notTheApiHint =
  'The answer is not from the Sheets API. Check SHEETS_API_URL and any proxy in between.'

export function refused(reason: RefusalReason, hint: string, message?: string): Refused {
  return { kind: 'refused', reason, message: message ?? refusalWords[reason], hint }
}

/** Recognises the reason by Google's text, as most have no code. The texts come from recorded answers. */
function reasonIn(message: string): RefusalReason {
  if (/API has not been used in project|API .*is disabled/.test(message)) return 'apiDisabled'
  if (message.includes('You are trying to edit a protected cell')) return 'protectedTab'
  if (/above the limit of \d+ cells/.test(message)) return 'full'
  if (message.includes('must not be an Office file')) return 'noSpreadsheet'
  return 'other'
}

/**
 * The refusal of whoever signs in.
 *
 * @param reason Google's own text
 * @param advice what to do about it; about a key when left out
 */
export function invalidCredentials(reason: string, advice = checkKey): Refused {
  return refused('credentials', `${reason}. ${advice}`)
}

function envelopeMessage(text: string): string | undefined {
  const message = fieldIn(parseObject(text), 'error', 'message')
  return typeof message === 'string' ? message : undefined
}

/** `Retry-After` in milliseconds, from seconds or a date (RFC 9110), at most an hour. */
function retryAfter(headers: HttpAnswer['headers']): number | undefined {
  const value = headers.get('retry-after')
  if (value === null) return undefined
  // Date.parse takes nearly any number for a date, such as -7 or 1.5.
  const date = value.endsWith(' GMT') ? Date.parse(value) : NaN
  const seconds = /^\d+$/.test(value)
    ? Number(value)
    : (date - Date.parse(headers.get('date') ?? '')) / 1000
  return Number.isFinite(seconds) ? Math.min(Math.max(0, seconds), 3600) * 1000 : undefined
}
