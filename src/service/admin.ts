import { peopleRoutes } from '../admin/actions.ts'
import { adminRoutes } from '../admin/admin.ts'
import { overviewView } from '../admin/overview.ts'
import { sendingRoute } from '../admin/sending.ts'
import type { AdminSite } from '../admin/visit.ts'
import { sendTestNotice } from '../alerts/inspection.ts'
import type { Config } from '../config/config.ts'
import type { Secrets } from '../config/secrets.ts'
import type { Route } from '../http/router.ts'
import type { OpenJournal } from '../journal/contracts/journal.ts'
import { startCounting } from '../operations/counting.ts'
import type { JournalHome } from '../operations/journal-home.ts'
import { WorkRunner } from '../operations/work.ts'
import type { Logger } from '../ops/log.ts'
import { adminEvents } from '../ops/request-events.ts'
import { second } from '../platform/clock.ts'
import { testWebhook } from './inspections.ts'
import { watchRemoval } from './row-removal.ts'
import type { RunningSites } from './running-site.ts'
import { connectSpreadsheet, destinationOf } from './spreadsheets.ts'
import { endpointsOf } from './webhooks.ts'
import type { World } from './world.ts'

export interface AdminParts {
  readonly config: Config
  readonly secrets: Secrets
  readonly sites: RunningSites
  readonly journal: Pick<OpenJournal, 'admin' | 'countNext'>
  readonly home: JournalHome
  /** Is disposed of before the journal. */
  readonly started: Pick<AsyncDisposableStack, 'use'>
  readonly log: Logger
}

const testMaxMs = 20 * second

/** The routes of the admin page with their whole paths. */
export function adminPart(
  { config, secrets, sites, journal, home, started, log }: AdminParts,
  token: string,
  world: World,
): readonly (Route & { readonly path: string })[] {
  const { clock, digest } = world
  const time = sites[0].journal.time ?? clock
  const siteOf = (site: RunningSites[number]): AdminSite => {
    const { spreadsheet, confirmation, name } = site.config
    const destination = { ...destinationOf(site.config, config, secrets), journal: site.journal }
    return {
      ...{ name, journal: site.journal, confirms: confirmation === 'mail' },
      location: connectSpreadsheet(destination, world).location,
      account: spreadsheet.kind === 'google' ? spreadsheet : undefined,
      endpoints: endpointsOf(secrets, site.config).map((endpoint) => ({
        ...endpoint,
        test: () => testWebhook(endpoint, AbortSignal.timeout(testMaxMs)),
      })),
    }
  }
  const { alertWebhook } = secrets
  const receiver = { ...world, http: world.receiverHttp }
  const sending = sendingRoute({
    testNotice:
      alertWebhook &&
      (() => sendTestNotice(alertWebhook, receiver, AbortSignal.timeout(testMaxMs))),
  })
  const events = adminEvents(log, clock)
  const now = () => time.now()
  const runner = new WorkRunner({
    log: journal.admin,
    clock,
    now,
    failed: (error: unknown) => events.workFailed(error),
  })
  started.use(runner)
  started.use(startCounting(journal, clock, log))
  const isInDatabase = config.database !== undefined
  const people = peopleRoutes({ runner, home, clock, isInDatabase, watchRemoval })
  const [first, ...others] = sites
  return adminRoutes({
    sites: [siteOf(first), ...others.map(siteOf)],
    routes: [{ path: '', GET: overviewView }, sending, ...people],
    ...{ log: journal.admin, token, digest, clock, now, events },
  })
}
