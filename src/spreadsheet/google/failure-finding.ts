import { HttpFailure } from '../../platform/http-client.ts'
import { type Finding, findingsOf } from '../../platform/finding.ts'
import type { Refused, Retryable } from '../spreadsheet.ts'
import { notTheApiHint } from './failure.ts'
import type { ApiFailure } from './sheets-api.ts'

/** What a failed call means for a person who asks now, and does not wait for the next try. */
export function callFinding(check: string, failure: ApiFailure): Finding {
  const { fault, skipped } = findingsOf(check)
  const { message, cause, error } = failure
  if (failure.kind === 'refused') return fault(message, failure.hint)
  if (cause instanceof HttpFailure) return fault(message, noAnswerHint('SHEETS_API_URL'))
  // The gate did not let the call through.
  if (cause instanceof Error) return skipped(`not checked: ${cause.message}`)
  if (error?.status === 429) {
    const what = "Something else uses Google's quota of this account or project, too."
    return fault(message, `${what} Give Rollcall a project of its own.`)
  }
  const passing = 'Google has a problem of its own. Try again in some minutes.'
  return fault(message, error?.isEnvelope ? passing : notTheApiHint)
}

/** The same for a request for an access token. */
export function tokenFinding(failure: Refused | Retryable): Finding {
  const { fault } = findingsOf('token')
  const { message, cause } = failure
  if (failure.kind === 'refused') return fault(message, failure.hint)
  if (cause instanceof HttpFailure) return fault(message, noAnswerHint('SHEETS_TOKEN_URL'))
  const what = "The answer is not from Google's token endpoint."
  return fault(message, `${what} Check SHEETS_TOKEN_URL and any proxy in between.`)
}

function noAnswerHint(setting: string): string {
  return (
    'Check that this machine has a network, that its DNS and firewall let it reach that address, and ' +
    `${setting} if you have set it. Signups are kept meanwhile.`
  )
}
