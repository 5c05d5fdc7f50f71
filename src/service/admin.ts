import { peopleRoutes } from '../admin/actions.ts'
import { adminRoutes } from '../admin/admin.ts'
import { exportRoute } from '../admin/export.ts'
import { overviewView } from '../admin/overview.ts'
import { sendingRoute } from '../admin/sending.ts'
import type { AdminSite } from '../admin/visit.ts'
import { sendTestNotice } from '../alerts/inspection.ts'
import type { Route } from '../http/router.ts'
import type { Journal } from '../journal/contracts/journal.ts'
import { WorkRunner } from '../operations/work.ts'
import { adminEvents } from '../ops/request-events.ts'
import { second } from '../platform/clock.ts'
import { firstOf } from '../signup/site-text.ts'
import { watchRemoval } from './row-removal.ts'
import type { RunningSite, ServiceParts } from './site.ts'
import { tellerOf } from './teller.ts'

const testMaxMs = 20 * second

/** The routes of the admin page with their whole paths. */
export function adminPart(
  { config, secrets, sites, journal, home, started, log, world }: ServiceParts,
  token: string,
): readonly (Route & { readonly path: string })[] {
  const { clock } = world
  const receiver = { clock, http: world.receiverHttp }
  const time = sites[0].journal.time ?? clock
  const siteOf = (site: RunningSite): AdminSite => {
    const { name, journal, location, own, page, spreadsheet, confirmation } = site
    return {
      title: page.title === undefined ? '' : firstOf(page.title),
      ...{ name, journal, location, confirms: confirmation === 'mail', columns: own },
      closing: site.closing,
      confirmationDays: config.confirmationDays,
      account: spreadsheet.kind === 'google' ? spreadsheet : undefined,
      endpoints: site.endpoints.map((endpoint) => ({
        ...endpoint,
        test: () => tellerOf(endpoint, receiver).test(AbortSignal.timeout(testMaxMs)),
      })),
    }
  }
  const { alertWebhook } = secrets
  const events = adminEvents(log, clock)
  const now = () => time.now()
  const runner = new WorkRunner({
    log: journal.admin,
    clock,
    now,
    failed: (error: unknown) => events.workFailed(error),
  })
  const sending = sendingRoute({
    runner,
    testNotice:
      alertWebhook &&
      (() => sendTestNotice(alertWebhook, receiver, AbortSignal.timeout(testMaxMs))),
  })
  started.use(runner)
  const isInDatabase = config.database !== undefined
  const removing = (journals: ReadonlyMap<string, Journal>) => {
    for (const { erased } of sites) erased.tell(undefined)
    return watchRemoval(journals)
  }
  const people = peopleRoutes({ runner, home, clock, isInDatabase, watchRemoval: removing })
  const [first, ...others] = sites
  return adminRoutes({
    sites: [siteOf(first), ...others.map(siteOf)],
    routes: [{ path: '', GET: overviewView }, exportRoute, sending, ...people],
    ...{ log: journal.admin, token, clock, now, events },
  })
}
