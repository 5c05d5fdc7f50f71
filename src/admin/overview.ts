import { html } from 'hono/html'
import type { Share } from '../journal/contracts/reader.ts'
import { readStatus, type Status } from '../operations/status.ts'
import { statusFacts, statusHints } from '../operations/status-words.ts'
import { digits } from '../operations/words.ts'
import type { Html } from '../pages/document.ts'
import { hour } from '../platform/clock.ts'
import { visible } from '../platform/visible.ts'
import type { Millis } from '../signup/signup.ts'
import { chart, chartTable } from './chart.ts'
import { facts, headRow, linkTo, timed } from './frame.ts'
import { beginsOf, periodNamed, periods, type Step, stepsOf, stepWords, sumOf } from './periods.ts'
import type { AdminSite, Shown, Visit } from './visit.ts'

type Period = (typeof periods)[number]
type Overview = Awaited<ReturnType<typeof readOverview>>

/** The view at `/admin`. */
export async function overviewView(visit: Visit): Promise<Shown> {
  const chosen = periodNamed(visit.query.get('period'))
  const current = html`aria-current="true"`
  const links = periods.map((period) => {
    const to = linkTo(visit, '', { period: period.name })
    return html`<a href="${to}" ${period === chosen && current}>${period.words}</a>`
  })
  const body = html`<nav class="periods" aria-label="Period">${links}</nav>
    ${overview(await readOverview(visit.site, visit.now, chosen), (state) =>
      linkTo(visit, '/signups', { state }),
    )}`
  return { title: 'Overview', body }
}

/** Reads what the overview shows. The cost is the same with ten million signups. */
export async function readOverview(site: AdminSite, now: Millis, period: Period) {
  const { reader } = site.journal
  const begins = beginsOf(period, now)
  const from = begins[period.count] ?? now
  const [status, hours, shares] = await Promise.all([
    readStatus(reader, site.account, now, site.endpoints),
    reader.hours(begins[0] ?? now, now, period.stepMs / hour),
    reader.shares(from, now),
  ])
  const days = `${stepWords(from, false)} to ${stepWords(now, false)}, in UTC`
  return { status, period, begins, hours, shares, days, confirms: site.confirms }
}

const figures = [
  ['accepted', 'Accepted'],
  ['asked', 'Asked to confirm'],
  ['confirmed', 'Confirmed'],
  ['written', 'Written'],
  ['suspect', 'Looked like spam'],
  ['erased', 'Erased'],
] as const

/**
 * The state of a site, its figures in a period, and what its tabs and sources had of them.
 *
 * @param listOf where the list of signups in this state is
 */
export function overview(data: Overview, listOf: (state: string) => string): Html {
  const { status, period, begins, hours, shares, days, confirms } = data
  const shown = figures.filter(([key]) => confirms || (key !== 'asked' && key !== 'confirmed'))
  const of = (kind: Share['kind']) => shares.filter((share) => share.kind === kind)
  return html`
    ${standing(status, listOf)}
    <h2>The last ${period.words}</h2>
    <div class="figures">
      ${shown.map(([key, name]) => figure(key, name, stepsOf(begins, hours, key), period))}
    </div>
    <div class="figures">
      ${shareTable('tabs', `Tabs, ${days}`, of('tab'))}
      ${shareTable('sources', `Sources, ${days}`, of('source'))}
    </div>
  `
}

/** Of which state a fact of `statusFacts` counts the signups. */
const statesOf: Readonly<Record<string, string>> = {
  Waiting: 'waiting',
  'To be confirmed': 'pending',
  'In quarantine': 'quarantine',
}

function standing(status: Status, listOf: (state: string) => string): Html {
  return html`<section id="standing" data-live aria-labelledby="standing-title">
    <h2 id="standing-title">Now</h2>
    ${statusHints(status).map((hint) => html`<p class="alert">To do: ${hint}</p>`)}
    ${facts(statusFacts(status), (text, name) => {
      const state = statesOf[name]
      return state === undefined ? timed(text) : html`<a href="${listOf(state)}">${timed(text)}</a>`
    })}
  </section>`
}

function figure(key: string, name: string, steps: readonly Step[], period: Period): Html {
  const isHourly = period.stepMs === hour
  const sum = digits(sumOf(steps, ({ now }) => now))
  const before = `${digits(sumOf(steps, (step) => step.before))} the ${period.words} before`
  const title = `${name} in the last ${period.words}`
  return html`<section aria-labelledby="${key}-title">
    <h3 id="${key}-title">${name}</h3>
    <div id="${key}" data-live>
      <p class="number"><strong>${sum}</strong> <span>${before}</span></p>
      ${chart(`${title}: ${sum}, and ${before}`, steps, isHourly)}
    </div>
    <details>
      <summary>${name} as a table</summary>
      <div id="${key}-table" data-live>${chartTable(title, steps, isHourly)}</div>
    </details>
  </section>`
}

/** Others stand last, however many they are. */
function shareTable(id: string, title: string, shares: readonly Share[]): Html {
  const all = sumOf(shares, (share) => share.count)
  const others = shares.filter(({ name }) => name === undefined)
  const rows = [...shares.filter(({ name }) => name !== undefined), ...others]
  return html`<section id="${id}" data-live aria-labelledby="${id}-title">
    <h3 id="${id}-title">${title}</h3>
    <table>
      ${headRow('Name', 'Signups', 'Share')}
      ${rows.map(({ name = 'All others', count: signups }) => {
        const percent = (100 * signups) / all
        const words = percent < 1 ? 'under 1' : Math.round(percent)
        return html`<tr>
          <th scope="row">${visible(name) || 'No source'}</th>
          <td>${digits(signups)}</td>
          <td>
            ${words} %
            <svg class="share" viewBox="0 0 100 6" preserveAspectRatio="none" role="presentation">
              <path class="bar" d="M0 0H${percent.toFixed(1)}V6H0z" />
            </svg>
          </td>
        </tr>`
      })}
    </table>
    ${rows.length === 0 && html`<p>None was counted.</p>`}
  </section>`
}
