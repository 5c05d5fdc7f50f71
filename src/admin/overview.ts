import { html } from 'hono/html'
import type { Share } from '../journal/contracts/reader.ts'
import { readStatus } from '../operations/status.ts'
import {
  closingFacts,
  deliveryFacts,
  heldEndingWords,
  mailFacts,
  troublesOf,
} from '../operations/status-words.ts'
import { digits } from '../platform/digits.ts'
import type { Html } from '../pages/document.ts'
import { hour } from '../platform/clock.ts'
import { visible } from '../platform/visible.ts'
import type { Millis } from '../signup/signup.ts'
import { chart, chartTable } from './chart.ts'
import { facts, headRow, linkTo, timed, troubles } from './frame.ts'
import { beginsOf, periodNamed, periods, stepsOf, stepWords, sumOf } from './periods.ts'
import type { AdminSite, Shown, Visit } from './visit.ts'

type Period = (typeof periods)[number]
type Overview = Awaited<ReturnType<typeof readOverview>>

/** The view at `/admin`. */
export async function overviewView(visit: Visit): Promise<Shown> {
  const chosen = periodNamed(visit.query.get('period'))
  const data = await readOverview(visit.site, visit.now, chosen)
  return { title: 'Overview', body: overview(data, (path, query) => linkTo(visit, path, query)) }
}

/** Reads what the overview shows. The cost is the same with ten million signups. */
export async function readOverview(site: AdminSite, now: Millis, period: Period) {
  const { reader } = site.journal
  const begins = beginsOf(period, now)
  const from = begins[period.count] ?? now
  const [status, counts, shares] = await Promise.all([
    readStatus(reader, site.account, now, site.endpoints, site.closing),
    reader.counted(['accepted'], begins[0] ?? now, now, period.stepMs),
    reader.shares(from, now),
  ])
  const days = `${stepWords(from, false)} to ${stepWords(now, false)}, in UTC`
  return { site, status, period, steps: stepsOf(begins, counts), shares, days }
}

/** @param to the address of a view */
type Linking = (path: string, query?: Readonly<Record<string, string>>) => string

/** The state of a site for its owner: what does not work, who is on the list, and how they came to it. */
export function overview(data: Overview, to: Linking): Html {
  const { status, shares, days } = data
  const of = (kind: Share['kind']) => shares.filter((share) => share.kind === kind)
  return html`
    <div id="troubles" data-live>${troubles(troublesOf(status))}</div>
    <div class="figures wide">${people(data, to)} ${signups(data, to)}</div>
    <div class="figures">
      ${shareTable('tabs', `Tabs, ${days}`, of('tab'))}
      ${shareTable('sources', `Sources, ${days}`, of('source'))}
    </div>
    <section id="standing" data-live aria-labelledby="standing-title">
      <h2 id="standing-title">How it runs</h2>
      ${facts([...mailFacts(status), ...deliveryFacts(status)].filter(([, text]) => text !== ''))}
      <p><a href="${to('/sending')}">Sending</a></p>
    </section>
  `
}

function people({ site, status }: Overview, to: Linking): Html {
  const { onList, accepted, beside, waiting } = status
  const held = beside.held + beside.suspect
  // Pending ones that are held are told as held.
  const pending = Math.max(0, beside.pending - beside.suspect)
  const asked = Math.max(beside.asked, beside.confirmed)
  const percent = asked === 0 ? 0 : Math.round((100 * beside.confirmed) / asked)
  const { location } = site
  return html`<section id="people" data-live aria-labelledby="people-title">
    <h2 id="people-title">On the list</h2>
    <p class="number"><strong>${digits(onList)}</strong></p>
    <p class="more">
      Signups that count, less those that were erased. Who signs up twice counts twice.
    </p>
    <dl class="small-figures">
      ${closingFacts(status)
        .filter(([, words]) => words !== '')
        .map(
          ([name, words = '']) =>
            html`<div>
              <dt>${name}</dt>
              <dd>${timed(words)}</dd>
            </div>`,
        )}
      ${small('Signed up today', accepted.today, { more: beside.erased > 0 && 'erased ones, too' })}
      ${
        site.confirms &&
        html`<div>
          <dt>Have confirmed</dt>
          <dd>
            <strong>${percent} %</strong>
            <span class="more">${digits(beside.confirmed)} of ${digits(asked)} asked</span>
          </dd>
        </div>`
      }
      ${small('Waiting for their row', waiting.signups, { to: to('/signups', { state: 'waiting' }) })}
      ${(site.confirms || pending > 0) && small('Pending', pending, { to: to('/signups', { state: 'pending' }) })}
      ${small('Held', held, { to: to('/signups', { state: 'held' }), more: heldEndingWords(status) })}
      ${small('Erased', beside.erased)}
    </dl>
    <p>
      ${/^https?:/.test(location) ? html`<a href="${location}">The spreadsheet</a>` : html`Rows go to ${location}`}
    </p>
    <p><a href="${to('/export')}">Download the list as CSV</a></p>
  </section>`
}

