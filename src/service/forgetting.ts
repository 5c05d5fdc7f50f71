import type { Config } from '../config/config.ts'
import type { Secrets } from '../config/secrets.ts'
import type { Unfinished } from '../journal/erasure.ts'
import type { ComparableJournal } from '../journal/journal.ts'
import { createEvents } from '../ops/events.ts'
import { createHealth } from '../ops/health.ts'
import { createLog } from '../ops/log.ts'
import type { Clock } from '../platform/clock.ts'
import type { Millis } from '../signup/signup.ts'
import { createDelivering } from './delivering.ts'
import { destinationOf } from './delivery.ts'
import { followNote, readDeliveryNote } from './delivery-note.ts'
import type { Store } from './store.ts'

export interface ForgettingOptions {
  readonly config: Config
  readonly secrets: Secrets
  readonly store: Pick<Store, 'hold'>
  readonly journal: ComparableJournal
  readonly clock: Clock
  /** Aborts to wait no longer. */
  readonly stop: AbortSignal
  /** The longest time to wait for the spreadsheet. */
  readonly waitMs: Millis
}

/** How far it came. */
export interface Finished extends Unfinished {
  /** Why something waits, in the words of the spreadsheet's provider; undefined when that is not known. */
  readonly reason: string | undefined
}

const lookMs = 100
const stopGraceMs = 10_000
/** How long to try to empty the journal's log, which others may be reading. */
const scrubMaxMs = 5_000

/**
 * Waits until the rows of forgotten people are removed, and no signup of theirs is in a frozen batch. A
 * running service does that work. When none runs, this process does it, and no other process delivers
 * meanwhile.
 */
export async function finishForgetting(options: ForgettingOptions): Promise<Finished> {
  const { config, secrets, store, journal, clock, stop, waitMs } = options
  await using work = new AsyncDisposableStack()
  const health = createHealth()
  let reason: string | undefined
  const isDone = async () => {
    const { removals, frozen } = await journal.erasure.unfinished()
    return removals + frozen === 0
  }
  if (!(await isDone())) {
    const hold = await store.hold().catch(() => undefined)
    if (hold) {
      work.use(hold)
      const events = {
        ...createEvents(createLog('silent'), health, clock),
        removalDelayed: (why: string) => (reason = why),
      }
      const destination = destinationOf(config.sites[0], config, secrets)
      const given = { ...destination, journal, health, events, removesOnly: true }
      const delivering = createDelivering(given, { clock })
      work.defer(() => delivering.stop(stopGraceMs))
      delivering.start()
    }
    const until = clock.elapsed() + waitMs
    while (!stop.aborted && clock.elapsed() < until && !(await isDone())) {
      await clock.sleep(lookMs, stop)
    }
    const note = hold ? undefined : await readDeliveryNote(journal.reader)
    if (note) followNote(note, health)
    if (health.delivery.state !== 'ok') reason = health.delivery.error
  }
  await emptyLog(options)
  return { ...(await journal.erasure.unfinished()), reason }
}

async function emptyLog({ journal, clock, stop }: ForgettingOptions): Promise<void> {
  const until = clock.elapsed() + scrubMaxMs
  while (!(await journal.erasure.scrub()) && !stop.aborted && clock.elapsed() < until) {
    await clock.sleep(lookMs, stop)
  }
}
