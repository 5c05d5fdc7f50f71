import { createPrivateKey } from 'node:crypto'
import { secretsOf } from '../../config/secrets.ts'
import { type DeliveryNote, readDeliveryNote } from '../../journal/contracts/delivery-log.ts'
import type { Reader } from '../../journal/contracts/reader.ts'
import { quotaLeft } from '../../operations/status.ts'
import { hour, inWords, minute } from '../../platform/clock.ts'
import { rollcall } from '../../platform/command-words.ts'
import { findingsOf } from '../../platform/finding.ts'
import { type Millis, tabKey } from '../../signup/signup.ts'
import { deliveryState } from '../../signup/trouble.ts'
import { digits } from '../../platform/digits.ts'
import type { Check } from './inspections.ts'
import { notChecked } from './journal-checks.ts'

/** Wrong settings never get here: they end the command, with the words that end a start. */
export const settingsCheck: Check = async ({ config: { warnings } }) => {
  const { ok, warning } = findingsOf('settings')
  return warnings.length === 0 ? [ok('can be used')] : warnings.map((it) => warning(it))
}

/** How the site signs in. A text that is no RSA key never gets here: it is a problem of the settings. */
export const signInCheck: Check = async ({ site, secrets }) => {
  const { spreadsheet } = site
  const { signIn } = secretsOf(secrets, site)
  if (spreadsheet.kind !== 'google' || signIn === undefined) return []
  const { email } = spreadsheet.credentials
  const { ok } = findingsOf(signIn.kind === 'key' ? 'key' : 'sign-in')
  if (signIn.kind === 'machine') return [ok(`by the metadata server at ${signIn.url}`)]
  if (signIn.kind !== 'key') {
    const type = 'file' in signIn ? String(signIn.file['type']) : 'impersonated_service_account'
    return [ok(`by a file of the type ${type}, as ${email}`)]
  }
  const bits = createPrivateKey(signIn.privateKey).asymmetricKeyDetails?.modulusLength ?? 0
  const acts = signIn.subject === undefined ? '' : `, which acts as ${signIn.subject}`
  return [ok(`is an RSA key of ${bits} bits, for ${signIn.email}${acts}`)]
}

/** With traffic far above the provider's quota, signups wait, but some are written all the time. */
const quietMaxMs = 5 * minute
const ageMaxMs = 12 * hour

/** Signups that wait, what blocks delivery, and the tabs that are set aside: faults while a service runs. */
export const backlogCheck: Check = async ({ home, journal, clock }) => {
  if (!journal) return notChecked('backlog')
  const { fault, warning } = findingsOf('delivery')
  const note = await readDeliveryNote(journal.reader)
  const tabs = note?.tabs ?? []
  const backlog = await waiting(journal.reader, tabs, clock.now())
  if (!note) return [backlog]
  const { delivery, since } = note
  // What a service noted before it ended may be mended since.
  const [is, found] = (await home.isInUse()) ? ['is', fault] : ['when it ran, was', warning]
  const lead =
    deliveryState(note) === 'partly blocked' ? `${is} partly blocked since ${since}: ` : ''
  const aside = tabs.map(({ name, error, hint }) =>
    found(`${lead}the tab ${JSON.stringify(name)} is set aside: ${error}`, hint),
  )
  if (delivery.state !== 'blocked') return [backlog, ...aside]
  return [
    backlog,
    found(`${is} blocked since ${since}: ${delivery.error}`, delivery.hint),
    ...aside,
  ]
}

async function waiting(reader: Reader, aside: DeliveryNote['tabs'], now: Millis) {
  const { ok, fault } = findingsOf('backlog')
  const { waiting: backlog, oldestWaiting } = await reader.figures()
  if (oldestWaiting === undefined) return ok('no signup waits for the spreadsheet')
  const count = digits(backlog)
  const age = now - oldestWaiting
  const message = `signups that wait for the spreadsheet: ${count}, the oldest for ${inWords(age)}`
  const asideTabs = aside.map(({ name }) => tabKey(name))
  const quietMs = now - ((await reader.waitingSince(asideTabs)) ?? now)
  if (age < ageMaxMs && quietMs < quietMaxMs) return ok(message)
  return fault(
    message,
    'Correct the other faults. If there is none, look into the log of the service, which tells about delivery.',
  )
}

/** Signups in quarantine. `backlogCheck` tells of a journal that cannot be used. */
export const heldCheck: Check = async ({ journal }) => {
  const { held, suspect } = (await journal?.reader.beside()) ?? { held: 0, suspect: 0 }
  const count = held + suspect
  if (count === 0) return []
  const hint = `List them with ${rollcall('quarantine')}, and release or erase them within 90 days.`
  return [findingsOf('held').warning(`signups that are held: ${digits(count)}`, hint)]
}

export const quotaCheck: Check = async ({ site: { spreadsheet }, journal, clock }) => {
  if (spreadsheet.kind !== 'google') return []
  if (!journal) return notChecked('quota')
  const { ok, fault } = findingsOf('quota')
  const { reader, time = clock } = journal
  const { perMinute, perDay } = await quotaLeft(spreadsheet, reader, time.now())
  const of = ({ left, limit }: typeof perDay) => `${digits(left)} of ${digits(limit)}`
  const message = `${of(perMinute)} calls are left this minute, and ${of(perDay)} in 24 hours`
  if (perDay.left > 0) return [ok(message)]
  const hint =
    'Signups are kept and written as calls of yesterday fall out of the 24 hours. To write more, raise ' +
    'SHEETS_REQUESTS_PER_DAY.'
  return [fault(message, hint)]
}
