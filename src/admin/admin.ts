import { html } from 'hono/html'
import { type Answer, seeOther } from '../http/answer.ts'
import { readBody } from '../http/body.ts'
import { Budget } from '../http/budget.ts'
import { isPrivate } from '../http/client.ts'
import type { Exchange, FormEntries } from '../http/exchange.ts'
import { Refusal, type RefusalKind } from '../http/problem.ts'
import { refuse } from '../http/refuse.ts'
import type { Handler, Route } from '../http/router.ts'
import { JournalUnavailable } from '../journal/contracts/errors.ts'
import type { adminEvents } from '../ops/request-events.ts'
import { rootOf } from '../pages/view.ts'
import { adminPage, hidden, navigation } from './frame.ts'
import { visible } from '../platform/visible.ts'
import { addressOf, Logins, type LoginsOptions, type SignedIn } from './logins.ts'
import {
  type AdminRoute,
  type AdminSite,
  isSure,
  posted,
  type Shown,
  type View,
  type Visit,
} from './visit.ts'
import { nothing, reportOf } from './work.ts'

export interface AdminOptions extends LoginsOptions {
  readonly sites: readonly [AdminSite, ...AdminSite[]]
  readonly routes: readonly AdminRoute[]
  readonly events: ReturnType<typeof adminEvents>
}

/** Room for the ids of a whole page. */
const bytesMax = 64 * 1024
const fieldsMax = 1_100
/** Whoever is not signed in sends a token. */
const tokenBytesMax = 4096
const toCharactersMax = 500
const bodiesOf = (bytesMax: number) => ({
  ...{ bytesMax, formFieldsMax: fieldsMax },
  arriving: new Budget({ max: 64 * bytesMax, clientMax: bytesMax }),
})

/** The routes of the admin page, each with its whole path. They check the origin themselves. */
export function adminRoutes(options: AdminOptions): readonly (Route & { readonly path: string })[] {
  const { sites, routes, events } = options
  const logins = new Logins(options)
  // Apart, so that strangers cannot hold the room of who is signed in.
  const [ofStrangers, ofLogins] = [bodiesOf(tokenBytesMax), bodiesOf(bytesMax)]

  const wanted = wantedOf(routes)
  const visitOf = visitingOf(options)
  const door = { whose: sites.length === 1 ? sites[0].title : '' }

  const fieldsOf = async (exchange: Exchange, bodies = ofLogins): Promise<FormEntries> => {
    const body = await readBody(exchange, bodies)
    return body.kind === 'form' ? body.fields : []
  }
  const tell = (action: string, visit: Visit) => {
    const site = sites.length > 1 ? visit.site.name : undefined
    events.adminActed(action, { ...visit, login: visit.login.id, site })
  }
  const get =
    (path: string, view: View, isFile = false): Handler =>
    async (exchange) => {
      const login = await logins.find(exchange)
      if (login) {
        const visit = visitOf(exchange, login, [])
        if (isFile) tell(path.slice(1), visit)
        return show(view, visit, exchange)
      }
      const { search, searchParams } = new URL(exchange.request.url)
      if (path !== '') return lead(exchange, `?${new URLSearchParams({ to: path + search })}`)
      return signInPage(exchange, { ...door, to: wanted(searchParams.get('to')) })
    }
  const post =
    (path: string, view: View, asks = false): Handler =>
    async (exchange) => {
      const login = await logins.find(exchange)
      if (!login) return lead(exchange)
      const visit = visitOf(exchange, login, await fieldsOf(exchange))
      if (!logins.isOwnForm(login, posted(visit, 'csrf')))
        return adminPage(nothing(visit, foreignForm, ''), { url: visit.url, status: 403 })
      const [what] = /^[a-z-]{1,20}$/.exec(posted(visit, 'do')) ?? []
      const action = [path.slice(1), what ?? []].flat().join(' ')
      if (!asks || isSure(visit)) tell(action, visit)
      return show(view, visit, exchange)
    }
  const signIn: Handler = async (exchange) => {
    const fields = await fieldsOf(exchange, ofStrangers)
    const cookie = await logins.signIn(exchange, posted({ fields }, 'token'))
    const by = { from: addressOf(exchange), requestId: exchange.requestId }
    if (cookie === undefined) events.signInRefused(by)
    else events.adminActed('sign-in', by)
    const to = wanted(posted({ fields }, 'to'))
    return cookie === undefined
      ? signInPage(exchange, { ...door, to, isWrong: true })
      : lead(exchange, to, cookie)
  }
  const signOut: AdminRoute = {
    path: '/sign-out',
    POST: async (_visit, exchange) => lead(exchange, '', await logins.signOut(exchange)),
  }

  return [...routes, signOut].map(({ path, GET, POST, asks, isFile }) => ({
    path: `/admin${path}`,
    checksOrigin: true,
    ...(GET && { GET: inOwnWords(get(path, GET, isFile)) }),
    ...(POST && { POST: inOwnWords(post(path, POST, asks)) }),
    ...(path === '' && { POST: inOwnWords(signIn) }),
  }))
}

