import { html } from 'hono/html'
import {
  type Reader,
  type RecentChoice,
  recentMax,
  type RecentPage,
  type RecentSignup,
} from '../journal/contracts/reader.ts'
import { addressesOf, endAfterMail, severalEndSo } from '../operations/person.ts'
import { digits } from '../platform/digits.ts'
import type { Html } from '../pages/document.ts'
import { iso } from '../platform/clock.ts'
import { visible } from '../platform/visible.ts'
import { emailProblem, storedEmail } from '../signup/email.ts'
import { limits } from '../signup/limits.ts'
import type { Millis } from '../signup/signup.ts'
import { address, form, hidden, linkTo, time } from './frame.ts'
import { findForm, personView } from './person.ts'
import { posted, type Shown, type Visit } from './visit.ts'
import { nothing } from './work.ts'

/** How many slices one page reads at most, when it finds too few. */
const slicesMax = 5
/** At most how many that begin alike are shown. */
const foundMax = 100
/** The cursor behind which there is nothing. */
const end = 1

const states = {
  waiting: 'waiting',
  written: 'written',
  duplicate: 'duplicate, no row',
  held: 'held',
  pending: 'pending',
} as const
/** What becomes of a signup that is released, and where people confirm. */
const getsRow = 'goes to the tab that it was for'
const getsMail = 'gets its mail, and goes to its tab when its person has confirmed it'
const asked = ['waiting', 'written', 'held', 'pending'] as const

/** The newest signups of a site, by tab and state. */
export async function signupsView(visit: Visit): Promise<Shown> {
  const { query, site } = visit
  const tab = query.get('tab') ?? ''
  const choice = {
    tab: tab === '' ? undefined : tab,
    state: asked.find((state) => state === query.get('state')),
  }
  const cursors = (query.get('before') ?? '').split(',').map(Number)
  const pages = listsOf(choice).map((list, at) => {
    const cursor = cursors[at] ?? 0
    return newest(
      site.journal.reader,
      list,
      Number.isSafeInteger(cursor) && cursor > 0 ? cursor : undefined,
    )
  })
  const { signups, tabs, next } = merged(await Promise.all(pages), recentMax)
  const named = { tab, state: choice.state ?? '' }
  const body = html`
    <div class="tools">${findForm(visit)} ${filters(visit, choice, tabs)}</div>
    ${list(visit, choice, signups)}
    <nav class="actions" aria-label="Pages">
      ${query.has('before') && html`<a href="${linkTo(visit, '/signups', named)}">Newest</a>`}
      ${next !== undefined && html`<a href="${linkTo(visit, '/signups', { ...named, before: next })}">Older</a>`}
    </nav>
  `
  return { title: 'Signups', body }
}

/** The person whose whole address, or the end of whose id, somebody has given; else the latest signups whose address begins so. */
export async function findView(visit: Visit, stop: AbortSignal): Promise<Shown> {
  const given = storedEmail(posted(visit, 'email')).slice(0, limits.emailCharactersMax)
  if (given === '') return nothing(visit, 'Give an address, or its beginning.', '/signups')
  const journals = new Map(visit.sites.map(({ name, journal }) => [name, journal]))
  const [whole = given, another] = await addressesOf(given, { journals, stop })
  if (another !== undefined) return nothing(visit, severalEndSo, '/signups')
  if (emailProblem(whole) === undefined) return personView(visit, whole, stop)
  const { reader } = visit.site.journal
  const enough = foundMax + 1
  const pages = listsOf({ beginning: given }).map((list) => {
    return newest(reader, list, undefined, { enough, slices: Infinity })
  })
  const { signups } = merged(await Promise.all(pages), enough)
  const shown = signups.slice(0, foundMax)
  const more = `More than ${foundMax} do. Give more of the address.`
  const body = html`
    <div class="tools">${findForm(visit)}</div>
    <p dir="auto">
      ${shown.length === 0 ? 'None' : digits(shown.length)} of the latest 10,000 signups
      ${shown.length === 1 || shown.length === 0 ? 'begins' : 'begin'} with “${visible(given)}”.
      ${signups.length > foundMax ? more : 'An older one is found by its whole address.'}
    </p>
    ${shown.length > 0 && list(visit, {}, shown)}
  `
  return { title: 'Signups', body }
}

/** Where the signups of this choice are: in the list, beside it, or both. */
function listsOf(choice: RecentChoice): readonly RecentChoice[] {
  const beside = { ...choice, isBeside: true }
  if (choice.state === 'pending') return [beside]
  return choice.state && choice.state !== 'held' ? [choice] : [choice, beside]
}

