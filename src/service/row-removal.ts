import type { Config } from '../config/config.ts'
import type { Secrets } from '../config/secrets.ts'
import { readDeliveryNote } from '../journal/contracts/delivery-log.ts'
import type { Journal } from '../journal/contracts/journal.ts'
import type { JournalHome } from '../operations/journal-home.ts'
import type { RowRemoval } from '../operations/forget.ts'
import { createEvents } from '../ops/events.ts'
import { createHealth } from '../ops/health.ts'
import { createLog } from '../ops/log.ts'
import type { Clock } from '../platform/clock.ts'
import { createSiteDelivery } from './site-delivery.ts'
import { siteOf } from './site.ts'
import { accountsOf } from './spreadsheets.ts'

export interface RemovalOptions {
  readonly config: Config
  readonly secrets: Secrets
  readonly home: Pick<JournalHome, 'hold'>
  /** The parts of the sites, by name. Sites that are not in the settings are left alone. */
  readonly journals: ReadonlyMap<string, Journal>
  readonly clock: Clock
}

const stopGraceMs = 10_000

/**
 * Removes the rows of forgotten people, while no other process delivers. When a service runs, it does that
 * work, and this only tells how the service fares.
 */
export async function startRowRemoval(options: RemovalOptions): Promise<RowRemoval> {
  const { config, secrets, home, journals, clock } = options
  await using started = new AsyncDisposableStack()
  const hold = await home.hold().catch(() => undefined)
  if (!hold) return watchRemoval(journals)
  started.use(hold)
  const sites = config.sites.flatMap((site) => {
    const journal = journals.get(site.name)
    return journal ? [{ ...siteOf(site, config, secrets), journal }] : []
  })
  const accounts = accountsOf(sites, clock)
  const reasons = new Map<string, () => string | undefined>()
  for (const site of sites) {
    const { name, journal } = site
    const health = createHealth()
    let delayed: string | undefined
    const events = {
      ...createEvents(createLog('silent'), health, clock),
      removalDelayed: (why: string) => (delayed = why),
    }
    const account = accounts.get(name)
    const delivery = createSiteDelivery(
      { ...site, health, events, account, removesOnly: true },
      { clock },
    )
    reasons.set(name, () => (health.delivery.state === 'ok' ? delayed : health.delivery.error))
    const { removals, frozen } = await journal.erasure.unfinished()
    if (removals + frozen > 0) delivery.start()
    started.defer(() => delivery.stop(stopGraceMs))
  }
  const running = started.move()
  return {
    reasonAt: async (site) => reasons.get(site)?.(),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

/** Only tells how a service that removes the rows fares, as it has noted itself. */
export function watchRemoval(journals: ReadonlyMap<string, Journal>): RowRemoval {
  return {
    reasonAt: async (site) => {
      const journal = journals.get(site)
      const note = journal && (await readDeliveryNote(journal.reader))
      return note === undefined || note.delivery.state === 'ok' ? undefined : note.delivery.error
    },
    [Symbol.asyncDispose]: async () => {},
  }
}
