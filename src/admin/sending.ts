import { html } from 'hono/html'
import { retryFact } from '../journal/contracts/delivery-log.ts'
import type { FailedMessage } from '../journal/contracts/webhook-log.ts'
import { readStatus, type Status } from '../operations/status.ts'
import {
  deliveryFacts,
  mailFacts,
  type Trouble,
  troublesOf,
  waitingFact,
} from '../operations/status-words.ts'
import {
  enable,
  endpointWords,
  replayFrom,
  replayOne,
  testWords,
  type WebhookDone,
} from '../operations/webhooks.ts'
import { digits } from '../platform/digits.ts'
import type { WorkRunner } from '../operations/work.ts'
import type { Html } from '../pages/document.ts'
import { iso } from '../platform/clock.ts'
import type { Finding } from '../platform/finding.ts'
import { facts, form, headRow, hidden, time, timed, troubles } from './frame.ts'
import { type AdminRoute, posted, type Shown, type Visit } from './visit.ts'
import { begin, nothing } from './work.ts'

export interface SendingOptions {
  readonly runner: WorkRunner
  /** Sends a test notice; undefined when notices go nowhere but to the log. */
  readonly testNotice: (() => Promise<Finding>) | undefined
}

const kinds = ['rows', 'notice', 'test', 'enable'] as const

/** What is sent from here: rows, mails, messages of webhooks and notices, each with what to do about it. */
export function sendingRoute(options: SendingOptions): AdminRoute {
  return {
    path: '/sending',
    GET: (visit) => show(visit, options),
    POST: async (visit) => {
      const doing = doingOf(visit, options)
      if (typeof doing === 'string') return nothing(visit, doing, '/sending')
      const kind = kinds.find((it) => it === posted(visit, 'do')) ?? 'replay'
      const task = { kind, back: '/sending' }
      return begin(visit, options.runner, task, async () => [await doing()])
    },
  }
}

async function show(visit: Visit, { testNotice }: SendingOptions): Promise<Shown> {
  const { site, now } = visit
  const { reader, webhooks } = site.journal
  const status = await readStatus(reader, site.account, now, site.endpoints)
  const bad = troublesOf(status)
  const failed = await Promise.all(site.endpoints.map(({ key }) => webhooks.failed(key, 0)))
  const body = html`
    ${rows(visit, status, bad)} ${mail(status, bad)}
    ${status.webhooks.map((webhook, at) => {
      const own = bad.filter(({ about }) => about === webhook.webhook)
      return endpoint(visit, webhook, failed[at] ?? [], own)
    })}
    ${testNotice && notices(visit)}
  `
  return { title: 'Sending', body }
}

/** What a form asks to do, which resolves with a sentence about it; or why nothing can be done. */
function doingOf(visit: Visit, { testNotice }: SendingOptions): (() => Promise<string>) | string {
  const { site, now } = visit
  const { webhooks: log, delivery } = site.journal
  const what = posted(visit, 'do')
  if (what === 'rows') {
    return async () => {
      await delivery.noteFact(retryFact, `${iso(now)} ${visit.requestId}`)
      return 'The tabs that are set aside are tried now.'
    }
  }
  if (what === 'notice' && testNotice) return async () => `Notices ${(await testNotice()).message}.`
  const one = site.endpoints.find(({ number }) => String(number) === posted(visit, 'webhook'))
  if (!one) return 'There is no such webhook any more.'
  const { key, number, test } = one
  const about = async (done: Promise<WebhookDone>) => `Webhook ${number} ${(await done).words}.`
  if (what === 'test') return () => about(test().then(testWords))
  if (what === 'enable') return () => about(enable(log, key))
  const id = posted(visit, 'id').trim()
  if (id !== '') return () => about(replayOne(log, key, id))
  const since = Date.parse(`${posted(visit, 'since')}Z`)
  if (Number.isNaN(since)) return 'Give the id of a signup, or a time such as 2026-10-31T16:00.'
  return () => about(replayFrom(log, key, since))
}

