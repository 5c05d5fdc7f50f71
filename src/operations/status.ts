import type { Quota } from '../journal/contracts/call-ledger.ts'
import {
  type DeliveryNote,
  readDeliveryNote,
  readMailNote,
} from '../journal/contracts/delivery-log.ts'
import type { Count, Counted, Reader } from '../journal/contracts/reader.ts'
import { day, hour, iso, isoOrNull, minute } from '../platform/clock.ts'
import { type Closing, opennessOf } from '../signup/closing.ts'
import type { Millis } from '../signup/signup.ts'
import type { Signal } from '../signup/suspicion.ts'
import { deliveryState } from '../signup/trouble.ts'
import { type Endpoint, endpointState } from './webhooks.ts'

/** The JSON of `rollcall status`. Times are ISO 8601 in UTC. */
export type Status = Awaited<ReturnType<typeof readStatus>>

/** What quota figures need of an account at the provider. */
interface ProviderAccount {
  readonly credentials: { readonly email: string }
  readonly quota: Quota
}

/**
 * Reads the figures of a site. The cost is the same with a million signups.
 *
 * @param account undefined for the local workbook
 * @param endpoints the webhooks of the site
 * @param closing when the site closes
 */
export async function readStatus(
  reader: Reader,
  account: ProviderAccount | undefined,
  now: Millis,
  endpoints: readonly Endpoint[] = [],
  closing: Closing = {},
) {
  const today = now - (now % day)
  const figures = await reader.figures()
  const { accepted, written, suspect, erased, pending, asked, confirmed } = figures.all
  const counts = await reader.counted(['accepted', 'written', 'suspect'], today - 6 * day, now)
  const of = (what: Counted) => counts.filter((it) => it.what === what)
  const note = await readDeliveryNote(reader)
  const beside = await reader.beside()
  const ending = await reader.heldEnding(now)
  return {
    at: iso(now),
    accepted: spansOf(of('accepted'), accepted, today),
    written: spansOf(of('written'), written, today),
    // Those that count, less those that were erased.
    onList: Math.max(0, accepted - erased),
    // Signups that look like spam, held or not.
    suspect: { ...spansOf(of('suspect'), suspect, today), signs: signsOf(of('suspect')) },
    // Signups that wait for their person to confirm them, how many of them are suspect, how many are held, how
    // many addresses get no mail, as their person wanted, and how many were asked, confirmed and erased at all.
    beside: { pending, ...beside, asked, confirmed, erased },
    // Held ones that will be erased, as nobody has decided on them for 90 days.
    heldEnding: { signups: ending.waiting, until: iso(ending.until) },
    mail: await mailOf(reader),
    webhooks: await Promise.all(
      endpoints.map(async ({ number, host, key }) => {
        return { webhook: number, host, ...endpointState(await reader.webhooks(key)) }
      }),
    ),
    // Null when it never closes.
    closing: await closingOf(reader, closing, now),
    // The last 24 hours, this one included, the earliest first.
    hours: lastHours(counts, now),
    // The signups that are not in the spreadsheet yet.
    waiting: { signups: figures.waiting, oldest: isoOrNull(figures.oldestWaiting) },
    lastDelivery: isoOrNull(figures.lastWritten),
    delivery: deliveryOf(note),
    tabsSetAside: (note?.tabs ?? []).map(({ name: tab, place, error, hint }) => {
      return { tab, place, error, hint }
    }),
    // The provider's calls; null for the local workbook, which has no quota.
    quota: account ? await quotaLeft(account, reader, now) : null,
  }
}

/** What becomes of new signups, how many seats are taken, and when it closes. */
async function closingOf(reader: Pick<Reader, 'seatsTaken'>, closing: Closing, now: Millis) {
  const { at, after, overflowTab = null } = closing
  if (at === undefined && after === undefined) return null
  // Commands may take more than there are.
  const seats = after === undefined ? null : { taken: await reader.seatsTaken(), of: after }
  const isFull = seats !== null && seats.taken >= seats.of
  return { state: opennessOf(closing, { now, isFull }), seats, at: isoOrNull(at), overflowTab }
}

/** Mails that wait, and whether they can be sent. Reasons are fixed sentences. */
async function mailOf(reader: Reader) {
  const { waiting, resting, oldest, lastSent, failed } = await reader.mails()
  const note = await readMailNote(reader)
  return {
    state: note ? ('failing' as const) : ('ok' as const),
    // Whether one was sent since then: the note of the failure stays for a minute.
    goesAgain: note !== undefined && (lastSent ?? 0) > note.since,
    since: isoOrNull(note?.since),
    error: note?.reason ?? null,
    waiting,
    resting,
    oldest: isoOrNull(oldest),
    lastSent: isoOrNull(lastSent),
    lastFailure: failed ? { at: iso(failed.at), error: failed.reason } : null,
  }
}

/** Since midnight in UTC, since midnight six days before that, and of all time. */
function spansOf(counts: readonly Count[], all: number, today: Millis) {
  return { today: sumOf(counts.filter(({ at }) => at >= today)), sevenDays: sumOf(counts), all }
}

function sumOf(counts: readonly Count[]): number {
  return counts.reduce((sum, { count }) => sum + count, 0)
}

/** How many suspect signups of the seven days had each sign, the most frequent first. */
function signsOf(suspects: readonly Count[]): Readonly<Partial<Record<Signal, number>>> {
  const counts = new Map<string, number>()
  for (const { name, count } of suspects) {
    for (const sign of name.split(',')) counts.set(sign, (counts.get(sign) ?? 0) + count)
  }
  return Object.fromEntries([...counts].toSorted(([, one], [, other]) => other - one))
}

function lastHours(counts: readonly Count[], now: Millis) {
  const last = now - (now % hour)
  return Array.from({ length: 24 }, (_, index) => {
    const from = last - (23 - index) * hour
    const of = (what: Counted) => sumOf(counts.filter((it) => it.what === what && it.at === from))
    return { from: iso(from), accepted: of('accepted'), written: of('written') }
  })
}

/** How the writer saw it last. `unknown`: no service has run with this journal yet. */
function deliveryOf(note: DeliveryNote | undefined) {
  if (!note) return { state: 'unknown' as const, since: null, error: null, hint: null }
  const { delivery, since } = note
  const state = deliveryState(note)
  const error = delivery.state === 'ok' ? null : delivery.error
  return {
    state,
    since,
    error: state === 'partly blocked' ? asideWords(note) : error,
    hint: delivery.state === 'blocked' ? delivery.hint : null,
  }
}

function asideWords({ tabs: [first, ...others] }: DeliveryNote): string {
  const rest = others.length > 0 ? ` and ${others.length} others` : ''
  return `${first?.name ?? ''}${rest} set aside`
}

/** How many calls an account may make in the minute and in the day that end now, and how many are left. */
export async function quotaLeft(
  { credentials, quota }: ProviderAccount,
  reader: Pick<Reader, 'callsSince'>,
  now: Millis,
) {
  const window = async (limit: number, ms: Millis) => {
    const used = await reader.callsSince(credentials.email, now - ms)
    return { limit, left: Math.max(0, limit - used) }
  }
  return {
    perMinute: await window(quota.perMinute, minute),
    perDay: await window(quota.perDay, day),
  }
}
