import { html } from 'hono/html'
import type { Work } from '../journal/contracts/admin-log.ts'
import { standingOf } from '../operations/work.ts'
import { digits } from '../operations/words.ts'
import type { Html } from '../pages/document.ts'
import { iso } from '../platform/clock.ts'
import { headRow, linkTo, time } from './frame.ts'
import type { Shown, Visit } from './visit.ts'

const kinds: Readonly<Record<string, string>> = {
  release: 'Release from quarantine',
  erase: 'Erase from quarantine',
  forget: 'Erase a person',
}
const states = { running: 'runs', done: 'done', failed: 'stopped' } as const
const stateWords = { running: 'It runs', done: 'Done', failed: 'Stopped' } as const

/** All that goes on in the background, of all instances, or one piece of it. */
export async function workView(visit: Visit): Promise<Shown> {
  const all = (await visit.log.work()).map((one) => ({ ...one, ...standingOf(one, visit.now) }))
  const one = all.find(({ id }) => id === visit.query.get('id'))
  const runs = (one ? [one] : all).some(({ state }) => state === 'running')
  const around = { refreshSeconds: runs ? 2 : undefined }
  if (one) return { title: nameOf(one), body: oneOf(visit, one), ...around }
  const body = html`<table id="work">
    <caption>
      What was begun on this page, the newest first
    </caption>
    <thead>
      ${headRow('What', 'Begun', 'State', 'Result')}
    </thead>
    <tbody>
      ${all.map(
        (it) =>
          html`<tr>
            <th scope="row">
              <a href="${linkTo(visit, '/work', { id: it.id })}">${nameOf(it)}</a>
            </th>
            <td>${time(iso(it.madeAt))}</td>
            <td>${states[it.state]}</td>
            <td>${resultOf(it)}</td>
          </tr>`,
      )}
    </tbody>
  </table>`
  return {
    title: 'Work',
    body: all.length > 0 ? body : html`<p>Nothing was begun yet.</p>`,
    ...around,
  }
}

function nameOf({ kind }: Work): string {
  return kinds[kind] ?? kind
}

/** What came of it. Of work that has not ended well, how far it got. */
function resultOf({ state, done, report }: Work): string {
  return state === 'done' ? (report.split('\n')[0] ?? '') : `${digits(done)} so far`
}

function oneOf(visit: Visit, work: Work): Html {
  const { kind, state, report, madeAt } = work
  return html`<section id="work-state" role="status">
      <p>
        <strong>${stateWords[state]}</strong>${state !== 'done' && `, ${resultOf(work)}`}, begun
        ${time(iso(madeAt))}.
      </p>
      ${state === 'running' && html`<p>It goes on when you close this page.</p>`}
      ${report.split('\n').map((line) => html`<p>${line}</p>`)}
    </section>
    ${kind !== 'forget' && html`<p><a href="${linkTo(visit, '/signups', { state: 'quarantine' })}">Quarantine</a></p>`}
    <p><a href="${linkTo(visit, '/work')}">All work</a></p>`
}