/** Tells the view that somebody wanted to see before signing in: only one of this page. */
function wantedOf(routes: readonly AdminRoute[]) {
  const views = new Set(routes.filter(({ GET, isFile }) => GET && !isFile).map(({ path }) => path))
  return (to: string | null): string => {
    const [path = '', search] = (to ?? '').slice(0, toCharactersMax).split('?')
    if (!views.has(path)) return ''
    return search === undefined ? path : `${path}?${new URLSearchParams(search)}`
  }
}

function visitingOf({ sites, log, now }: AdminOptions) {
  return (exchange: Exchange, login: SignedIn, fields: FormEntries): Visit => {
    const { url } = exchange.request
    const query = new URL(url).searchParams
    const site = query.has('site')
      ? (sites.find(({ name }) => name === exchange.site.name) ?? sites[0])
      : sites[0]
    const { requestId } = exchange
    const around = { url, query, fields, requestId, from: addressOf(exchange) }
    return { ...around, login, site, sites, log, now: now() }
  }
}

async function show(view: View, visit: Visit, exchange: Exchange): Promise<Answer> {
  const shown = await view(visit, exchange)
  if ('headers' in shown) return shown
  // The view of work tells of it by itself.
  const told = new URL(visit.url).pathname.endsWith('/work') ? [] : await reportOf(visit)
  return adminPage(shown, { url: visit.url, head: navigation(visit), told })
}

const foreignForm = 'This form is of an earlier login or of another page.'

const wordsOf: Readonly<Partial<Record<RefusalKind, Shown>>> = {
  tooMany: { title: 'Too many tries', body: html`<p>Wait a minute, and sign in again.</p>` },
  journalUnavailable: {
    title: 'The journal does not answer',
    body: html`<p>
      The log tells why. Load this page again in a while, and look whether what you did was done.
    </p>`,
  },
}

/** Refuses in words for operators, where those for visitors speak of signups. */
function inOwnWords(handler: Handler): Handler {
  return async (exchange) => {
    try {
      return await handler(exchange)
    } catch (error) {
      const refusal = error instanceof JournalUnavailable ? refuse.journalUnavailable() : error
      if (!(refusal instanceof Refusal)) throw refusal
      const { kind, status, headers } = refusal
      const words = wordsOf[kind]
      if (!words) throw refusal
      return adminPage(words, { url: exchange.request.url, status, headers })
    }
  }
}

/** @param view its path below `/admin`, with its query */
function lead({ request }: Exchange, view = '', cookie?: string): Answer {
  const to = seeOther(`${rootOf(request.url)}admin${view}`)
  return cookie === undefined ? to : { ...to, headers: [...to.headers, 'set-cookie', cookie] }
}

interface Door {
  /** The title of the only site; may be empty. */
  readonly whose: string
  /** Where to go from here. */
  readonly to: string
  readonly isWrong?: boolean
}

function signInPage(
  { request: { url }, ownOrigin }: Exchange,
  { whose, to, isWrong = false }: Door,
): Promise<Answer> {
  const { host } = new URL(ownOrigin)
  const body = html`
    <p>
      ${whose === '' ? 'Signups' : html`The signups of <strong dir="auto">${visible(whose)}</strong>`}
      at <strong>${host}</strong>
    </p>
    ${isWrong && html`<p class="alert bad" role="alert">This is not the token.</p>`}
    ${isOpenToListeners(ownOrigin) && html`<p class="alert">${openToListeners}</p>`}
    <form method="post" action="${rootOf(url)}admin/">
      ${to !== '' && hidden({ to })}
      <label
        >The token, as the setting ADMIN_TOKEN has it
        <input
          id="token"
          name="token"
          type="password"
          autocomplete="current-password"
          required
          autofocus
      /></label>
      <button>Sign in</button>
    </form>
  `
  return adminPage({ title: 'Sign in', body }, { url, status: isWrong ? 401 : 200 })
}

const openToListeners =
  'This page comes without HTTPS: whoever is on the way here can read the token and all that the page shows. ' +
  'Open it by HTTPS, or on the machine itself.'

/** Whether the page goes over a public network without encryption. */
function isOpenToListeners(ownOrigin: string): boolean {
  const { protocol, hostname } = new URL(ownOrigin)
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  return protocol === 'http:' && host !== 'localhost' && !isPrivate(host)
}
