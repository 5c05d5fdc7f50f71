import { html } from 'hono/html'
import { type Answer, seeOther } from '../http/answer.ts'
import type { Work } from '../journal/tables/admin-log.ts'
import { type Doing, standingOf, type WorkRunner } from '../operations/work.ts'
import { digits } from '../platform/digits.ts'
import type { Html } from '../pages/document.ts'
import { iso } from '../platform/clock.ts'
import { headRow, linkTo, time } from './frame.ts'
import type { Shown, Visit } from './visit.ts'

const kinds: Readonly<Record<string, string>> = {
  release: 'Release what was held',
  erase: 'Erase what was held',
  forget: 'Erase a person',
  'allow-mail': 'Let mails go again',
  rows: 'Try tabs again',
  test: 'Test a webhook',
  enable: 'Enable a webhook',
  replay: 'Send messages again',
  notice: 'Test the notices',
}
const states = { running: 'runs', done: 'done', failed: 'stopped' } as const
const stateWords = { running: 'It runs', done: 'Done', failed: 'Stopped' } as const

interface Task {
  /** One of `kinds`. */
  readonly kind: string
  /** The view that tells what came of it, as soon as it has ended. */
  readonly back: string
}

/** Does something, and leads to a view that tells of it, so that a reload does not do it again. */
export async function begin(
  visit: Visit,
  runner: WorkRunner,
  { kind, back }: Task,
  doing: Doing,
): Promise<Shown | Answer> {
  const begun = await runner.start(kind, doing)
  if (begun) return seeOther(linkTo(visit, begun.hasEnded ? back : '/work', { id: begun.id }))
  const why = 'Three pieces of work run already. Wait until one of them has ended, and try again.'
  return nothing(visit, why, back)
}

/** Says why nothing was done. @param back the view where it can be tried again */
export function nothing(visit: Visit, why: string, back: string): Shown {
  const body = html`<section>
    <p role="alert">${why}</p>
    <p><a href="${linkTo(visit, back)}">Go back</a></p>
  </section>`
  return { title: 'Nothing was done', body }
}

/** What came of the work that the address of a view names, when it has ended. */
export async function reportOf({ query, log, now }: Visit): Promise<readonly string[]> {
  const id = query.get('id')
  if (id === null) return []
  const one = (await log.work()).find((it) => it.id === id)
  if (!one) return []
  const { state, report } = standingOf(one, now)
  return state === 'running' ? [] : report.split('\n')
}

/** All that goes on in the background, of all instances, or one piece of it. */
export async function workView(visit: Visit): Promise<Shown> {
  const all = (await visit.log.work()).map((one) => ({ ...one, ...standingOf(one, visit.now) }))
  const one = all.find(({ id }) => id === visit.query.get('id'))
  const runs = (one ? [one] : all).some(({ state }) => state === 'running')
  const around = { refreshSeconds: runs ? 2 : undefined }
  if (one) return { title: nameOf(one), body: oneOf(visit, one), ...around }
  const body = html`<section>
    <table id="work" class="cards">
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
              <td data-name="Begun">${time(iso(it.madeAt))}</td>
              <td data-name="State">${states[it.state]}</td>
              <td data-name="Result">${resultOf(it)}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </section>`
  return {
    title: 'Work',
    body: all.length > 0 ? body : html`<section><p>Nothing was begun yet.</p></section>`,
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
  const { state, report, madeAt } = work
  return html`<section id="work-state" role="status">
      <p>
        <strong>${stateWords[state]}</strong>${state !== 'done' && `, ${resultOf(work)}`}, begun
        ${time(iso(madeAt))}.
      </p>
      ${state === 'running' && html`<p>It goes on when you close this page.</p>`}
      ${report.split('\n').map((line) => html`<p>${line}</p>`)}
    </section>
    <p><a href="${linkTo(visit, '/work')}">All work</a></p>`
}
