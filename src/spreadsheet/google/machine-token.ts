import { HttpFailure } from '../../platform/http-client.ts'
import { type AskForToken, sheetsScope, tokenIn } from './access-token.ts'
import { refused } from './failure.ts'

/** It stands beside the machine, and answers within milliseconds. */
const bounds = { timeoutMs: 2_000, answerBytesMax: 64 * 1024 } as const

/**
 * Signs in as the service account of a machine of Google Cloud, by the metadata server at this origin. Google's
 * library asks that server by a client of its own, without a limit of time on such a machine.
 */
export function machineTokens(url: string): AskForToken {
  const account = `${url}/computeMetadata/v1/instance/service-accounts/default`
  let hasWorked = false
  /** What has worked on this machine does so again. */
  const failed = (message: string) =>
    hasWorked
      ? ({ kind: 'retryable', message } as const)
      : refused('machine', `${message}. ${otherWays}`)
  return async ({ http, clock }, signal) => {
    const read = (path: string) => {
      const headers = { 'metadata-flavor': 'Google' }
      return http({ method: 'GET', url: `${account}/${path}`, headers, ...bounds, signal })
    }
    try {
      const answer = await read(`token?scopes=${encodeURIComponent(sheetsScope)}`)
      const isIt = answer.headers.get('metadata-flavor') === 'Google'
      if (!isIt || answer.status === 404) return failed(`${url} names no service account`)
      const token = tokenIn(answer, clock, 'The metadata server', otherWays)
      if (token.kind !== 'token') return token
      hasWorked = true
      const named = await read('email').catch(() => undefined)
      return named?.status === 200 ? { ...token, email: named.text.trim() } : token
    } catch (error) {
      if (!(error instanceof HttpFailure) || signal.aborted) throw error
      return failed(error.message)
    }
  }
}

const otherWays =
  'SHEETS_SIGN_IN=application-default needs a machine of Google Cloud with a service account, or gcloud. Elsewhere set SHEETS_CREDENTIALS_FILE: docs/google-setup.md.'
