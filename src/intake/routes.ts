import { type Context, Hono } from 'hono'
import { etag, RETAINED_304_HEADERS } from 'hono/etag'
import { getPath } from 'hono/utils/url'

import { JournalUnavailable } from '../journal/journal.ts'
import type { Health } from '../ops/health.ts'
import { limits } from '../signup/limits.ts'
import type { SignupId } from '../signup/signup.ts'
import type { ConfigAnswer } from '../signup/wire.ts'
import type { Connection, ProtocolFailure } from '../platform/http-server.ts'
import { type AssetOptions, assetRoutes } from './assets.ts'
import { type BulkIntake, postBulk } from './bulk.ts'
import { createEdge, type EdgeOptions, refuseProtocol, type Visit } from './edge.ts'
import { describeService, openapiPath } from './openapi.ts'
import { preflightHeaders } from './origin.ts'
import { pageRoutes } from './page-routes.ts'
import type { PageOptions } from './pages/view.ts'
import { answerRefusal } from './refusal.ts'
import * as respond from './respond.ts'
import { type Answer, ok, readiness, refuse, RequestRefused, signupStatus } from './respond.ts'
import { postSignup } from './signup.ts'

export interface IntakeOptions extends BulkIntake, EdgeOptions, PageOptions, AssetOptions {}

/** The HTTP application. */
export interface Intake {
  fetch(request: Request, connection: Connection): Promise<Response>
  /** Answers what is no request by the rules of HTTP. */
  refuse(failure: ProtocolFailure): Response
}

interface Env {
  Bindings: Visit
}

type Handler = (context: Context<Env>) => Response | Promise<Response>
type Method = 'GET' | 'POST'

/** Of a file that is not sent again. */
const retainedHeaders = [...RETAINED_304_HEADERS, 'cross-origin-resource-policy']

/** What goes past the router, which takes longer than parsing a signup. */
const direct: Readonly<Record<string, typeof postSignup | typeof postBulk>> = {
  '/api/signup': postSignup,
  '/api/signup/bulk': postBulk,
}

/** Every path, and what answers it. */
export function createIntake(options: IntakeOptions): Intake {
  const { journal, health, log } = options
  // Not strict: a slash at the end of a path makes no difference.
  const app = new Hono<Env>({ strict: false })

  /** The first path that fits is taken: fixed ones stand before those with a parameter. */
  const route = (path: string, handlers: Partial<Record<Method, Handler>>) => {
    const allowed = allowedMethods(handlers)
    for (const [method, handler] of Object.entries(handlers)) app.on(method, path, handler)
    app.options(path, ({ req }) => {
      const isPreflight = req.header('access-control-request-method') !== undefined
      return respond.options(allowed, isPreflight ? preflightHeaders(allowed) : {})
    })
    app.all(path, () => {
      throw refuse.method(allowed)
    })
  }

  app.use(openapiPath, etag({ retainedHeaders }))
  route('/api/health', { GET: () => ok({ status: 'ok' }) })
  route('/api/ready', {
    GET: async ({ req }) => {
      const isStrict = req.query('strict') !== undefined
      if (health.journal.state !== 'ok') await probe(options)
      return ready(health, await journal.backlog(), isStrict)
    },
  })
  route('/api/config', { GET: () => ok(publicConfig(options)) })
  route('/api/signup', {
    POST: async ({ req, env }) => toResponse(await postSignup(req.raw, options, env)),
  })
  route('/api/signup/bulk', {
    POST: async ({ req, env }) => toResponse(await postBulk(req.raw, options, env)),
  })
  const pages = pageRoutes(options)
  for (const [path, handler] of Object.entries(pages))
    route(path, { GET: ({ req, env }) => handler(req.raw, env) })
  for (const [path, answer] of assetRoutes(options))
    route(path, { GET: ({ req }) => answer(req.raw) })
  const description = JSON.stringify(describe(options, Object.keys(pages)))
  route(openapiPath, { GET: () => respond.description(description) })
  route('/api/signup/:id', {
    GET: async ({ req }) => {
      const status = await journal.find(req.param('id')?.toLowerCase() as SignupId)
      if (!status) throw refuse.noSuchSignup()
      return signupStatus(status)
    },
  })

  // Every refusal and every error comes by here, and is answered here.
  const refusal = (refused: RequestRefused, request: Request, visit: Visit) =>
    answerRefusal(request, refused, visit, options)
  app.notFound(() => {
    throw refuse.noSuchPath()
  })
  const failure = (error: unknown, request: Request, visit: Visit) => {
    if (error instanceof RequestRefused) return refusal(error, request, visit)
    log.error({ err: error }, 'a request failed in a way that nobody foresaw')
    return refusal(refuse.unexpected(), request, visit)
  }
  app.onError((error, { req, env }) => failure(error, req.raw, env))
  const handle = handlerOf(app, options, failure)
  return { fetch: createEdge(options, { handle, refuse: refusal }), refuse: refuseProtocol }
}

