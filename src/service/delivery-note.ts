import type { DeliveryLog } from '../journal/delivery-log.ts'
import type { Reader } from '../journal/reader.ts'
import type { Events } from '../ops/events.ts'
import type { AsideTab, DeliveryHealth, Health } from '../ops/health.ts'
import type { Clock } from '../platform/clock.ts'
import { tabKey } from '../signup/signup.ts'
import type { Warning } from '../signup/trouble.ts'

/**
 * How delivery fares, noted in the journal when it changes, so that commands and other instances can
 * tell. It is as the writer saw it last, which may not run any more.
 */
export interface DeliveryNote {
  readonly delivery: DeliveryHealth
  readonly tabs: readonly AsideTab[]
  readonly warnings: readonly Warning[]
  /** When it became so. ISO 8601. */
  readonly since: string
}

type DeliveryPart = Pick<Health, 'delivery' | 'tabs' | 'warnings'>

const factName = 'delivery'

/** The last note; undefined when delivery has never run. */
export async function readDeliveryNote(
  reader: Pick<Reader, 'fact'>,
): Promise<DeliveryNote | undefined> {
  const text = await reader.fact(factName)
  return text === undefined ? undefined : (JSON.parse(text) as DeliveryNote)
}

/** Takes what the writer of another instance has noted into this instance's health. */
export function followNote(note: DeliveryNote, health: DeliveryPart): void {
  health.delivery = note.delivery
  health.warnings = note.warnings
  health.tabs.clear()
  for (const tab of note.tabs) health.tabs.set(tabKey(tab.name), tab)
}

/**
 * The same events, which also note in the journal when delivery fares differently, as long as this
 * instance `delivers`.
 */
export function noteDelivery(
  events: Events,
  health: DeliveryPart,
  journal: Pick<DeliveryLog, 'noteFact'>,
  clock: Pick<Clock, 'now'>,
  delivers: () => boolean,
): Events {
  let noted = ''
  const note = () => {
    if (!delivers()) return
    const { delivery, warnings } = health
    const state = { delivery, tabs: [...health.tabs.values()], warnings }
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
      // Another instance may have noted something else since.
      noted = ''
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
    spreadsheetWarnings(warnings) {
      events.spreadsheetWarnings(warnings)
      note()
    },
  }
}
