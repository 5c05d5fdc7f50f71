import type { Status } from './status.ts'
import { endpointHint, endpointWords } from './webhooks.ts'
import { digits } from './words.ts'

/**
 * What stands now, for people: names, each with its words. Times are in UTC.
 *
 * @param stopped what to say of the service when it does not run; else empty
 */
export function statusFacts(now: Status, stopped = ''): string[][] {
  const { beside } = now
  const signs = Object.entries(now.suspect.signs).map(([sign, count]) => `${sign} ${digits(count)}`)
  const suspect = beside.suspect > 0 ? `, of which ${digits(beside.suspect)} suspect` : ''
  const held = (beside.held ?? 0) + beside.suspect
  return [
    waitingFact(now),
    ['Signs of spam, 7 days', signs.join(', ')],
    ['In quarantine', held > 0 ? digits(held) : ''],
    ['To be confirmed', beside.pending > 0 ? digits(beside.pending) + suspect : ''],
    ['Get no mail', beside.blocked > 0 ? `${digits(beside.blocked)}, as they wanted` : ''],
    ...mailFacts(now),
    ...now.webhooks.map((it) => [`Webhook ${it.webhook}, ${it.host}`, endpointWords(it)]),
    ...deliveryFacts(now, stopped),
  ].filter(([, value]) => value !== '')
}

export function waitingFact({ waiting: { signups, oldest } }: Status): string[] {
  return ['Waiting', oldest ? `${digits(signups)}, the oldest since ${timeWords(oldest)}` : '0']
}

/** Those of `statusFacts` about rows. Empty words say nothing. */
export function deliveryFacts(now: Status, stopped = ''): string[][] {
  const { quota, lastDelivery } = now
  return [
    ['Last delivery', lastDelivery ? timeWords(lastDelivery) : 'none yet'],
    ['Service', stopped],
    [stopped === '' ? 'Delivery' : 'Delivery, when it ran', deliveryWords(now)],
    ...now.tabsSetAside.map(({ tab, error }) => ['Set aside', `${tab}: ${error}`]),
    [
      'Quota left',
      quota ? `${left(quota.perMinute)} calls this minute, ${left(quota.perDay)} in 24 hours` : '',
    ],
  ]
}

/** What to do, in sentences. */
export function statusHints({ delivery, tabsSetAside, webhooks }: Status): readonly string[] {
  const ofWebhooks = webhooks.map((it) => endpointHint(it, it.webhook))
  const all = [...[delivery, ...tabsSetAside].map(({ hint }) => hint), ...ofWebhooks]
  return all.filter((hint) => typeof hint === 'string')
}

/** Those of `statusFacts` about mail. Empty words say nothing. */
export function mailFacts({ mail }: Status): string[][] {
  const { state, since, error, waiting, oldest, lastSent, lastFailure } = mail
  const oldestWords = oldest ? `, the oldest since ${timeWords(oldest)}` : ''
  const failing = state === 'failing' ? `${error ?? ''} (since ${timeWords(since ?? '')})` : ''
  return [
    ['Mails waiting', waiting > 0 ? digits(waiting) + oldestWords : ''],
    ['Mail', failing],
    ['Last mail', lastSent ? timeWords(lastSent) : ''],
    [
      'Last mail that failed',
      lastFailure ? `${timeWords(lastFailure.at)}: ${lastFailure.error}` : '',
    ],
  ]
}

function deliveryWords({ delivery: { state, since, error } }: Status): string {
  if (state === 'unknown') return 'unknown until a service runs'
  const words = state === 'ok' ? 'works' : `${state}: ${error ?? ''}`
  return state === 'ok' ? words : `${words} (since ${timeWords(since)})`
}

function left({ left: calls, limit }: { readonly left: number; readonly limit: number }): string {
  return `${digits(calls)} of ${digits(limit)}`
}

/** "2026-11-20 10:00:00" */
export function timeWords(time: string): string {
  return time.slice(0, 19).replace('T', ' ')
}
