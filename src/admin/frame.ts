import { html } from 'hono/html'
import { type Answer, page } from '../http/answer.ts'
import { pageSecurity } from '../http/headers.ts'
import type { Trouble } from '../operations/status-words.ts'
import type { Html } from '../pages/document.ts'
import { rootOf } from '../pages/view.ts'
import { visible } from '../platform/visible.ts'
import type { Shown, Visit } from './visit.ts'

const security = pageSecurity({
  ...{ allowedOrigins: [], framed: false, widget: { origins: [] }, pages: {} },
})

interface Around {
  readonly url: string
  /** What stands above the content: nothing before somebody has signed in. */
  readonly head?: Html
  /** What an action has done. */
  readonly told?: readonly string[]
  readonly status?: number
  /** Names and values in turn. */
  readonly headers?: readonly string[]
}

/** A whole page. */
export async function adminPage(
  { title, body, refreshSeconds }: Shown,
  { url, head, told = [], status, headers = [] }: Around,
): Promise<Answer> {
  const root = rootOf(url)
  const text = await html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        ${refreshSeconds !== undefined && html`<meta http-equiv="refresh" content="${refreshSeconds}" />`}
        <title>${title} – Rollcall</title>
        <link rel="stylesheet" href="${root}assets/admin.css" />
        <link rel="icon" href="data:," />
        <script src="${root}assets/admin.js" defer></script>
      </head>
      <body>
        ${head}
        <main id="main" ${!head && html`class="door"`}>
          <h1>${title}</h1>
          ${toldOf(told)} ${body}
        </main>
        ${
          head &&
          html`<footer>
            <p>Times are in UTC<span data-zone></span>.</p>
          </footer>`
        }
      </body>
    </html> `
  return page(text.toString(), { security, headers }, status)
}

const places = [
  ['', 'Overview'],
  ['/signups', 'Signups'],
  ['/sending', 'Sending'],
  ['/work', 'Work'],
] as const

/** The links above each view. */
export function navigation(visit: Visit): Html {
  const { sites, site } = visit
  const here = new URL(visit.url).pathname.replace(/^\/admin|\/$/g, '')
  const current = html`aria-current="page"`
  return html`
    <header>
      <a class="skip" href="#main">Skip to the content</a>
      <nav aria-label="Views">
        ${places.map(
          ([path, name]) =>
            html`<a href="${linkTo(visit, path)}" ${path === here && current}>${name}</a>`,
        )}
      </nav>
      ${
        sites.length > 1 &&
        html`<nav aria-label="Sites">
          ${sites.map(
            ({ name }) =>
              html`<a
                href="${linkTo({ ...visit, site: { name } }, '')}"
                ${name === site.name && current}
                >${name}</a
              >`,
          )}
        </nav>`
      }
      ${form(visit, '/sign-out', html`<button>Sign out</button>`)}
    </header>
  `
}

type Linked = Pick<Visit, 'url' | 'sites'> & { readonly site: { readonly name: string } }

/** The address of a view or of an action at the same site, such as `/signups`. */
export function linkTo({ url, sites, site }: Linked, path: string, query = {}): string {
  const named = sites.length > 1 ? { site: site.name } : {}
  const [place = '', own] = path.split('?')
  const all = { ...named, ...Object.fromEntries(new URLSearchParams(own)), ...query }
  const search = new URLSearchParams(all).toString()
  return `${rootOf(url)}admin${place}${search === '' ? '' : `?${search}`}`
}

/** A form that posts to an action. */
export function form(visit: Visit, path: string, content: Html | readonly Html[]): Html {
  return html`<form method="post" action="${linkTo(visit, path)}">
    ${hidden({ csrf: visit.login.csrf })} ${content}
  </form>`
}

/** Inputs that nobody sees. */
export function hidden(fields: Readonly<Record<string, string | number>>): readonly Html[] {
  return Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`,
  )
}

/** The row that names the columns of a table. */
export function headRow(...names: readonly string[]): Html {
  return html`<tr>
    ${names.map((name) => html`<th scope="col">${name}</th>`)}
  </tr>`
}

/** An address that breaks before its @, if it has to. */
export function address(email: string): Html {
  const at = email.lastIndexOf('@')
  const halves = [email.slice(0, at), email.slice(at)]
  return html`${halves.map((half) => html`<span class="half">${visible(half)}</span>`)}`
}

/** A time of which browser/admin.ts also tells the local one. */
export function time(iso: string): Html {
  return html`<time datetime="${iso}">${iso.slice(0, 16).replace('T', ' ')}</time>`
}

const times = /(\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d{3}Z)?)/

/** Words of our own, with the times in them as `time`. */
export function timed(words: string): Html {
  const parts = words.split(times).map((part, at) => {
    const iso = `${part.slice(0, 19).replace(' ', 'T')}Z`
    return at % 2 === 1 && isTime(iso) ? time(iso) : visible(part)
  })
  return html`${parts}`
}

/** Whether browsers can read a time, which a visitor may have sent. */
export function isTime(iso: string): boolean {
  return /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(iso) && !Number.isNaN(Date.parse(iso))
}

/** Names with their texts, without those that are empty. */
export function facts(
  all: readonly (readonly string[])[],
  draw: (text: string, name: string) => Html | string = timed,
): Html {
  return html`<dl class="facts">
    ${all.map(
      ([name = '', text = '']) =>
        text !== '' &&
        html`<dt>${name}</dt>
          <dd dir="auto">${draw(text, name)}</dd>`,
    )}
  </dl>`
}

/** What an action has done, for the top of the page that follows. Screen readers read it first. */
function toldOf(lines: readonly string[]): Html | false {
  return (
    lines.length > 0 &&
    html`<div class="alert" role="status" tabindex="-1" autofocus>
      ${lines.map((line) => html`<p>${line}</p>`)}
    </div>`
  )
}

/** What does not work, and what to do about it. */
export function troubles(all: readonly Trouble[]): Html {
  return html`${all.map(
    ({ what, hint = '' }) =>
      html`<p class="alert bad"><strong>${timed(what.replace(/\.$/, ''))}.</strong> ${hint}</p>`,
  )}`
}
