import { type Context, Hono } from 'hono'
import { getPath } from 'hono/utils/url'

import type { Logger } from '../ops/log.ts'
import { type HttpRequest, IncompleteBody, type PlainAnswer } from '../platform/http-exchange.ts'
import type { Connection, ProtocolFailure } from '../platform/http-exchange.ts'
import { plainFile } from '../platform/node/static-files.ts'
import type { StaticFile } from '../platform/static-file.ts'
import { limits } from '../signup/limits.ts'
import type { SignupId } from '../signup/signup.ts'
import type { ConfigAnswer } from '../signup/wire.ts'
import { type AssetOptions, assetRoutes, documentResponse } from '../http/assets.ts'
import { type BulkIntake, postBulk } from '../intake/post-bulk.ts'
import { createEdge, type EdgeOptions, refuseProtocol } from '../http/edge.ts'
import { describeService, openapiPath } from '../api/openapi/openapi.ts'
import { preflightHeaders } from '../http/origin.ts'
import { pageRoutes } from '../pages/page-routes.ts'
import type { PageOptions } from '../pages/view.ts'
import { ready, type ReadinessOptions } from '../api/ready.ts'
import { answerRefusal } from '../pages/refusal.ts'
import * as respond from '../http/respond.ts'
import { ok, refuse, RequestRefused, signupStatus } from '../http/respond.ts'
import { postSignup } from '../intake/post-signup.ts'
import type { Visit } from '../http/exchange.ts'

export interface IntakeOptions
  extends BulkIntake, EdgeOptions, PageOptions, AssetOptions, ReadinessOptions {}

/** The HTTP application. */
export interface Intake {
  fetch(request: HttpRequest, connection: Connection): Promise<Response | PlainAnswer>
  /** Answers what is no request by the rules of HTTP. */
  refuse(failure: ProtocolFailure): Response
}

interface Env {
  Bindings: Visit
}

interface Handlers {
  readonly GET?: (context: Context<Env>) => Response | Promise<Response>
  readonly POST?: typeof postSignup | typeof postBulk
}

/** Every path, and what answers it. */
export function createIntake(options: IntakeOptions): Intake {
  const { log, events } = options
  // Not strict: a slash at the end of a path makes no difference.
  const app = new Hono<Env>({ strict: false })
  /** These go past the router, which takes longer than parsing a signup. */
  const posts = new Map<string, typeof postSignup | typeof postBulk>()

  /** The first path that fits is taken: fixed ones stand before those with a parameter. */
  const route = (path: string, { GET, POST }: Handlers) => {
    const allowed = [...(GET ? ['GET', 'HEAD'] : []), ...(POST ? ['POST'] : []), 'OPTIONS']
    if (GET) app.get(path, GET)
    if (POST) posts.set(path, POST)
    app.options(path, ({ req }) => {
      const isPreflight = req.header('access-control-request-method') !== undefined
      return respond.options(allowed, isPreflight ? preflightHeaders(allowed) : {})
    })
    app.all(path, () => {
      throw refuse.method(allowed)
    })
  }

  route('/api/health', { GET: () => ok({ status: 'ok' }) })
  route('/api/ready', { GET: ({ req }) => ready(options, req.query('strict') !== undefined) })
  route('/api/config', { GET: () => ok(publicConfig(options)) })
  route('/api/signup', { POST: postSignup })
  route('/api/signup/bulk', { POST: postBulk })
  const pages = pageRoutes(options)
  for (const [path, handler] of Object.entries(pages))
    route(path, { GET: ({ req, env }) => handler(req.raw, env) })
  const files = new Map(assetRoutes(options))
  for (const [path, answer] of files) route(path, { GET: ({ req }) => answer(req.raw) })
  const description = describe(options, Object.keys(pages))
  route(openapiPath, { GET: ({ req }) => documentResponse(description, req.raw.headers) })
  route('/api/signup/:id', { GET: ({ req }) => findSignup(req.param('id') ?? '', options) })

  app.notFound(() => {
    throw refuse.noSuchPath()
  })
  // Nothing is answered there: whatever is thrown comes to `refused`.
  app.onError((error) => {
    throw error
  })
  const handle = (request: HttpRequest, visit: Visit) => {
    const post = request.method === 'POST' ? posts.get(pathOf(request)) : undefined
    return post ? post(request, options, visit) : app.fetch(withoutBody(request), visit)
  }
  return {
    fetch: createEdge(options, {
      handle,
      isPublic: (request) => request.method === 'GET' && files.has(pathOf(request)),
      refuse: (error, request, visit) => {
        const refused = refusalOf(error, visit, log)
        events.requestRefused(refused, visit.requestId)
        return answerRefusal(request, refused, visit, options)
      },
    }),
    refuse: (failure) => {
      const requestId = crypto.randomUUID()
      const refused = refuse.protocol(failure)
      events.requestRefused(refused, requestId)
      return refuseProtocol(refused, requestId)
    },
  }
}

async function findSignup(id: string, { journal }: IntakeOptions): Promise<Response> {
  const status = await journal.find(id.toLowerCase() as SignupId)
  if (!status) throw refuse.noSuchSignup()
  return signupStatus(status)
}

/** What an error is to its visitor; one that nobody foresaw is logged. */
function refusalOf(error: unknown, { requestId }: Visit, log: Logger): RequestRefused {
  if (error instanceof RequestRefused) return error
  if (error instanceof IncompleteBody) return refuse.incompleteBody()
  log.error({ requestId, err: error }, 'a request failed in a way that nobody foresaw')
  return refuse.unexpected()
}

/** Decoded as the router does it, without a slash at the end. */
function pathOf(request: HttpRequest): string {
  // Of the request it reads the address only.
  const path = getPath(request as Request)
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
}

/** What the router takes: nothing that has a body goes by it. */
function withoutBody({ method, url, headers }: HttpRequest): Request {
  // A `Request` cannot have this method, which is taken nowhere, like PATCH.
  const allowed = method === 'TRACE' ? 'PATCH' : method
  return new Request(url, { method: allowed, headers: new Headers([...headers]) })
}

function describe(options: IntakeOptions, paths: readonly string[]): StaticFile {
  const { bodyBytesMax, bulkItemsMax, apiKeys, assets } = options
  const description = describeService({
    bodyBytesMax,
    bulkItemsMax,
    needsApiKey: apiKeys.areSet,
    pages: paths,
    files: assets.map(({ path, contentType }) => ({ path: `/${path}`, contentType })),
  })
  return plainFile(openapiPath, new TextEncoder().encode(JSON.stringify(description)))
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
