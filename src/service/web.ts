import { Puzzles } from '../api/challenge.ts'
import { describeService, openapiPath } from '../api/openapi/openapi.ts'
import { ready, readySites } from '../api/ready.ts'
import { type Answer, json } from '../http/answer.ts'
import { assetAnswer, documentAnswer, refusedScript } from '../http/assets.ts'
import { ApiKeys } from '../http/api-keys.ts'
import { arrivingBytesMax } from '../http/body.ts'
import { Budget } from '../http/budget.ts'
import { createEdge } from '../http/edge.ts'
import type { Exchange } from '../http/exchange.ts'
import { refuse } from '../http/refuse.ts'
import { Router } from '../http/router.ts'
import { type EdgeSite, Sites } from '../http/sites.ts'
import { postBulk } from '../intake/post-bulk.ts'
import { postSignup } from '../intake/post-signup.ts'
import type { Config } from '../config/config.ts'
import type { OpenJournal } from '../journal/contracts/journal.ts'
import type { JournalHome } from '../operations/journal-home.ts'
import type { Events } from '../ops/events.ts'
import type { Logger } from '../ops/log.ts'
import type { Metrics } from '../ops/metrics.ts'
import { requestEvents } from '../ops/request-events.ts'
import { answerRefusal } from '../pages/refusal.ts'
import { neutralOptions } from '../pages/view.ts'
import { remember } from '../platform/remember.ts'
import { staticFile } from '../platform/node/static-files.ts'
import type { StaticFile } from '../platform/static-file.ts'
import { signupIds } from '../signup/id.ts'
import { limits } from '../signup/limits.ts'
import { SpamCounts } from '../signup/spam-filter.ts'
import { readAssets } from './files.ts'
import { metricsRoute } from './metering.ts'
import type { RunningSite, RunningSites } from './running-site.ts'
import { type SiteWeb, siteWeb, type SiteWebOptions } from './site-web.ts'
import type { World } from './world.ts'

export interface WebOptions extends Pick<SiteWebOptions, 'config' | 'secrets'> {
  readonly sites: RunningSites
  readonly journal: Pick<OpenJournal, 'backlogs' | 'admin' | 'countNext'>
  readonly home: JournalHome
  /** What the admin page needs to end is added to it. */
  readonly started: Pick<AsyncDisposableStack, 'use'>
  readonly log: Logger
  /** Undefined without `METRICS_TOKEN`. */
  readonly metrics?: Metrics | undefined
}

/** Builds the HTTP application with all its routes. It does not listen yet. */
export async function createWeb(options: WebOptions, world: World) {
  const { config, sites, log, metrics } = options
  const [{ config: firstSite }, ...others] = sites
  const eventsOf = siteEvents(sites)
  const throwAwayDomains = await readThrowAwayDomains(config)
  const spamCounts = new SpamCounts()
  const common = { ...options, newId: signupIds(), spamCounts, throwAwayDomains }
  const webs = new Map(
    sites.map((running) => [running.config.name, siteWeb(running, common, world)]),
  )
  const found = ({ knownSite }: Exchange) => knownSite && webs.get(knownSite.name)
  const assets = await readAssets(log)
  const admin = await adminOf(options, world)
  const application = createEdge({
    ...config,
    sites: new Sites([firstSite, ...others.map((other) => other.config)], config.hasSites),
    clock: world.clock,
    eventsOf,
    apiKeys: new ApiKeys(options.secrets.apiKeys, world.digest, (site) =>
      eventsOf(site).apiKeyRefused(),
    ),
    ...requestEvents(log, metrics),
    warn: (warning, requestId) => log.warn({ requestId }, warning),
    router: routerOf({ ...options, ...world, webs, found, eventsOf, assets, admin }),
    showRefusal: (refusal, exchange) =>
      answerRefusal(refusal, exchange, found(exchange)?.pageOptions ?? neutralOptions),
  })
  /** Answers all requests that wait for a row at once. */
  const stopWaiting = () => {
    for (const { intake } of webs.values()) intake.waiting.stop()
  }
  return { application, stopWaiting }
}

interface Answering extends WebOptions, Pick<World, 'clock' | 'digest'> {
  readonly webs: ReadonlyMap<string, SiteWeb>
  /** The site of a request; undefined while it is unknown. */
  readonly found: (exchange: Exchange) => SiteWeb | undefined
  /** The events of a site, or those of requests whose site is unknown. */
  readonly eventsOf: (site: Pick<EdgeSite, 'name'> | undefined) => Events
  readonly assets: readonly StaticFile[]
  readonly admin: Awaited<ReturnType<typeof adminOf>>
}

/** Requests whose site is unknown count at the first site. */
function siteEvents(sites: RunningSites): Answering['eventsOf'] {
  const [first] = sites
  const events = new Map(sites.map((site) => [site.config.name, site.events]))
  return (site) => (site && events.get(site.name)) ?? first.events
}

/** The OpenAPI documents of so many sites are kept. */
const documentsKept = 100

