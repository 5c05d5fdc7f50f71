import { html } from 'hono/html'
import { answer, type Answer, page, seeOther } from '../http/answer.ts'
import { readBody } from '../http/body.ts'
import { Budget } from '../http/budget.ts'
import type { Exchange, FormEntries } from '../http/exchange.ts'
import { pageSecurity } from '../http/headers.ts'
import { isOwnOrigin } from '../http/origin.ts'
import { refuse } from '../http/refuse.ts'
import { plainConsent } from '../signup/consent.ts'
import type { Language } from '../signup/languages.ts'
import { translationsOf } from '../signup/site-text.ts'
import { document, type Html } from './document.ts'
import { problemWords } from './form-page.ts'
import { consentWords } from './form-trees.ts'
import { type PageRoute, thanksPage } from './page-routes.ts'
import { htmlOf, ownLanguage, ownText, plainOwnText } from './tree-html.ts'
import { firstValue } from './typed-form.ts'
import { type PageOptions, type View, viewOf } from './view.ts'

/** What a link of a mail is for; the first part of its path. */
type LinkPurpose = 'confirm' | 'leave'

export interface LinkPagesOptions extends PageOptions {
  /** Where visitors reach this service, as far as a setting tells it. */
  readonly publicUrl: string | undefined
  /**
   * Does what somebody decided by a link; `look` changes nothing. Resolves with the state of the link after
   * it; undefined when the token was not made for this purpose.
   */
  readonly decide: (
    purpose: LinkPurpose,
    token: string,
    decision: Decision,
    requestId: string,
  ) => Promise<ShownLink | undefined>
}

export type Decision = 'look' | 'confirm' | 'decline' | 'leave'

export interface ShownLink {
  readonly state: 'pending' | 'confirmed' | 'declined' | 'left' | 'closed' | 'over'
  readonly tabs: readonly string[]
  /** Whether what was confirmed went to the overflow tab. */
  readonly overflow?: true
  /** Of what else waits, and gets mails of its own. */
  readonly otherTabs: readonly string[]
  /** The text of the site that was agreed to: it has it, or had it. */
  readonly consent: string | undefined
  /** Whose mail it was, shortened. */
  readonly address: string | undefined
  /** Of who has left: a row stays that only the owner can tell to be theirs. */
  readonly rowStays: boolean
}

const decisions: Readonly<Record<LinkPurpose, readonly Decision[]>> = {
  confirm: ['confirm', 'decline'],
  leave: ['leave'],
}

/** @param sent what a button of the page has sent as `decision` */
function decisionOf(purpose: LinkPurpose, sent: string | undefined): Decision {
  return decisions[purpose].find((it) => it === sent) ?? 'look'
}

/** The pages of the links in mails. Only a POST by a button changes anything, and may be repeated. */
export function linkPages(options: LinkPagesOptions): readonly PageRoute[] {
  const { confirmedNext } = options.pages
  // Browsers apply `form-action` to redirects, too.
  const allowedOrigins = confirmedNext === undefined ? [] : [new URL(confirmedNext).origin]
  const widget = { origins: [] }
  const security = pageSecurity({ ...options, allowedOrigins, widget, framed: false })
  const bodies = { bytesMax, formFieldsMax: 10, arriving: new Budget(arriving) }

  const state = async (exchange: Exchange, purpose: LinkPurpose, decision: Decision) => {
    const { params, requestId } = exchange
    const link = await options.decide(purpose, params['token'] ?? '', decision, requestId)
    if (!link) throw refuse.noSuchLink()
    return link
  }
  // Before the token is looked at: a flood of wrong ones must cost nothing.
  const limit = (exchange: Exchange) => exchange.take(1, 'decisions')
  const show = async (exchange: Exchange, purpose: LinkPurpose, decision: Decision) => {
    const link = await state(exchange, purpose, decision)
    if (link.state === 'over') throw refuse.noSuchLink()
    const isDone = link.state === 'confirmed' && (decision === 'confirm' || purpose === 'confirm')
    // The site's next page is for those who have a place.
    if (isDone && decision === 'confirm' && confirmedNext && !link.overflow)
      return seeOther(confirmedNext)
    const view = viewOf(exchange.request, options)
    const shown = { ...link, purpose, host: new URL(exchange.ownOrigin).host, options }
    const text = isDone ? await thanksPage(view, link.overflow, link) : await linkPage(view, shown)
    return page(text, { security, vary: 'Accept-Language, Origin' })
  }
  const post = async (exchange: Exchange, purpose: LinkPurpose): Promise<Answer> => {
    limit(exchange)
    const body = await readBody(exchange, bodies)
    const fields: FormEntries = body.kind === 'form' ? body.fields : []
    if (purpose === 'leave' && firstValue(fields, 'List-Unsubscribe') === 'One-Click') {
      const left = await state(exchange, purpose, 'leave')
      const { heading, text } = offWords(viewOf(exchange.request, options), left)
      const headers = ['content-type', 'text/plain; charset=utf-8']
      return answer(200, `${heading}\n${left.rowStays ? `${text}\n` : ''}`, {
        headers,
        vary: 'Accept-Language, Origin',
      })
    }
    const decided = decisionOf(purpose, firstValue(fields, 'decision'))
    const isForeign = isFromElsewhere(exchange, options.publicUrl)
    return show(exchange, purpose, isForeign ? 'look' : decided)
  }
  return (['confirm', 'leave'] as const).map((purpose) => ({
    path: `/${purpose}/:token`,
    GET: (exchange) => {
      limit(exchange)
      return show(exchange, purpose, 'look')
    },
    POST: (exchange) => post(exchange, purpose),
    checksOrigin: true,
  }))
}