/** Reads until it has enough, or there are no others, or it has read so many slices. */
async function newest(
  reader: Reader,
  choice: RecentChoice,
  before?: number,
  { enough, slices } = { enough: recentMax, slices: slicesMax },
): Promise<RecentPage> {
  let page = await reader.recent(choice, before)
  for (let slice = 1; slice < slices && page.next !== undefined; slice += 1) {
    if (page.signups.length >= enough) break
    // Requests and their answers come between two slices.
    await new Promise((resolve) => setTimeout(resolve))
    const more = await reader.recent(choice, page.next)
    page = { ...more, signups: [...page.signups, ...more.signups] }
  }
  return page
}

/** The newest of several lists, each of which stays in its order, and the cursors of their rests. */
function merged(pages: readonly RecentPage[], max: number) {
  const rests = pages.map(({ signups }) => [...signups])
  const signups: RecentSignup[] = []
  while (pages.length === 1 || signups.length < max) {
    const first = (rest: readonly RecentSignup[]) => (rest[0] ? cameAt(rest[0]) : 0)
    const [head] = rests.toSorted((one, other) => first(other) - first(one))
    const one = head?.shift()
    if (!one) break
    signups.push(one)
  }
  const next = pages.map(({ next = end }, at) => {
    const left = rests[at]?.[0]
    return left ? left.position + 1 : next
  })
  const hasMore = next.some((cursor) => cursor > end)
  return { signups, tabs: pages[0]?.tabs ?? [], next: hasMore ? next.join() : undefined }
}

/** When it came into its list. */
function cameAt({ signup: { receivedAt, confirmedAt } }: RecentSignup): Millis {
  return confirmedAt ?? receivedAt
}

function filters(visit: Visit, { tab, state }: RecentChoice, tabs: readonly string[]): Html {
  const [path, search] = linkTo(visit, '/signups').split('?')
  return html`<form action="${path}">
    ${search !== undefined && hidden({ site: visit.site.name })}
    ${select('Tab', 'tab', tab, [['', 'all'], ...tabs.map((it) => [it, visible(it)] as const)])}
    ${select('State', 'state', state, [['', 'all'], ...asked.map((it) => [it, states[it]] as const)])}
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
  if (signups.length === 0) return html`<section><p>There is none here.</p></section>`
  const decides = state === 'held'
  const act = (path: string) => html`formaction="${linkTo(visit, path)}"`
  const buttons = (which: string, asks: boolean) =>
    html`<button ${act('/release')} ${!asks && html`name="sure" value="yes"`}>
        Release ${which}${asks && '…'}
      </button>
      <button class="danger" ${act('/erase')}>Erase ${which}…</button>`
  const table = html`<div class="scrolls" role="region" aria-label="Signups" tabindex="0">
    <table class="cards">
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
          ${['Address', 'Time', 'Name', 'Tab', 'Source', decides ? 'Signs' : 'State'].map(
            (name) => html`<th scope="col">${name}</th>`,
          )}
        </tr>
      </thead>
      <tbody>
        ${signups.map((one) => row(visit, one, decides))}
      </tbody>
    </table>
  </div>`
  return html`<section>
      ${
        decides &&
        html`<p>
          A signup that is released ${visit.site.confirms ? getsMail : getsRow}, as if it had not
          looked like spam. One that is erased is removed from everywhere.
        </p>`
      }
      ${form(visit, '/person', html`${table} ${decides && buttons('the chosen ones', false)}`)}
    </section>
    ${
      decides &&
      tab === undefined &&
      html`<section>
        ${form(
          visit,
          '/release',
          html`${hidden({ all: 'yes' })}
            <label>Only of the domain <input name="domain" autocomplete="off" /></label>
            ${buttons('all of the list', true)}`,
        )}
      </section>`
    }`
}

function row(visit: Visit, one: RecentSignup, decides: boolean): Html {
  const { signup, state, until } = one
  const { id, email, name, sheetTab, source, confirmedAt, suspect = [] } = signup
  const at = iso(cameAt(one))
  const end = until === undefined ? endAfterMail(visit.site.confirmationDays) : time(iso(until))
  const rest = state === 'pending' && html`, until ${end}`
  return html`<tr>
    ${decides && html`<td><input type="checkbox" name="id" value="${id}" aria-label="${email}, ${at}" /></td>`}
    <th scope="row">
      <button
        class="link"
        name="email"
        value="${email}"
        aria-label="${visible(email)}"
        formaction="${linkTo(visit, '/person')}"
      >
        ${address(email)}
      </button>
    </th>
    <td data-name="Time">${time(at)}</td>
    ${Object.entries({ Name: name, Tab: sheetTab, Source: source }).map(([head, text]) => html`<td data-name="${head}" dir="auto">${visible(text)}</td>`)}
    <td data-name="${decides ? 'Signs' : 'State'}">
      ${decides ? suspect.join(', ') : html`${states[state]}${confirmedAt !== undefined && ', confirmed'}${rest}`}
    </td>
  </tr>`
}
