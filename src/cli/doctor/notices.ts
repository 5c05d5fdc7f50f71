import { httpClient } from '../../platform/node/http-client.ts'
import { inspectNotices } from '../../service/inspect-notices.ts'
import type { Check } from './check.ts'

/** The receiver of notices, when there is one. */
export const noticesCheck: Check = async ({ secrets, journal, session: { stop } }) => {
  const { alertWebhook } = secrets
  if (!alertWebhook) return []
  const sites = journal.kind === 'open' ? journal.parts : []
  return [await inspectNotices(alertWebhook, sites, httpClient, stop)]
}
