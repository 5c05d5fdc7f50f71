import { type Answer, pageOf } from '../http/answer.ts'
import type { Exchange } from '../http/exchange.ts'
import { pageSecurity } from '../http/headers.ts'
import { prefersHtml } from '../http/negotiate.ts'
import { problem, type Refusal } from '../http/problem.ts'
import { nextLocation } from './form-post.ts'
import { refusalPage } from './pages.ts'
import { type PageOptions, viewOf } from './view.ts'

/** Turns every refusal into an answer: a page for people, a problem document for programs. */
export async function answerRefusal(
  refusal: Refusal,
  exchange: Pick<Exchange, 'request' | 'requestId' | 'ownOrigin' | 'postedFields'>,
  options: PageOptions,
): Promise<Answer> {
  const { request, requestId, ownOrigin, postedFields } = exchange
  if (!prefersHtml(request)) return problem(refusal, requestId)
  const { kind, isOurs, errors, status, headers, isPublic } = refusal
  const { allowedOrigins } = options
  const view = viewOf(request, options)
  const next = nextLocation(view, postedFields ?? [], { ownOrigin, allowedOrigins })
  const html = await refusalPage(
    { kind, isOurs, errors, requestId, typed: postedFields, next },
    view,
  )
  const security = pageSecurity({ ...options, framed: true })
  return pageOf(status, html, { headers, security, isPublic, vary: 'Accept, Accept-Language' })
}
