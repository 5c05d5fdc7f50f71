import type { Reader } from '../../journal/contracts/reader.ts'
import { readDeliveryNote } from '../../service/delivery-note.ts'
import { inspectNotices, sendTestNotice } from '../../service/inspect-notices.ts'
import { quotaLeft } from '../../service/quota-left.ts'
import { type Millis, tabKey } from '../../signup/signup.ts'
import { deliveryState } from '../../signup/trouble.ts'
import type { Finding } from '../../spreadsheet/inspection.ts'
import type { Check } from './check.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
/** With traffic far above the provider's quota, signups wait, but some are written all the time. */
const quietMaxMs = 5 * minute
const ageMaxMs = 12 * hour

/** Signups that wait, what blocks delivery, and the tabs that are set aside. */
export const backlogCheck: Check = async ({ journal, session: { clock } }) => {
  if (journal.kind === 'closed') {
    return [
      { check: 'backlog', state: 'skipped', message: 'not checked: the journal cannot be used' },
    ]
  }
  const { reader } = journal.journal
  const note = await readDeliveryNote(reader)
  const tabs = note?.tabs ?? []
  const isPartly = note && deliveryState(note) === 'partly blocked'
  const aside = tabs.map(({ name, error, hint }): Finding => {
    const lead = isPartly ? `is partly blocked since ${note.since}: ` : ''
    const message = `${lead}the tab ${JSON.stringify(name)} is set aside: ${error}`
    return { check: 'delivery', state: 'fault', message, hint }
  })
  const delivery = note?.delivery
  const blocked: Finding[] =
    delivery?.state === 'blocked'
      ? [
          {
            check: 'delivery',
            state: 'fault',
            message: `is blocked since ${note?.since ?? ''}: ${delivery.error}`,
            hint: delivery.hint,
          },
        ]
      : []
  const keys = tabs.map(({ name }) => tabKey(name))
  return [await waiting(reader, keys, clock.now()), ...blocked, ...aside]
}

async function waiting(
  reader: Reader,
  asideTabs: readonly string[],
  now: Millis,
): Promise<Finding> {
  const check = 'backlog'
  const { all, oldestWaiting } = await reader.figures(0, 0)
  if (oldestWaiting === undefined) {
    return { check, state: 'ok', message: 'every signup is in the spreadsheet' }
  }
  const count = (all.accepted - all.written).toLocaleString('en-US')
  const age = now - oldestWaiting
  const message = `signups that wait for the spreadsheet: ${count}, the oldest for ${duration(age)}`
  const quietMs = now - ((await reader.waitingSince(asideTabs)) ?? now)
  if (age < ageMaxMs && quietMs < quietMaxMs) return { check, state: 'ok', message }
  const hint =
    'Correct the other faults. If there is none, look into the log of the service, which tells about delivery.'
  return { check, state: 'fault', message, hint }
}

function duration(ms: Millis): string {
  if (ms < 2 * minute) return `${Math.max(0, Math.round(ms / 1000))} seconds`
  if (ms < 2 * hour) return `${Math.floor(ms / minute)} minutes`
  return ms < 2 * day ? `${Math.floor(ms / hour)} hours` : `${Math.floor(ms / day)} days`
}

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

/** The receiver of notices, when there is one. */
export const noticesCheck: Check = async ({ secrets, journal, sendsNotice, session }) => {
  const { alertWebhook } = secrets
  if (!alertWebhook) return []
  if (sendsNotice) return [await sendTestNotice(alertWebhook, session)]
  const sites = journal.kind === 'open' ? journal.parts : []
  return [await inspectNotices(alertWebhook, sites, session.stop)]
}
