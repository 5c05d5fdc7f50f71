import { html } from 'hono/html'
import {
  type Reader,
  type RecentChoice,
  recentMax,
  type RecentPage,
  type RecentSignup,
} from '../journal/contracts/reader.ts'
import type { Html } from '../pages/document.ts'
import { iso } from '../platform/clock.ts'
import { visible } from '../platform/visible.ts'
import { form, hidden, linkTo, time } from './frame.ts'
import { personForm } from './person.ts'
import type { Shown, Visit } from './visit.ts'

/** How many slices one page reads at most, when it finds too few. */
const slicesMax = 5

const states = {
  waiting: 'waiting',
  written: 'written',
  duplicate: 'duplicate, no row',
  quarantine: 'in quarantine',
  pending: 'pending',
} as const
const asked = ['waiting', 'written', 'quarantine', 'pending'] as const

/** The newest signups of a site, by tab and state. */
export async function signupsView(visit: Visit): Promise<Shown> {
  const { query, site } = visit
  const tab = query.get('tab') ?? ''
  const choice = {
    tab: tab === '' ? undefined : tab,
    state: asked.find((state) => state === query.get('state')),
  }
  const cursor = Number(query.get('before') ?? Number.NaN)
  const before = Number.isSafeInteger(cursor) ? cursor : undefined
  const page = await newest(site.journal.reader, choice, before)
  const named = { tab, state: choice.state ?? '' }
  const older = () => linkTo(visit, '/signups', { ...named, before: page.next })
  const body = html`
    ${personForm(visit)} ${filters(visit, choice, page.tabs)} ${list(visit, choice, page.signups)}
    <nav aria-label="Pages">
      ${before !== undefined && html`<a href="${linkTo(visit, '/signups', named)}">Newest</a>`}
      ${page.next !== undefined && html`<a href="${older()}">Older</a>`}
    </nav>
  `
  return { title: 'Signups', body }
}

async function newest(reader: Reader, choice: RecentChoice, before?: number): Promise<RecentPage> {
  let page = await reader.recent(choice, before)
  for (let slice = 1; slice < slicesMax && page.next !== undefined; slice += 1) {
    if (page.signups.length >= recentMax) break
    // Requests and their answers come between two slices.
    await new Promise((resolve) => setTimeout(resolve))
    const more = await reader.recent(choice, page.next)
    page = { ...more, signups: [...page.signups, ...more.signups] }
  }
  return page
}

function filters(visit: Visit, { tab, state }: RecentChoice, tabs: readonly string[]): Html {
  const [path, search] = linkTo(visit, '/signups').split('?')
  return html`<form action="${path}">
    ${search !== undefined && hidden({ site: visit.site.name })}
    ${select('Tab', 'tab', tab, [['', 'all'], ...tabs.map((it) => [it, visible(it)] as const)])}
    ${select('State', 'state', state, [['', 'all but pending'], ...asked.map((it) => [it, states[it]] as const)])}
    <button>Show</button>
  </form>`
}

function select(
  label: string,
  name: string,
  chosen: string | undefined,
  options: readonly (readonly [value: string, words: string])[],
): Html {
  return html`<label
    >${label}
    <select name="${name}">
      ${options.map(
        ([value, words]) =>
          html`<option value="${value}" ${value === chosen && html`selected`}>${words}</option>`,
      )}
    </select></label
  >`
}

function list(visit: Visit, { tab, state }: RecentChoice, signups: readonly RecentSignup[]): Html {
  if (signups.length === 0) return html`<p>There is none here.</p>`
  const decides = state === 'quarantine'
  const act = (path: string) => html`formaction="${linkTo(visit, path)}"`
  const buttons = (which: string, asks: boolean) =>
    html`<button ${act('/release')} ${!asks && html`name="sure" value="yes"`}>
        Release ${which}${asks && '…'}
      </button>
      <button class="danger" ${act('/erase')}>Erase ${which}…</button>`
  const table = html`<div class="scrolls" role="region" aria-label="Signups" tabindex="0">
    <table>
      <caption>
        The newest first
      </caption>
      <thead>
        <tr>
          ${
            decides &&
            html`<td>
              <label hidden><input type="checkbox" data-all="id" hidden /> all</label>
            </td>`
          }
          ${['Time', 'Address', 'Name', 'Tab', 'Source', decides ? 'Signs' : 'State'].map(
            (name) => html`<th scope="col">${name}</th>`,
          )}
        </tr>
      </thead>
      <tbody>
        ${signups.map((one) => row(one, decides, act('/person')))}
      </tbody>
    </table>
  </div>`
  return html`${
    decides &&
    html`<p>
      A signup that is released goes to the tab that it was for, as if it had not looked like spam.
      One that is erased is removed from everywhere.
    </p>`
  }
  ${form(visit, '/person', html`${table} ${decides && buttons('the chosen ones', false)}`)}
  ${
    decides &&
    tab === undefined &&
    form(
      visit,
      '/release',
      html`${hidden({ all: 'yes' })}
        <label>Only of the domain <input name="domain" autocomplete="off" /></label>
        ${buttons('all of the list', true)}`,
    )
  }`
}

function row({ signup, state, until }: RecentSignup, decides: boolean, person: Html): Html {
  const { id, receivedAt, email, name, sheetTab, source, suspect = [] } = signup
  const end = state === 'pending' && until !== undefined && html`, until ${time(iso(until))}`
  return html`<tr>
    ${decides && html`<td><input type="checkbox" name="id" value="${id}" aria-label="${email}, ${iso(receivedAt)}" /></td>`}
    <td>${time(iso(receivedAt))}</td>
    <th scope="row">
      <button class="link" name="email" value="${email}" ${person}>${visible(email)}</button>
    </th>
    ${[name, sheetTab, source].map((text) => html`<td dir="auto">${visible(text)}</td>`)}
    <td>${decides ? suspect.join(', ') : html`${states[state]}${end}`}</td>
  </tr>`
}