type Failure = (error: unknown, request: Request, visit: Visit) => Response | Promise<Response>

function handlerOf(app: Hono<Env>, options: IntakeOptions, failure: Failure) {
  return async (request: Request, visit: Visit): Promise<Response | Answer> => {
    const post = request.method === 'POST' ? direct[getPath(request)] : undefined
    if (!post) return app.fetch(request, visit)
    try {
      return await post(request, options, visit)
    } catch (error) {
      return failure(error, request, visit)
    }
  }
}

function toResponse(answer: Response | Answer): Response {
  return 'toResponse' in answer ? answer.toResponse() : answer
}

function allowedMethods(handlers: Partial<Record<Method, Handler>>): readonly string[] {
  return [...(handlers.GET ? ['GET', 'HEAD'] : []), ...(handlers.POST ? ['POST'] : []), 'OPTIONS']
}

function describe(options: IntakeOptions, paths: readonly string[]) {
  const { bodyBytesMax, bulkItemsMax, apiKeys, assets } = options
  return describeService({
    bodyBytesMax,
    bulkItemsMax,
    needsApiKey: apiKeys.areSet,
    pages: paths,
    files: assets.map(({ path, contentType }) => ({ path: `/${path}`, contentType })),
  })
}

/** A load balancer sends no signup to what is not ready: only a try of our own can end that. */
async function probe({ journal, events }: IntakeOptions): Promise<void> {
  try {
    // Another value each time: SQLite writes nothing that stays the same.
    await journal.noteFact('probed', crypto.randomUUID())
    events.journalRecovered()
  } catch (error) {
    if (!(error instanceof JournalUnavailable)) throw error
  }
}

/** Ready while signups can be stored: a spreadsheet that is out of reach turns nobody away. */
function ready(health: Health, backlog: number, isStrict: boolean): Response {
  const { journal, delivery, tabs, challenge, warnings } = health
  const isBlocked =
    delivery.state === 'blocked' || tabs.size > 0 || challenge.state === 'misconfigured'
  const body = {
    status: journal.state === 'ok' ? 'ready' : 'unavailable',
    journal,
    challenge,
    delivery: { ...delivery, backlog, tabsSetAside: [...new Set(tabs.values())], warnings },
  }
  return readiness(body, journal.state === 'ok' && !(isStrict && isBlocked))
}

function publicConfig(options: IntakeOptions): ConfigAnswer {
  const { tabs, bodyBytesMax, bulkItemsMax, widget } = options
  return {
    challengeEnabled: widget.siteKey !== null,
    challengeSiteKey: widget.siteKey,
    challengeProvider: widget.provider,
    challengeScriptUrl: widget.scriptUrl,
    defaultSheetTab: tabs.defaultTab,
    sheetTabs: tabs.onlyKnownTabs ? [...tabs.knownTabs.values()] : null,
    limits: { ...limits, bodyBytesMax, bulkItemsMax },
  }
}
