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
import { type Route, Router } from '../http/router.ts'
import { type EdgeSite, Sites } from '../http/sites.ts'
import { postBulk } from '../intake/post-bulk.ts'
import { postSignup } from '../intake/post-signup.ts'
import { siteWithoutName } from '../config/sites/site.ts'
import { requestEvents } from '../ops/request-events.ts'
import { answerRefusal } from '../pages/refusal.ts'
import { neutralOptions } from '../pages/view.ts'
import { remember } from '../platform/remember.ts'
import { staticFile } from '../platform/node/static-files.ts'
import type { StaticFile } from '../platform/static-file.ts'
import { signupIds } from '../signup/id.ts'
import { limits } from '../signup/limits.ts'
import { SpamCounts, withoutTypos } from '../intake/spam-filter.ts'
import { formPath, readAssets, siteFiles, tellsOpenness } from './files.ts'
import { metricsRoute } from './metering.ts'
import type { RunningSite, RunningSites, ServiceParts } from './site.ts'
import { type SiteWeb, siteWeb } from './site-web.ts'

/** Builds the HTTP application with all its routes. It does not listen yet. */
export async function createWeb(parts: ServiceParts) {
  const { config, secrets, sites, log, metrics, world } = parts
  const common = {
    ...{ ...parts, newId: signupIds(), spamCounts: new SpamCounts() },
    throwAwayDomains: await throwAwayDomainsFor(sites),
    assets: await readAssets(log),
  }
  const webs = new Map(sites.map((site) => [site.name, siteWeb(site, common)]))
  /** Requests whose site is unknown count at the first site. */
  const eventsOf = (site: EdgeSite | undefined) =>
    (sites.find(({ name }) => name === site?.name) ?? sites[0]).events
  const router = new Router()
  const admin = await adminOf(parts)
  const routes = { ...routesOf(parts, webs), ...filesOf(webs, common.assets) }
  for (const [path, route] of Object.entries(routes)) router.add(path, route)
  for (const route of admin) router.add(route.path, route)
  const application = createEdge({
    ...config,
    sites: new Sites(sites, config.hasSites, siteWithoutName(sites)),
    clock: world.clock,
    eventsOf,
    apiKeys: new ApiKeys(secrets.apiKeys, (site) => eventsOf(site).apiKeyRefused()),
    ...requestEvents(log, metrics),
    warn: (warning, requestId) => log.warn({ requestId }, warning),
    router,
    showRefusal: (refusal, exchange) => {
      const { pageOptions = neutralOptions } = webs.get(exchange.knownSite?.name ?? '') ?? {}
      return answerRefusal(refusal, exchange, pageOptions)
    },
  })
  /** Answers all requests that wait for a row at once. */
  const stopWaiting = () => {
    for (const { intake } of webs.values()) intake.waiting.stop()
  }
  return { application, stopWaiting }
}

type Webs = ReadonlyMap<string, SiteWeb>

/** The OpenAPI documents of so many sites are kept. */
const documentsKept = 100

/** The routes by their paths, but for those of files and of the admin page. */
function routesOf(parts: ServiceParts, webs: Webs): Readonly<Record<string, Route>> {
  const { config, metrics } = parts
  const of = ({ site: { name } }: Exchange): SiteWeb => {
    const web = webs.get(name)
    if (!web) throw new Error(`The site ${name} is not running.`)
    return web
  }
  const intakes = {
    bodies: {
      bytesMax: config.bodyBytesMax,
      formFieldsMax: limits.formFieldsMax,
      arriving: new Budget({ max: arrivingBytesMax, clientMax: arrivingBytesMax }),
    },
    bySite: new Map(Array.from(webs, ([name, { intake }]) => [name, intake])),
  }
  const puzzles = new Puzzles()
  const description = remember(documentsKept, (site) => describe(site, parts))
  return {
    '/api/health': { GET: () => json('ok', { status: 'ok' }) },
    '/api/ready': { GET: (exchange) => readiness(parts, exchange) },
    '/api/config': { GET: (exchange) => of(exchange).config(exchange) },
    '/api/stamp': { GET: (exchange) => of(exchange).stamp() },
    '/api/challenge': { GET: (exchange) => puzzles.answer(exchange, of(exchange).makePuzzle) },
    '/api/signup': { POST: (exchange) => postSignup(exchange, intakes) },
    '/api/signup/bulk': { POST: (exchange) => postBulk(exchange, intakes), needsApiKey: true },
    ...pagesOf(webs),
    ...(metrics && { '/metrics': { GET: metricsRoute(parts, metrics) } }),
    [openapiPath]: {
      GET: ({ site, request }) => documentAnswer(description(site.name), request.headers),
    },
    '/api/signup/:id': { GET: (exchange) => of(exchange).status(exchange) },
  }
}

