import type { Status } from './status.ts'
import { mailHint } from '../signup/mail-trouble.ts'
import { endpointHint, endpointWords } from './webhooks.ts'
import { digits } from '../platform/digits.ts'

/**
 * What stands now, for people: names, each with its words. Times are in UTC.
 *
 * @param stopped what to say of the service when it does not run; else empty
 */
export function statusFacts(now: Status, stopped = ''): string[][] {
  const { beside } = now
  const signs = Object.entries(now.suspect.signs).map(([sign, count]) => `${sign} ${digits(count)}`)
  const suspect = beside.suspect > 0 ? `, of which ${digits(beside.suspect)} held` : ''
  const held = beside.held + beside.suspect
  return [
    ['On the list', digits(now.onList)],
    ...closingFacts(now),
    ['Erased', beside.erased > 0 ? digits(beside.erased) : ''],
    waitingFact(now),
    ['Signs of spam, 7 days', signs.join(', ')],
    ['Held', held > 0 ? [digits(held), heldEndingWords(now)].filter(Boolean).join(', ') : ''],
    ['Pending', beside.pending > 0 ? digits(beside.pending) + suspect : ''],
    ['Get no mail', beside.blocked > 0 ? `${digits(beside.blocked)}, as they wanted` : ''],
    ...mailFacts(now),
    ...now.webhooks.map((it) => [`Webhook ${it.webhook}, ${it.host}`, endpointWords(it)]),
    ...deliveryFacts(now, stopped),
  ].filter(([, value]) => value !== '')
}

/** Those of `statusFacts` about the end of signups. Empty words say nothing. */
export function closingFacts({ closing, at: now }: Status): string[][] {
  if (!closing) return []
  const { state, seats, at, overflowTab } = closing
  const isOver = at !== null && at <= now
  const words = {
    open: at === null ? 'open' : `open until ${timeWords(at)}`,
    overflow: `go to the tab ${overflowTab ?? ''}`,
    closed: isOver ? `closed since ${timeWords(at)}` : 'closed',
  }
  return [
    ['Seats', seats ? `${digits(seats.taken)} of ${digits(seats.of)} taken` : ''],
    ['New signups', words[state]],
  ]
}

/** How many held signups will be erased, and by when; empty when none will be soon. */
export function heldEndingWords({ heldEnding: { signups, until } }: Status): string {
  return signups > 0 ? `of which ${digits(signups)} will be erased by ${until.slice(0, 10)}` : ''
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

/** Something that does not work, and what to do about it. */
export interface Trouble {
  /** What it is with: a number is that of a webhook. */
  readonly about: 'rows' | 'mail' | number
  readonly what: string
  readonly hint: string | undefined
}

/** What does not work now. */
export function troublesOf({ delivery, tabsSetAside, webhooks, mail }: Status): readonly Trouble[] {
  const found: Trouble[] = []
  const tell = (about: Trouble['about'], what: string, hint?: string | null) =>
    found.push({ about, what, hint: hint ?? undefined })
  const { state, error } = delivery
  if (state === 'blocked' || state === 'delayed')
    tell('rows', `Rows are ${state}: ${error ?? ''}`, delivery.hint)
  for (const { tab, error, hint } of tabsSetAside)
    tell('rows', `The tab ${tab} is set aside: ${error}`, hint)
  if (mail.state === 'failing' && !mail.goesAgain)
    tell('mail', `Mails are not sent: ${mail.error ?? ''}`, mailHint(mail.error ?? ''))
  for (const it of webhooks) {
    const hint = endpointHint(it, it.webhook)
    const what = `Webhook ${it.webhook}, ${it.host}: ${endpointWords(it)}`
    if (hint !== undefined) tell(it.webhook, what, hint)
  }
  return found
}

const limits = 'an address gets one mail in 15 minutes, 3 a day'

/** Those of `statusFacts` about mail. Empty words say nothing. */
export function mailFacts({ mail }: Status): string[][] {
  const { state, since, error, waiting, resting, oldest, lastSent, lastFailure } = mail
  const oldestWords = oldest ? `, the oldest since ${timeWords(oldest)}` : ''
  const failing = state === 'failing' ? `${error ?? ''} (since ${timeWords(since ?? '')})` : ''
  return [
    ['Mails waiting', waiting > 0 ? digits(waiting) + oldestWords : ''],
    // While the server fails, all that waits waits for the server.
    ['Of these, later', resting > 0 && failing === '' ? `${digits(resting)}: ${limits}` : ''],
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
