import { quotaLeft } from '../../service/quota-left.ts'
import type { Check } from './check.ts'

/** The calls to the Sheets API that are left. */
export const quotaCheck: Check = async ({ site: { spreadsheet }, journal, session }) => {
  if (spreadsheet.kind !== 'google') return []
  const check = 'quota'
  if (journal.kind === 'closed') {
    return [{ check, state: 'skipped', message: 'not checked: the journal cannot be used' }]
  }
  const { reader, time = session.clock } = journal.journal
  const { perMinute, perDay } = await quotaLeft(spreadsheet, reader, time.now())
  const of = ({ left, limit }: { readonly left: number; readonly limit: number }) =>
    `${left.toLocaleString('en-US')} of ${limit.toLocaleString('en-US')}`
  const message = `${of(perMinute)} calls are left this minute, and ${of(perDay)} in 24 hours`
  if (perDay.left > 0) return [{ check, state: 'ok', message }]
  const hint =
    'Signups are kept and written as calls of yesterday fall out of the 24 hours. To write more, raise ' +
    'SHEETS_REQUESTS_PER_DAY.'
  return [{ check, state: 'fault', message, hint }]
}