/** All routes. A fixed path must come before a path with a parameter. */
function routerOf(options: Answering): Router {
  const { sites, webs, found, assets, metrics } = options
  const of = (exchange: Exchange): SiteWeb => {
    const { name } = exchange.site
    const web = webs.get(name)
    if (!web) throw new Error(`The site ${name} is not running.`)
    return web
  }
  const intakes = {
    bodies: {
      bytesMax: options.config.bodyBytesMax,
      formFieldsMax: limits.formFieldsMax,
      arriving: new Budget({ max: arrivingBytesMax, clientMax: arrivingBytesMax }),
    },
    of: (exchange: Exchange) => of(exchange).intake,
  }
  const puzzles = new Puzzles()
  const description = remember(documentsKept, (site) => describe(site, options))

  const router = new Router()
  router.add('/api/health', { GET: () => json('ok', { status: 'ok' }) })
  router.add('/api/ready', { GET: (exchange) => readiness(options, exchange) })
  router.add('/api/config', { GET: (exchange) => of(exchange).config() })
  router.add('/api/stamp', { GET: (exchange) => of(exchange).stamp() })
  router.add('/api/challenge', {
    GET: (exchange) => puzzles.answer(exchange, of(exchange).makePuzzle),
  })
  router.add('/api/signup', { POST: (exchange) => postSignup(exchange, intakes) })
  router.add('/api/signup/bulk', {
    POST: (exchange) => postBulk(exchange, intakes),
    needsApiKey: true,
  })
  for (const { path, POST, checksOrigin = false } of pagesOf(webs)) {
    const handle = (method: 'GET' | 'POST') => (exchange: Exchange) => {
      const handler = found(exchange)?.pages.find((it) => it.path === path)?.[method]
      if (!handler) throw refuse.noSuchSite()
      return handler(exchange)
    }
    router.add(path, { GET: handle('GET'), ...(POST && { POST: handle('POST') }), checksOrigin })
  }
  for (const file of assets) {
    const GET = (exchange: Exchange) => {
      // The embed without its site would send signups to the default one.
      if (exchange.isSiteUnknown) {
        const isScript = exchange.request.headers.get('sec-fetch-dest') === 'script'
        if (isScript) return refusedScript('There is no such site. Correct ?site= in its address.')
        throw refuse.noSuchSite(true)
      }
      const ofSite = found(exchange)?.files.get(file, assets)
      return assetAnswer(ofSite ?? file, exchange.request.headers)
    }
    router.add(`/${file.path}`, { GET, isPublic: true })
  }
  if (metrics) {
    router.add('/metrics', { GET: metricsRoute(metrics, sites, options.secrets, options) })
  }
  for (const route of options.admin) router.add(route.path, route)
  router.add(openapiPath, {
    GET: ({ site, request }) => documentAnswer(description(site.name), request.headers),
  })
  router.add('/api/signup/:id', { GET: (exchange) => of(exchange).status(exchange) })
  return router
}

/** The routes of the admin page: none, and nothing of it is loaded, without its token. */
async function adminOf(options: WebOptions, world: World) {
  const { adminToken } = options.secrets
  if (adminToken === undefined) return []
  const { adminPart } = await import('./admin.ts')
  return adminPart(options, adminToken, world)
}

/** The list from npm, which takes 5 ms and half a megabyte: only where a site needs it. */
async function readThrowAwayDomains({
  sites,
}: Pick<Config, 'sites'>): Promise<ReadonlySet<string>> {
  if (sites.every(({ spam }) => spam.filter === 'off')) return new Set()
  const { disposableEmailBlocklistSet } = await import('disposable-email-domains-js')
  return disposableEmailBlocklistSet()
}

/** Of the site that the address names, or of all sites. */
function readiness(
  { config, sites, journal, clock }: Answering,
  exchange: Exchange,
): Promise<Answer> {
  const { searchParams } = new URL(exchange.request.url)
  const isStrict = searchParams.has('strict')
  const [first, ...others] = sites
  const of = ({ config: { name }, health, events, journal: { reader } }: RunningSite) => {
    return { name, health, events, clock, reader }
  }
  if (config.hasSites && !searchParams.get('site')) {
    return readySites([of(first), ...others.map(of)], () => journal.backlogs(), isStrict)
  }
  const { name } = exchange.site
  return ready(of(sites.find((site) => site.config.name === name) ?? first), isStrict)
}

/** Every site has the same pages. */
function pagesOf(webs: ReadonlyMap<string, SiteWeb>): SiteWeb['pages'] {
  const [first] = webs.values()
  return first?.pages ?? []
}

/** The OpenAPI document for the signups of a site. */
function describe(name: string, { config, secrets, assets, webs }: Answering): StaticFile {
  const { bodyBytesMax, bulkItemsMax, hasSites, sites } = config
  const description = describeService({
    bodyBytesMax,
    bulkItemsMax,
    needsApiKey: secrets.apiKeys.length > 0,
    hasMetrics: secrets.metricsToken !== undefined,
    files: [
      ...pagesOf(webs).map(({ path, POST }) => ({
        path: path.replace(':token', '{token}'),
        contentType: 'text/html',
        takesPost: POST !== undefined,
      })),
      ...assets.map(({ path, contentType }) => ({ path: `/${path}`, contentType })),
    ],
    fields: sites.find((site) => site.name === name)?.fields ?? [],
    sites: hasSites ? sites.map((site) => site.name) : undefined,
  })
  return staticFile(openapiPath, new TextEncoder().encode(JSON.stringify(description)))
}
