import { html } from 'hono/html'
import { page, type Answer } from '../http/answer.ts'
import type { Exchange, FormEntries } from '../http/exchange.ts'
import { pageSecurity } from '../http/headers.ts'
import { refuse } from '../http/refuse.ts'
import type { Handler, Route } from '../http/router.ts'
import type { Field } from '../signup/field.ts'
import { collectedLength, collectedText, pageAddress } from '../signup/field-control.ts'
import { parseForm, tooManyTabs } from '../signup/parse.ts'
import { document, type Html } from './document.ts'
import { closedPage, formPage } from './form-page.ts'
import { nextLocation, thanksPath, waitingParameter } from './form-post.ts'
import { consentField } from './form-trees.ts'
import { ownText, plainOwnText } from './tree-html.ts'
import { consentText, typedForm } from './typed-form.ts'
import { type OwnPage, type PageOptions, type View, viewOf } from './view.ts'

export interface PageRoutesOptions extends PageOptions {
  /** Whether a signup by this client for this tab would be accepted now. */
  readonly takesTab: (tab: string, client: string | undefined) => Promise<boolean>
  /** Whether people confirm their signups by the link of a mail. */
  readonly confirms?: boolean
}

export interface PageRoute extends Pick<Route, 'POST' | 'checksOrigin'> {
  readonly path: string
  readonly GET: Handler
}

const pathsOfForms = { hosted: '/', form: '/api/signup/form' } as const

export function pageRoutes(options: PageRoutesOptions): readonly PageRoute[] {
  const { allowedOrigins } = options
  const framed = pageSecurity({ ...options, framed: true })
  const alone = pageSecurity({ ...options, framed: false })
  const answer = (text: string, security: readonly string[]): Answer =>
    page(text, { security, vary: 'Accept-Language, Origin' })

  const signup =
    (own: OwnPage, security: readonly string[]): Handler =>
    async (exchange) => {
      const { request, ownOrigin } = exchange
      const view = viewOf(request, options, own)
      if (view.openness === 'closed') return answer(await closedPage(view), security)
      const linked = await checkedFields(exchange, view, options)
      const next = nextLocation(view, linked, { ownOrigin, allowedOrigins })
      return answer(await formPage(view, { typed: typedForm(linked, view), next }), security)
    }
  const thanks: Handler = async (exchange) => {
    const view = viewOf(exchange.request, options)
    const isWaiting = new URL(exchange.request.url).searchParams.has(waitingParameter)
    return answer(await (options.confirms ? pendingPage : thanksPage)(view, isWaiting), framed)
  }
  return [
    { path: pathsOfForms.hosted, GET: signup('hosted', alone) },
    { path: pathsOfForms.form, GET: signup('form', framed) },
    { path: `/${thanksPath}`, GET: thanks },
  ]
}

/**
 * The hidden fields from the page's address.
 *
 * @throws Refusal when no signup could be accepted with them. The page's author learns it now, and no
 *   visitor after typing.
 */
async function checkedFields(
  { request, client }: Pick<Exchange, 'request' | 'client'>,
  view: View,
  { tabs, fields: declared, takesTab }: PageRoutesOptions,
): Promise<FormEntries> {
  const isTaken = (field: string) => field === consentField && consentText(view) !== undefined
  const query = new URL(request.url).searchParams
  const linked = linkedFields(query, declared, request.headers.get('referer'))
  const fields = linked.filter(([field]) => !isTaken(field))
  const somebody = ['email', 'name@example.com'] as const
  // The visitor will fill in what the address leaves out.
  const asked = declared.map((field) => ({ ...field, required: false }))
  const context = { ...tabs, fields: asked, source: 'form' } as const
  const parsed = parseForm([somebody, ...fields], context)
  if (parsed.ok && (await takesTab(parsed.value.sheetTab, client.rateLimitKey))) return fields
  const problems = parsed.ok ? [tooManyTabs] : parsed.problems
  // The address has the other name of the tab.
  throw refuse.pageAddress(
    problems.map((it) => (it.field === 'sheetTab' ? { ...it, field: 'tab' } : it)),
  )
}

