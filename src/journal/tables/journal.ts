import type { Commit, Journal, OpenJournal } from '../contracts/journal.ts'
import type { Lease } from '../contracts/lease.ts'
import type { Listeners } from '../../platform/listeners.ts'
import type { Database } from '../sql.ts'
import { keyFor } from '../hashes.ts'
import { adminLogOf } from './admin-log.ts'
import { callLedgerOf } from './call-ledger.ts'
import { comparedOf } from './comparison.ts'
import { type DeliveryEngine, deliveryOf } from './delivery.ts'
import { erasureOf } from './erasure.ts'
import { type ImportEngine, Imports } from './imports.ts'
import { confirmationOf } from './pending/confirmation.ts'
import { type AppendGroup, intakeOf } from './intake.ts'
import { outboxOf } from './mail/outbox.ts'
import { quarantineOf } from './quarantine.ts'
import { backlogsIn, readerOf } from './reader.ts'
import { retentionOf } from './retention.ts'
import { Seats } from './seats.ts'
import { countNext } from './shares.ts'
import type { Site } from './site.ts'
import { Tabs } from './tabs.ts'
import { webhooksOf } from './webhooks.ts'

/** What an engine does in its own way for a site. */
export interface SiteEngine extends DeliveryEngine {
  readonly appends: AppendGroup
  readonly imports: ImportEngine
  readonly lease: Lease
  readonly time?: Journal['time']
}

/** The journal of one site. Disposing commits its waiting appends. */
export function journalOf(site: Site, engine: SiteEngine): Journal {
  const { appends, lease, time } = engine
  const known = { ...site, tabs: new Tabs(site), seats: new Seats(site) }
  const imports = new Imports(site, engine.imports)
  return {
    intake: intakeOf(known, appends),
    imports,
    delivery: deliveryOf(site, engine),
    erasure: erasureOf(site),
    retention: retentionOf(site),
    quarantine: quarantineOf(site),
    confirmation: confirmationOf(known),
    outbox: outboxOf(site),
    webhooks: webhooksOf(site),
    compared: comparedOf(site),
    reader: readerOf(site),
    lease,
    ...(time && { time }),
    callLedger: (account, by) => callLedgerOf(site.db, account, by),
    linkKey: new Uint8Array(Buffer.from(site.linkKey, 'base64')),
    keyFor: (use) => keyFor(site.secret, site.name, use),
    [Symbol.asyncDispose]: async () => {
      imports[Symbol.dispose]()
      await appends.drain()
    },
  }
}

/** The journal of these sites. Disposing closes it by `close`. */
export function openJournal(
  db: Database,
  sites: ReadonlyMap<string, Journal>,
  commits: Listeners<Commit>,
  close: () => Promise<void>,
): OpenJournal {
  return {
    sites,
    backlogs: () => backlogsIn(db),
    admin: adminLogOf(db),
    countNext: () => countNext(db),
    onCommit: (listener) => commits.add(listener),
    [Symbol.asyncDispose]: async () => {
      for (const journal of sites.values()) await journal[Symbol.asyncDispose]()
      await close()
    },
  }
}
