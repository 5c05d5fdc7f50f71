import { inspectNotices, sendTestNotice } from '../../service/inspect-notices.ts'
import type { Check } from './check.ts'

/** The receiver of notices, when there is one. */
export const noticesCheck: Check = async ({ secrets, journal, sendsNotice, session }) => {
  const { alertWebhook } = secrets
  if (!alertWebhook) return []
  if (sendsNotice) return [await sendTestNotice(alertWebhook, session)]
  const sites = journal.kind === 'open' ? journal.parts : []
  return [await inspectNotices(alertWebhook, sites, session.stop)]
}
