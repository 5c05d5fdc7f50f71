import type { DeliveryLog } from '../journal/delivery-log.ts'
import type { Reader } from '../journal/reader.ts'
import type { Events } from '../ops/events.ts'
import type { AsideTab, DeliveryHealth, Health } from '../ops/health.ts'
import type { Clock } from '../platform/clock.ts'

/**
 * How delivery fares, noted in the journal when it changes, so that commands can tell. It is as the
 * writer saw it last, which may not run any more.
 */
export interface DeliveryNote {
  readonly delivery: DeliveryHealth
  readonly tabs: readonly AsideTab[]
  /** When it became so. ISO 8601. */
  readonly since: string
}

const factName = 'delivery'

/** The last note; undefined when delivery has never run. */
export async function readDeliveryNote(
  reader: Pick<Reader, 'fact'>,
): Promise<DeliveryNote | undefined> {
  const text = await reader.fact(factName)
  return text === undefined ? undefined : (JSON.parse(text) as DeliveryNote)
}

/** The same events, which also note in the journal when delivery fares differently. */
export function noteDelivery(
  events: Events,
  health: Pick<Health, 'delivery' | 'tabs'>,
  journal: Pick<DeliveryLog, 'noteFact'>,
  clock: Pick<Clock, 'now'>,
): Events {
  let noted = ''
  const note = () => {
    const state = { delivery: health.delivery, tabs: [...health.tabs.values()] }
    const text = JSON.stringify(state)
    if (text === noted) return
    noted = text
    const since = new Date(clock.now()).toISOString()
    const written = journal.noteFact(factName, JSON.stringify({ ...state, since }))
    // A journal that cannot be written is reported elsewhere. The next change notes all of this again.
    written.catch(() => (noted = ''))
  }
  return {
    ...events,
    deliveryStarted(...args) {
      events.deliveryStarted(...args)
      note()
    },
    deliveryDelayed(...args) {
      events.deliveryDelayed(...args)
      note()
    },
    deliveryBlocked(...args) {
      events.deliveryBlocked(...args)
      note()
    },
    deliveryResumed() {
      events.deliveryResumed()
      note()
    },
    tabSetAside(...args) {
      events.tabSetAside(...args)
      note()
    },
    tabResumed(tab) {
      events.tabResumed(tab)
      note()
    },
  }
}
