import type { HttpRequest } from '../platform/http-exchange.ts'
import { nextLocation } from './form-post.ts'
import { pageHeaders } from '../http/headers.ts'
import { prefersHtml } from '../http/negotiate.ts'
import { refusalPage } from './pages.ts'
import type { FormEntries } from './typed-form.ts'
import { type PageOptions, viewOf } from './view.ts'
import { page, problem, type RequestRefused } from '../http/respond.ts'

/** What the answer to a refused request needs to know of it. */
export interface RefusedVisit {
  readonly requestId: string
  /** The origin under which the visitor sees us. */
  readonly ownOrigin: string
  /** The fields of a posted form, once they were read. */
  readonly typed?: FormEntries | undefined
}

/** The one place where refusals become answers: a page for people, a problem document for programs. */
export async function answerRefusal(
  request: HttpRequest,
  refused: RequestRefused,
  { requestId, ownOrigin, typed }: RefusedVisit,
  options: PageOptions,
): Promise<Response> {
  if (!prefersHtml(request.headers.get('accept'))) return problem(refused, requestId)
  const { kind, status, errors, headers } = refused
  const { allowedOrigins } = options
  const view = viewOf(request, options)
  const next = nextLocation(view, typed ?? [], { ownOrigin, allowedOrigins })
  const html = await refusalPage({ kind, status, errors, requestId, typed, next }, view)
  const security = pageHeaders({ ...options, framed: true })
  return page(html, status, { ...headers, ...security, vary: 'Accept, Accept-Language' })
}