function rows(visit: Visit, status: Status, bad: readonly Trouble[]): Html {
  const { tabsSetAside } = status
  const { location } = visit.site
  return html`<section id="rows" aria-labelledby="rows-title">
    <h2 id="rows-title">Rows</h2>
    <p>
      They go to
      ${/^https?:/.test(location) ? html`<a href="${location}">the spreadsheet</a>` : location}.
    </p>
    ${troubles(bad.filter(({ about }) => about === 'rows'))}
    ${facts([waitingFact(status), ...deliveryFacts(status)])}
    ${tabsSetAside.length > 0 && button(visit, { do: 'rows' }, 'Try these tabs now')}
  </section>`
}

function mail(status: Status, bad: readonly Trouble[]): Html {
  const { state, goesAgain, waiting, lastSent } = status.mail
  const working =
    lastSent === null && waiting === 0 ? 'None was sent yet.' : 'Nothing stands in its way.'
  const again = 'Mails go again: this goes away after a minute without a failure.'
  return html`<section id="mail" aria-labelledby="mail-title">
    <h2 id="mail-title">Mail</h2>
    ${troubles(bad.filter(({ about }) => about === 'mail'))}
    ${state === 'ok' && html`<p>${working}</p>`} ${goesAgain && html`<p>${again}</p>`}
    ${facts(mailFacts(status))}
  </section>`
}

function endpoint(
  visit: Visit,
  webhook: Status['webhooks'][number],
  failed: readonly FailedMessage[],
  bad: readonly Trouble[],
): Html {
  const { webhook: number, host } = webhook
  const id = `webhook-${number}`
  return html`<section id="${id}" aria-labelledby="${id}-title">
    <h2 id="${id}-title">Webhook ${number}, ${host}</h2>
    ${bad.length > 0 ? troubles(bad) : html`<p class="words">${timed(endpointWords(webhook))}.</p>`}
    <div class="actions">
      ${button(visit, { do: 'test', webhook: number }, 'Send a test')}
      ${button(visit, { do: 'enable', webhook: number }, 'Send what waits now')}
    </div>
    ${form(
      visit,
      '/sending',
      html`${hidden({ do: 'replay', webhook: number })}
        <label
          >Send again from this time on (UTC) <input type="datetime-local" name="since"
        /></label>
        <label>or of the signup with this id <input name="id" autocomplete="off" /></label>
        <button>Send again</button>`,
    )}
    ${failed.length > 0 && failedTable(visit, number, failed)}
  </section>`
}

function failedTable(visit: Visit, number: number, failed: readonly FailedMessage[]): Html {
  return html`<div
    class="scrolls"
    role="region"
    tabindex="0"
    aria-label="Failed at webhook ${number}"
  >
    <table class="cards">
      <caption>
        Messages that have failed, the first ${digits(failed.length)}
      </caption>
      <thead>
        ${headRow('Signup', 'Message', 'Last try', 'Why', 'To do')}
      </thead>
      <tbody>
        ${failed.map(
          ({ id, type, tries, at, reason }) =>
            html`<tr>
              <th scope="row">${id}</th>
              <td data-name="Message">${type}</td>
              <td data-name="Last try">${time(iso(at))}, try ${tries}</td>
              <td data-name="Why">${reason}</td>
              <td>${button(visit, { do: 'replay', webhook: number, id }, 'Send again')}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`
}

function notices(visit: Visit): Html {
  return html`<section id="notices" aria-labelledby="notices-title">
    <h2 id="notices-title">Notices</h2>
    <p>They go to ALERT_WEBHOOK_URL when delivery fails, and when it works again.</p>
    ${button(visit, { do: 'notice' }, 'Send a test notice')}
  </section>`
}

function button(visit: Visit, fields: Parameters<typeof hidden>[0], words: string): Html {
  return form(visit, '/sending', html`${hidden(fields)}<button>${words}</button>`)
}