/**
 * The form fields that the query of a page's address fills in: declared fields, and hidden ones.
 *
 * @param declared the fields of the site
 * @param cameFrom the address of the page that led here, as the browser tells it
 */
export function linkedFields(
  query: URLSearchParams,
  declared: readonly Field[],
  cameFrom: string | null,
): FormEntries {
  const fields: [name: string, value: string][] = []
  const hasReferrer = declared.some(
    (field) => field.name === 'referrer' && collectedLength(field) !== undefined,
  )
  const referrer = hasReferrer ? pageAddress(cameFrom ?? '') : ''
  for (const [parameter, value] of [...query, ['field-referrer', referrer] as const]) {
    const own = declaredField(parameter, declared)
    const name = own?.name ?? fieldOf(parameter)
    const isRepeated = own && own.type !== 'choices' && fields.some(([known]) => known === name)
    if (value === '' || name === undefined || isRepeated) continue
    fields.push([name, (own && collectedText(own, value)) ?? value])
  }
  return fields
}

/** The declared field that a query parameter fills in: `field-NAME`, or `utm_…` under its own name. */
function declaredField(parameter: string, declared: readonly Field[]): Field | undefined {
  const name = parameter.startsWith('utm_') ? parameter : /^field-(.*)$/.exec(parameter)?.[1]
  return declared.find((field) => field.name === name)
}

/** The field for a query parameter. Others are ignored: ad networks add their own, and nobody asked for them. */
function fieldOf(parameter: string): string | undefined {
  if (parameter === 'tab') return 'sheetTab'
  if (parameter === 'source' || parameter === 'tags' || parameter === 'redirect') return parameter
  const key = /^field-([^[\]]+)$/.exec(parameter)?.[1]
  return key === undefined ? undefined : `metadata[${key}]`
}

/**
 * The thank-you page. It contains nothing about the visitor.
 *
 * @param isWaiting whether the signup went to the overflow tab: the site's thanks and next page are for the others
 * @param on given to who is on the list now, for certain: by which address, shortened
 */
export function thanksPage(
  view: View,
  isWaiting = false,
  on?: { readonly address: string | undefined },
): Promise<string> {
  const { settings, texts } = view
  const { title, text, close, next } = texts.thanks
  const where = isWaiting ? texts.closing.waitingText : on && texts.mail.onText
  const onward = isWaiting ? undefined : settings.next
  const mayClose = view.page !== 'form' && onward === undefined
  return afterForm(
    view,
    title,
    html`${where && html`<p>${where}</p>`} ${on?.address && html`<p><bdi>${on.address}</bdi></p>`}
      <p>
        ${
          settings.thanks && !isWaiting
            ? ownText(view, settings.thanks)
            : html`${!where && text} ${mayClose && close}`
        }
      </p>
      ${onward && html`<a class="next" href="${onward}" target="_top">${next}</a>`}`,
  )
}

/**
 * Asks the visitor to look into the mail. It contains nothing about the visitor.
 *
 * @param isWaiting whether the signup goes to the overflow tab
 */
export function pendingPage(view: View, isWaiting = false): Promise<string> {
  const [title = '', text, spamText] = view.texts.pending.split('\n')
  return afterForm(
    view,
    title,
    html`${isWaiting && html`<p>${view.texts.closing.waitingText}</p>`}
      <p>${text}</p>
      <p>${spamText}</p>`,
    'thanks asked',
  )
}

function afterForm(view: View, title: string, content: Html, kind = 'thanks'): Promise<string> {
  const { page, settings } = view
  const isBare = page === 'form'
  const body = html`<div class="${kind}" role="status">
    <div>
      ${!isBare && settings.title && html`<p class="intro">${ownText(view, settings.title)}</p>`}
      <h1>${title}</h1>
      ${content}
    </div>
  </div>`
  return document(view, {
    title: settings.title ? `${title} – ${plainOwnText(view, settings.title)}` : title,
    body,
  })
}
