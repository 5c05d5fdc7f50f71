import type { Config } from '../config/config.ts'
import type { Secrets } from '../config/secrets.ts'
import type { SiteConfig } from '../config/site.ts'
import type { Unfinished } from '../journal/contracts/erasure.ts'
import type { Journal } from '../journal/contracts/journal.ts'
import { createEvents } from '../ops/events.ts'
import { createHealth, type Health } from '../ops/health.ts'
import { createLog } from '../ops/log.ts'
import type { Clock } from '../platform/clock.ts'
import type { Millis } from '../signup/signup.ts'
import { createSiteDelivery } from './site-delivery.ts'
import { accountsOf, destinationOf } from './spreadsheets.ts'
import { followNote } from '../delivery/delivery-note.ts'
import { readDeliveryNote } from '../journal/contracts/delivery-note.ts'
import type { JournalHome } from '../journal/contracts/journal-home.ts'

export interface ForgettingOptions {
  readonly config: Config
  readonly secrets: Secrets
  readonly home: Pick<JournalHome, 'hold'>
  /** The parts of the sites, by name. Rows of a site that is not in the settings are not waited for. */
  readonly journals: ReadonlyMap<string, Journal>
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
  /** The sites where something waits because the settings do not have them. */
  readonly absentSites: readonly string[]
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
  const { config, journals, home, clock, stop, waitMs } = options
  const reachable = config.sites.flatMap((site): Forgetting[] => {
    const journal = journals.get(site.name)
    return journal ? [{ site, journal, health: createHealth(), reason: undefined }] : []
  })
  const isDone = async () => count(await unfinished(reachable)) === 0
  if (!(await isDone())) {
    await using work = new AsyncDisposableStack()
    const accounts = accountsOf(
      reachable.map(({ site, journal }) => ({ config: site, journal })),
      clock,
    )
    const hold = await home.hold().catch(() => undefined)
    if (hold) work.use(hold)
    for (const it of hold ? reachable : []) work.use(await removeRows(it, accounts, options))
    const until = clock.elapsed() + waitMs
    while (!stop.aborted && clock.elapsed() < until && !(await isDone())) {
      await clock.sleep(lookMs, stop)
    }
    for (const it of reachable) await noteReason(it, hold === undefined)
  }
  await emptyLog(options)
  const { removals, frozen } = await unfinished(
    Array.from(journals.values(), (journal) => ({ journal })),
  )
  const reason = reachable.find((it) => it.reason !== undefined)?.reason
  return { removals, frozen, reason, absentSites: await absentSites(options) }
}

/** A site that is in the settings. */
interface Forgetting {
  readonly site: SiteConfig
  readonly journal: Journal
  readonly health: Health
  reason: string | undefined
}

/** Removes the rows of one site, until it is disposed. */
async function removeRows(
  forgetting: Forgetting,
  accounts: ReturnType<typeof accountsOf>,
  { config, secrets, clock }: ForgettingOptions,
): Promise<AsyncDisposable> {
  const { site, journal, health } = forgetting
  const events = {
    ...createEvents(createLog('silent'), health, clock),
    removalDelayed: (why: string) => (forgetting.reason = why),
  }
  const destination = destinationOf(site, config, secrets)
  const delivering = createSiteDelivery(
    {
      ...destination,
      journal,
      health,
      events,
      account: accounts.get(site.name),
      removesOnly: true,
    },
    { clock },
  )
  if (count(await journal.erasure.unfinished()) > 0) delivering.start()
  return { [Symbol.asyncDispose]: () => delivering.stop(stopGraceMs) }
}

/** Notes why rows of this site wait. */
async function noteReason(forgetting: Forgetting, isRemovedElsewhere: boolean): Promise<void> {
  const { journal, health } = forgetting
  if (count(await journal.erasure.unfinished()) === 0) return
  const note = isRemovedElsewhere ? await readDeliveryNote(journal.reader) : undefined
  if (note) followNote(note, health)
  if (health.delivery.state !== 'ok') forgetting.reason = health.delivery.error
}

async function absentSites({ config, journals }: ForgettingOptions): Promise<readonly string[]> {
  const known = new Set(config.sites.map(({ name }) => name))
  const absent = [...journals].filter(([name]) => !known.has(name))
  const waiting = await Promise.all(
    absent.map(async ([name, { erasure }]) =>
      count(await erasure.unfinished()) > 0 ? [name] : [],
    ),
  )
  return waiting.flat()
}

async function unfinished(parts: readonly Pick<Forgetting, 'journal'>[]): Promise<Unfinished> {
  const sum = { removals: 0, frozen: 0 }
  for (const { journal } of parts) {
    const { removals, frozen } = await journal.erasure.unfinished()
    sum.removals += removals
    sum.frozen += frozen
  }
  return sum
}

function count({ removals, frozen }: Unfinished): number {
  return removals + frozen
}

async function emptyLog({ journals, clock, stop }: ForgettingOptions): Promise<void> {
  const until = clock.elapsed() + scrubMaxMs
  for (const { erasure } of journals.values()) {
    while (!(await erasure.scrub()) && !stop.aborted && clock.elapsed() < until) {
      await clock.sleep(lookMs, stop)
    }
  }
}
