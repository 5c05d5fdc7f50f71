import { type PublicSettings, publicConfig } from '../api/config.ts'
import { signupStatus } from '../api/status.ts'
import { widgetOf } from '../challenge/providers.ts'
import type { Config } from '../config/config.ts'
import type { Answer } from '../http/answer.ts'
import type { Exchange } from '../http/exchange.ts'
import type { Intake } from '../intake/accept.ts'
import { JournalUnavailable } from '../journal/contracts/errors.ts'
import { type FormPostOptions, missingInPosted, sendOn } from '../pages/form-post.ts'
import { type PageRoute, pageRoutes } from '../pages/page-routes.ts'
import { SiteFiles } from './files.ts'
import { createIntake, type IntakeOptions } from './intake.ts'
import type { RunningSite } from './running-site.ts'
import { tabsOf } from './tabs.ts'
import type { World } from './world.ts'

/** What the HTTP routes need of one site. */
export interface SiteWeb {
  readonly intake: Intake
  readonly pageOptions: FormPostOptions
  readonly pages: readonly PageRoute[]
  readonly files: SiteFiles
  /** `GET /api/config`. */
  config(): Answer
  /** `GET /api/signup/:id`. */
  status(exchange: Exchange): Promise<Answer>
}

/** Builds the HTTP side of one site. */
export function siteWeb(
  running: RunningSite,
  options: Pick<IntakeOptions, 'secrets' | 'newId'> & { readonly config: Config },
  world: Pick<World, 'clock' | 'http' | 'digest'>,
): SiteWeb {
  const { config: site, journal, events, health } = running
  const { config } = options
  const pageOptions = {
    pages: site.page,
    site: config.hasSites ? site.name : undefined,
    widget: widgetOf(site.challenge ?? { provider: 'turnstile', siteKey: null }),
    fields: site.fields,
    allowedOrigins: site.origins,
    tabs: tabsOf(site, journal),
    events,
    takesTab: (tab: string, client: string | undefined) =>
      journal.intake.takesTab(tab, world.clock.now(), client).catch(unlessUnavailable),
  }
  const intake = createIntake(
    { ...options, site, events, health, journal: journal.intake },
    world,
    {
      tabs: pageOptions.tabs,
      people: {
        missing: (exchange, fields) => missingInPosted(exchange, fields, pageOptions),
        sendOn: (exchange, redirect) => sendOn(exchange, redirect, pageOptions),
      },
    },
  )
  const settings: PublicSettings = { ...config, ...pageOptions }
  return {
    intake,
    pageOptions,
    pages: pageRoutes(pageOptions),
    files: new SiteFiles(pageOptions),
    config: () => publicConfig(settings),
    status: ({ params }) => signupStatus(params['id'] ?? '', (id) => journal.intake.find(id)),
  }
}

/** While the journal is unavailable, show the form as if the tab were allowed. */
function unlessUnavailable(error: unknown): true {
  if (error instanceof JournalUnavailable) return true
  throw error
}