/** The pages, which are the same for every site. */
function pagesOf(webs: Webs): Readonly<Record<string, Route>> {
  const [first] = webs.values()
  const pages = first?.pages ?? []
  return Object.fromEntries(
    pages.map(({ path, POST, checksOrigin = false }, at) => {
      const handle = (method: 'GET' | 'POST') => (exchange: Exchange) => {
        const handler = webs.get(exchange.knownSite?.name ?? '')?.pages[at]?.[method]
        if (!handler) throw refuse.noSuchSite()
        return handler(exchange)
      }
      return [path, { GET: handle('GET'), ...(POST && { POST: handle('POST') }), checksOrigin }]
    }),
  )
}

/** The files for pages of every origin. */
function filesOf(webs: Webs, assets: readonly StaticFile[]): Readonly<Record<string, Route>> {
  // An empty name tells the embed that it has to name its site.
  const siteless = siteFiles({ ...neutralOptions, site: '' }, assets)
  const get = (file: StaticFile, { isSiteUnknown, knownSite, request }: Exchange) => {
    // The embed without its site would send signups to the default one.
    if (isSiteUnknown && request.headers.get('sec-fetch-dest') === 'script') {
      return refusedScript(
        'There is no such site, so no form is drawn. Correct ?site= in the address of the script.',
      )
    }
    const { files, pageOptions } = webs.get(knownSite?.name ?? '') ?? { files: siteless }
    // The embed asks for its form when its address names no site.
    if (isSiteUnknown || (files === siteless && file.path === formPath)) {
      throw refuse.noSuchSite(true)
    }
    const isBrief = pageOptions?.closes && tellsOpenness(file)
    return assetAnswer(files(file), request.headers, isBrief)
  }
  return Object.fromEntries(
    assets.map((file) => [
      `/${file.path}`,
      { GET: (exchange: Exchange) => get(file, exchange), isPublic: true },
    ]),
  )
}

/** The routes of the admin page: none, and nothing of it is loaded, without its token. */
async function adminOf(parts: ServiceParts) {
  const { adminToken } = parts.secrets
  if (adminToken === undefined) return []
  const { adminPart } = await import('./admin.ts')
  return adminPart(parts, adminToken)
}

/** The list from npm, which takes 5 ms and half a megabyte: only where a site needs it. */
async function throwAwayDomainsFor(sites: RunningSites) {
  if (sites.every(({ spam }) => spam.filter === 'off')) return new Set<string>()
  const { disposableEmailBlocklistSet } = await import('disposable-email-domains-js')
  return withoutTypos(disposableEmailBlocklistSet())
}

/** Of the site that the address names, or of all sites. */
function readiness(
  { config, sites, journal, world: { clock } }: ServiceParts,
  exchange: Exchange,
): Promise<Answer> {
  const { searchParams } = new URL(exchange.request.url)
  const isStrict = searchParams.has('strict')
  const [first, ...others] = sites
  const of = ({ name, health, events, journal: { reader } }: RunningSite) => {
    return { name, health, events, clock, reader }
  }
  if (config.hasSites && !searchParams.get('site')) {
    return readySites([of(first), ...others.map(of)], () => journal.backlogs(), isStrict)
  }
  const { name } = exchange.site
  return ready(of(sites.find((site) => site.name === name) ?? first), isStrict)
}

/** The OpenAPI document for the signups of a site. */
function describe(name: string, { config, secrets, sites }: ServiceParts): StaticFile {
  const description = describeService({
    ...config,
    needsApiKey: secrets.apiKeys.length > 0,
    hasMetrics: secrets.metricsToken !== undefined,
    fields: sites.find((site) => site.name === name)?.fields ?? [],
    sites: config.hasSites ? sites.map((site) => site.name) : undefined,
    needsSite: siteWithoutName(sites) === undefined,
  })
  return staticFile(openapiPath, new TextEncoder().encode(JSON.stringify(description)))
}
