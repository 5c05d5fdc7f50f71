import { pageHeaders } from './headers.ts'
import { prefersHtml } from './negotiate.ts'
import type { AllowedOrigins } from './origin.ts'
import { refusalPage } from './pages.ts'
import type { FormEntries } from './pages/typed-form.ts'
import { page, problem, type RequestRefused } from './respond.ts'

/** What the answer to a refused request needs to know of it. */
export interface RefusedVisit {
  readonly requestId: string
  /** The fields of a posted form, once they were read. */
  readonly typed?: FormEntries
}

/** The one place where refusals become answers: a page for people, a problem document for programs. */
export async function answerRefusal(
  request: Request,
  refused: RequestRefused,
  { requestId, typed }: RefusedVisit,
  allowedOrigins: AllowedOrigins,
): Promise<Response> {
  if (!prefersHtml(request.headers.get('accept'))) return problem(refused, requestId)
  const { status, message, errors, headers } = refused
  const html = await refusalPage({ status, message, errors, typed }, requestId)
  const security = pageHeaders({ allowedOrigins, framed: true })
  return page(html, status, { ...headers, ...security, vary: 'Accept' })
}
