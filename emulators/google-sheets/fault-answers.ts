import type { Answer } from './answer.ts'
import { errorAnswer, htmlAnswer } from './answer.ts'
import { ApiError, notFound, permissionDenied } from './api-error.ts'
import { googleQuota, quotaExceeded } from './quota.ts'
import { unauthenticated } from './tokens.ts'

/** The answers with which a fault can replace the true one. */
export const faultAnswers = {
  internal: () => apiError(500, 'INTERNAL', 'Internal error encountered.'),
  unavailable: () => apiError(503, 'UNAVAILABLE', 'The service is currently unavailable.'),
  aborted: () => apiError(409, 'ABORTED', 'The operation was aborted.'),
  deadline: () =>
    apiError(504, 'DEADLINE_EXCEEDED', 'Deadline expired before operation could complete.'),
  badGateway: () =>
    htmlAnswer(
      502,
      'Server Error',
      'The server encountered a temporary error and could not complete your request.<p>Please try again in 30 seconds.',
    ),
  requestTimeout: () =>
    htmlAnswer(408, 'Request Timeout', 'Your client has taken too long to issue its request.'),
  quota: () => quota(),
  quotaRetryAfter: () => ({ ...quota(), headers: { ...quota().headers, 'Retry-After': '7' } }),
  unauthenticated: () => errorAnswer(unauthenticated()),
  notShared: () => errorAnswer(permissionDenied()),
  apiDisabled: () => errorAnswer(apiDisabled('123456789012')),
  notFound: () => errorAnswer(notFound()),
  html200: () => ({
    status: 200,
    headers: { 'Content-Type': 'text/html; charset=UTF-8' },
    body: '<!DOCTYPE html><html><title>Google Sheets</title><p>Please sign in.</html>\n',
  }),
  empty200: () => ({
    status: 200,
    headers: { 'Content-Type': 'application/json; charset=UTF-8' },
    body: '',
  }),
} satisfies Readonly<Record<string, () => Answer>>

export type FaultAnswer = keyof typeof faultAnswers

export function isFaultAnswer(name: string): name is FaultAnswer {
  return Object.hasOwn(faultAnswers, name)
}

function apiError(code: number, status: string, message: string): Answer {
  return errorAnswer(new ApiError(code, status, message))
}

function quota(): Answer {
  const rule = googleQuota.find(({ access, per }) => access === 'write' && per === 'user')
  if (!rule) throw new Error('The quota of writes per user is missing from googleQuota.')
  return errorAnswer(quotaExceeded(rule, 'write'))
}

function apiDisabled(projectNumber: string): ApiError {
  const url = `https://console.developers.google.com/apis/api/sheets.googleapis.com/overview?project=${projectNumber}`
  const message = `Google Sheets API has not been used in project ${projectNumber} before or it is disabled. Enable it by visiting ${url} then retry. If you enabled this API recently, wait a few minutes for the action to propagate to our systems and retry.`
  return new ApiError(403, 'PERMISSION_DENIED', message, [
    {
      '@type': 'type.googleapis.com/google.rpc.Help',
      links: [{ description: 'Google developers console API activation', url }],
    },
    {
      '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
      reason: 'SERVICE_DISABLED',
      domain: 'googleapis.com',
      metadata: { service: 'sheets.googleapis.com', consumer: `projects/${projectNumber}` },
    },
  ])
}