/** A decision is a few dozen bytes. */
const bytesMax = 4096
/** Of bodies whose length was not announced. */
const arriving = { max: 256 * bytesMax, clientMax: bytesMax }

/** Whether another page than ours has sent the request, as the browser tells. */
function isFromElsewhere({ request, hosts }: Exchange, publicUrl: string | undefined): boolean {
  const site = request.headers.get('sec-fetch-site') ?? 'none'
  if (site !== 'none' && site !== 'same-origin') return true
  const origin = request.headers.get('origin')
  if (origin === null || hosts.some((host) => isOwnOrigin(origin, host))) return false
  // A proxy may not tell us our own host.
  return publicUrl === undefined || new URL(publicUrl).origin !== origin
}

interface Shown extends ShownLink {
  readonly purpose: LinkPurpose
  /** Names a site that has no title. */
  readonly host: string
  readonly options: PageOptions
}

/** The page of a link that asks for a decision, or tells of one. */
function linkPage(view: View, shown: Shown): Promise<string> {
  const { mail } = view.texts
  const { state, purpose, host, address } = shown
  const isOff = state === 'declined' || state === 'left'
  const isLeaving = !isOff && purpose === 'leave'
  const { heading, text } = linkWords(view, shown, isLeaving)
  const { title } = view.settings
  const decline = button('decline', mail.no)
  const asked = state === 'closed' ? [decline] : [button('confirm', mail.yes), decline]
  const buttons = isLeaving ? [button('leave', mail.leave)] : asked
  const body = html`
    <p class="intro">${title ? ownText(view, title) : host}${tabOf(shown)}</p>
    <h1>${heading}</h1>
    ${address && html`<p><bdi>${address}</bdi></p>`} ${text && html`<p>${text}</p>`}
    ${(state === 'left' || isLeaving) && html`<p>${mail.leftText}</p>`}
    ${!isOff && !isLeaving && agreed(view, shown)}
    ${!isOff && html`<form method="post">${buttons}</form>`}
  `
  return document(view, {
    title: `${heading} – ${title ? plainOwnText(view, title) : host}`,
    body,
  })
}

function linkWords(view: View, shown: Shown, isLeaving: boolean) {
  const { mail, closing } = view.texts
  const { state } = shown
  if (state === 'declined' || state === 'left') return offWords(view, shown)
  if (state === 'closed') return { ...problemWords(view, 'closed'), text: closing.lateText }
  const [heading = '', text] = (isLeaving ? mail.leaving : mail.title).split('\n')
  return { heading, text }
}

/** What is said to who is not on the list any more, or gets no mail although a row of theirs stays. */
function offWords({ texts: { mail } }: View, { rowStays }: Pick<ShownLink, 'rowStays'>) {
  const [off = '', noMail = ''] = mail.off.split('\n')
  return rowStays ? { heading: noMail, text: mail.staysText } : { heading: off, text: noMail }
}

function button(decision: string, text: string): Html {
  return html`<button type="submit" name="decision" value="${decision}">${text}</button>`
}

/** The wording of what was sent, and what else waits. */
function agreed(view: View, { otherTabs: others, consent }: Shown): readonly (Html | false)[] {
  const { mail } = view.texts
  return [
    consent !== undefined &&
      html`<p>${mail.agreed}</p>
        <blockquote>${wording(view, consent)}</blockquote>`,
    others.length > 0 &&
      html`<p>${mail.others}</p>
        <ul>
          ${others.map((tab) => html`<li><bdi>${tab}</bdi></li>`)}
        </ul>`,
  ]
}

/** The tab of what was sent. The default tab alone is what the site is. */
function tabOf({ tabs: [own], otherTabs, options }: Shown): Html | false {
  const { defaultTab } = options.tabs
  if (own === undefined || (own === defaultTab && otherTabs.length === 0)) return false
  return html` · <bdi>${own}</bdi>`
}

/** A wording with its links, where the settings still have it. */
function wording(view: View, consent: string): Html {
  const known = Object.entries(translationsOf(view.settings.consent ?? '', ownLanguage(view)))
  const [lang, text] = known.find(([, it]) => plainConsent(it) === consent) ?? []
  if (text === undefined) return html`<bdi>${consent}</bdi>`
  return htmlOf(view, ['bdi', { lang: lang as Language }, ...consentWords(text)])
}
