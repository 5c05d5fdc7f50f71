import {
  deliveryFact,
  type DeliveryLog,
  type DeliveryNote,
} from '../journal/contracts/delivery-log.ts'
import type { Events } from '../ops/events.ts'
import type { Health } from '../ops/health.ts'
import type { Clock } from '../platform/clock.ts'
import { tabKey } from '../signup/signup.ts'

type DeliveryPart = Pick<Health, 'delivery' | 'tabs' | 'warnings'>

/** Takes what the writer of another instance has noted into this instance's health. */
export function followNote(note: DeliveryNote, health: DeliveryPart): void {
  health.delivery = note.delivery
  health.warnings = note.warnings
  health.tabs.clear()
  for (const tab of note.tabs) health.tabs.set(tabKey(tab.name), tab)
}

/** The events after which delivery may fare differently. */
const noteworthy = [
  'deliveryStarted',
  'deliveryDelayed',
  'deliveryBlocked',
  'deliveryResumed',
  'tabSetAside',
  'tabResumed',
  'spreadsheetWarnings',
] as const

/** A note may have failed, or be carried out after a newer one. */
const repeatMs = 10_000

/** Notes in the journal how delivery fares, while `delivers` says that this instance delivers. */
export function noteDelivery(
  events: Events,
  health: DeliveryPart,
  journal: Pick<DeliveryLog, 'fact' | 'noteFact'>,
  clock: Pick<Clock, 'now' | 'sleep'>,
  delivers: () => boolean,
) {
  let noted = { state: '', text: '' }
  const current = () => {
    const { delivery, warnings } = health
    const parts = { delivery, tabs: [...health.tabs.values()], warnings }
    const state = JSON.stringify(parts)
    if (state === noted.state) return noted
    const since = new Date(clock.now()).toISOString()
    return { state, text: JSON.stringify({ ...parts, since }) }
  }
  const write = async () => {
    noted = current()
    await journal.noteFact(deliveryFact, noted.text)
  }
  // A journal that cannot be used is reported elsewhere.
  const ignore = () => {}
  const all: Readonly<Record<(typeof noteworthy)[number], (...given: never[]) => void>> = events
  const noting = noteworthy.map((name) => [
    name,
    (...given: never[]) => {
      all[name](...given)
      // Another instance may have noted something else since.
      if (name === 'deliveryStarted') noted = { state: '', text: '' }
      if (delivers() && current() !== noted) write().catch(ignore)
    },
  ])
  const noteIfOther = async () => {
    if (!delivers() || noted.state === '') return
    const found = await journal.fact(deliveryFact)
    if (delivers() && current().text !== found) await write()
  }
  return {
    /** The same events, which also note when delivery fares differently. */
    events: { ...events, ...(Object.fromEntries(noting) as Partial<Events>) },
    /** Notes it again every 10 s if the journal has another note. Never rejects; `signal` ends it. */
    async repeat(signal: AbortSignal): Promise<void> {
      for (;;) {
        await clock.sleep(repeatMs, signal)
        if (signal.aborted) return
        await noteIfOther().catch(ignore)
      }
    },
  }
}
