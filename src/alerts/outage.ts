import type { Health } from '../ops/health.ts'
import { delayWords, refusalWords } from '../signup/trouble.ts'
import type { Millis } from '../signup/signup.ts'
import type { NoticeType } from './notice.ts'

/** How something of a site fares at one moment, such as its delivery. */
export type Seen =
  | { readonly kind: 'well' }
  /** Neither trouble that lasts nor a sign that delivery works. */
  | { readonly kind: 'unsure' }
  | Trouble

interface Trouble {
  /** The type of the notice that tells it. */
  readonly kind: NoticeType
  /** A fixed sentence, which may be public. */
  readonly reason: string
  readonly since: Millis
  /** Whether it is told anew when it has a later beginning. */
  readonly recurs?: true
}

/** A time in which delivery does not work. It is in the journal, so that a restart neither ends nor repeats it. */
export interface Outage {
  readonly since: Millis
  /** Whether a notice has told it. */
  readonly isTold: boolean
}

export type News = Trouble | { readonly kind: 'resumed'; readonly since: Millis }

export interface OutageTimes {
  /** How long delivery has to be in trouble before a notice tells it. */
  readonly toldAfterMs: Millis
  /** How long it has to work again before the outage is over, so that a short recovery makes no notices. */
  readonly calmMs: Millis
}

/**
 * How delivery fares, by the health of the instance that delivers. A tab that is set aside counts as
 * blocked delivery: its signups wait for a person.
 *
 * @param waitingSince as in `Reader`, without the tabs that are set aside
 */
export function seenIn(
  { delivery, tabs }: Pick<Health, 'delivery' | 'tabs'>,
  waitingSince: Millis | undefined,
  now: Millis,
  { toldAfterMs }: Pick<OutageTimes, 'toldAfterMs'>,
): Seen {
  if (delivery.state === 'blocked') {
    return { kind: 'delivery.blocked', reason: refusalWords[delivery.reason], since: now }
  }
  if (waitingSince !== undefined && now - waitingSince >= toldAfterMs) {
    const reason = delivery.state === 'delayed' ? delayWords.delayed : delayWords.unknown
    return { kind: 'delivery.stalled', reason, since: waitingSince }
  }
  const [tab] = tabs.values()
  if (tab) return { kind: 'delivery.blocked', reason: refusalWords[tab.reason], since: now }
  return { kind: delivery.state === 'delayed' ? 'unsure' : 'well' }
}

/**
 * What becomes of an outage, and what there is to tell. An outage is told once, however its reason
 * changes, and its end is told when it was told.
 *
 * @param calmForMs for how long delivery was seen to be well without a break
 */
export function advance(
  outage: Outage | undefined,
  seen: Seen,
  now: Millis,
  calmForMs: Millis,
  { toldAfterMs, calmMs }: OutageTimes,
): { readonly outage?: Outage | undefined; readonly news?: News } {
  if (seen.kind === 'unsure') return { outage }
  if (seen.kind === 'well') {
    if (!outage || calmForMs < calmMs) return { outage }
    return outage.isTold ? { news: { kind: 'resumed', since: outage.since } } : {}
  }
  const isAnew = seen.recurs === true && seen.since > (outage?.since ?? 0)
  // A wall clock that was set back must not put the notice off.
  const since = Math.min((isAnew ? undefined : outage?.since) ?? seen.since, now)
  if (outage?.isTold === true && !isAnew) return { outage }
  if (now - since < toldAfterMs) return { outage: { since, isTold: false } }
  const { kind, reason } = seen
  return { outage: { since, isTold: true }, news: { kind, reason, since } }
}