interface SmallOptions {
  /** Where it leads, unless it is zero. */
  readonly to?: string
  /** What is said beside it. */
  readonly more?: string | false
}

/** A smaller figure; one of nothing is quiet. */
function small(name: string, count: number, { to, more }: SmallOptions = {}): Html {
  const number = count === 0 ? html`0` : html`<strong>${digits(count)}</strong>`
  const linked = to === undefined || count === 0 ? number : html`<a href="${to}">${number}</a>`
  return html`<div>
    <dt>${name}</dt>
    <dd>${linked}${more && html` <span class="more">${more}</span>`}</dd>
  </div>`
}

function signups({ period, steps }: Overview, to: Linking): Html {
  const isHourly = period.stepMs === hour
  const sum = digits(sumOf(steps, ({ now }) => now))
  const before = digits(sumOf(steps, (step) => step.before))
  const title = `Signups in the last ${period.words}`
  const current = html`aria-current="true"`
  return html`<section aria-labelledby="signups-title">
    <h2 id="signups-title">${title}</h2>
    <nav class="periods" aria-label="Period">
      ${periods.map(
        (one) =>
          html`<a href="${to('', { period: one.name })}" ${one === period && current}
            >${one.words}</a
          >`,
      )}
    </nav>
    <div id="chart" data-live>
      <ul class="legend">
        <li class="now"><strong>${sum}</strong> in these ${period.words}</li>
        <li class="before"><strong>${before}</strong> in the ${period.words} before</li>
      </ul>
      ${chart(`${title}: ${sum}, and ${before} in the ${period.words} before`, steps, isHourly)}
    </div>
    <details>
      <summary>As a table</summary>
      <div id="chart-table" data-live>${chartTable(title, steps, isHourly)}</div>
    </details>
  </section>`
}

/** Others stand last, however many they are. */
function shareTable(id: string, title: string, shares: readonly Share[]): Html {
  const all = sumOf(shares, (share) => share.count)
  const others = shares.filter(({ name }) => name === undefined)
  const rows = [...shares.filter(({ name }) => name !== undefined), ...others]
  return html`<section id="${id}" data-live aria-labelledby="${id}-title">
    <h2 id="${id}-title">${title}</h2>
    ${
      rows.length === 0
        ? html`<p>None yet.</p>`
        : html`<table>
            ${headRow('Name', 'Signups', 'Share')}
            ${rows.map(({ name = 'Other', count: signups }) => {
              const percent = (100 * signups) / all
              const words = percent < 1 ? 'under 1' : Math.round(percent)
              return html`<tr>
                <th scope="row">${visible(name) || 'No source'}</th>
                <td>${digits(signups)}</td>
                <td>
                  ${words} %
                  <svg
                    class="share"
                    viewBox="0 0 100 6"
                    preserveAspectRatio="none"
                    role="presentation"
                  >
                    <path class="bar" d="M0 0H${percent.toFixed(1)}V6H0z" />
                  </svg>
                </td>
              </tr>`
            })}
          </table>`
    }
  </section>`
}
