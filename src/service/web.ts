import { describeService, openapiPath } from '../api/openapi/openapi.ts'
import { publicConfig } from '../api/config.ts'
import { ready } from '../api/ready.ts'
import { signupStatus } from '../api/status.ts'
import { widgetOf } from '../challenge/providers.ts'
import { json } from '../http/answer.ts'
import { assetAnswer, documentAnswer } from '../http/assets.ts'
import { type Application, createEdge } from '../http/edge.ts'
import { Router } from '../http/router.ts'
import { type BulkIntake, postBulk } from '../intake/post-bulk.ts'
import { postSignup } from '../intake/post-signup.ts'
import type { Journal } from '../journal/journal.ts'
import { JournalUnavailable } from '../journal/unavailable.ts'
import type { Logger } from '../ops/log.ts'
import { missingInPosted, sendOn } from '../pages/form-post.ts'
import { type PageRoute, pageRoutes } from '../pages/page-routes.ts'
import { answerRefusal } from '../pages/refusal.ts'
import { plainFile } from '../platform/node/static-files.ts'
import type { StaticFile } from '../platform/static-file.ts'
import { readAssets } from './files.ts'
import { createIntake, type IntakeOptions } from './intake.ts'
import type { RunningSites } from './running-site.ts'
import { tabsOf } from './tabs.ts'
import type { World } from './world.ts'

export interface WebOptions extends Pick<IntakeOptions, 'config' | 'secrets'> {
  readonly sites: RunningSites
  readonly log: Logger
}

/** The HTTP application, which does not listen yet. */
export interface Web {
  readonly application: Application
  /** Answers all requests that wait for a row at once. */
  stopWaiting: () => void
}

/** Builds the HTTP application with all its routes. */
export async function createWeb(
  options: WebOptions,
  world: Pick<World, 'clock' | 'http' | 'digest'>,
): Promise<Web> {
  const { config, secrets, log } = options
  const [{ config: site, journal, health, events }] = options.sites
  const { clock } = world
  const pageOptions = {
    pages: site.pages,
    widget: widgetOf(site.challenge ?? { provider: 'turnstile', siteKey: null }),
    fields: site.fields,
    allowedOrigins: site.allowedOrigins,
    tabs: tabsOf(site, journal),
    events,
    takesTab: (tab: string, client: string | undefined) =>
      journal.intake.takesTab(tab, clock.now(), client).catch(unlessUnavailable),
  }
  const intake = createIntake(
    { config, secrets, site, events, health, journal: journal.intake },
    world,
    {
      tabs: pageOptions.tabs,
      people: {
        missing: (exchange, fields) => missingInPosted(exchange, fields, pageOptions),
        sendOn: (exchange, redirect) => sendOn(exchange, redirect, pageOptions),
      },
    },
  )
  const assets = await readAssets(site, log)
  const application = createEdge({
    ...config,
    ...site,
    clock,
    events,
    warn: (warning, requestId) => log.warn({ requestId }, warning),
    router: routerOf({
      ...options,
      site,
      journal,
      health,
      ...world,
      ...pageOptions,
      intake,
      assets,
    }),
    showRefusal: (refusal, exchange) => answerRefusal(refusal, exchange, pageOptions),
  })
  return { application, stopWaiting: () => intake.waiting.stop() }
}

type Answering = Omit<WebOptions, 'sites'> &
  Pick<IntakeOptions, 'site' | 'health' | 'events'> &
  Pick<World, 'clock'> &
  Parameters<typeof pageRoutes>[0] &
  Pick<Parameters<typeof publicConfig>[0], 'widget'> & {
    readonly intake: BulkIntake
    readonly journal: Journal
    readonly assets: readonly StaticFile[]
  }

/** All routes. A fixed path must come before a path with a parameter. */
function routerOf(options: Answering): Router {
  const { config, site, journal, intake, assets } = options
  const pages = pageRoutes(options)
  const description = describe(options, pages)
  const settings = { ...config, ...site, ...options }

  const router = new Router()
  router.add('/api/health', { GET: () => json('ok', { status: 'ok' }) })
  router.add('/api/ready', {
    GET: ({ request }) =>
      ready(
        { ...options, reader: journal.reader },
        new URL(request.url).searchParams.has('strict'),
      ),
  })
  router.add('/api/config', { GET: () => publicConfig(settings) })
  router.add('/api/signup', { POST: (exchange) => postSignup(exchange, intake) })
  router.add('/api/signup/bulk', { POST: (exchange) => postBulk(exchange, intake) })
  for (const { path, GET } of pages) router.add(path, { GET })
  for (const file of assets) {
    const GET = ({ request }: Parameters<PageRoute['GET']>[0]) => assetAnswer(file, request.headers)
    router.add(`/${file.path}`, { GET, isPublic: true })
  }
  router.add(openapiPath, { GET: ({ request }) => documentAnswer(description, request.headers) })
  router.add('/api/signup/:id', {
    GET: ({ params }) =>
      signupStatus(params['id'] ?? '', { find: (id) => journal.intake.find(id) }),
  })
  return router
}

function describe({ config, secrets, assets }: Answering, pages: readonly PageRoute[]): StaticFile {
  const { bodyBytesMax, bulkItemsMax } = config
  const description = describeService({
    bodyBytesMax,
    bulkItemsMax,
    needsApiKey: secrets.apiKeys.length > 0,
    pages,
    files: assets.map(({ path, contentType }) => ({ path: `/${path}`, contentType })),
  })
  return plainFile(openapiPath, new TextEncoder().encode(JSON.stringify(description)))
}

/** While the journal is unavailable, show the form as if the tab were allowed. */
function unlessUnavailable(error: unknown): true {
  if (error instanceof JournalUnavailable) return true
  throw error
}
