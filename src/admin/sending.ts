import { html } from 'hono/html'
import { retryFact } from '../journal/contracts/delivery-log.ts'
import type { FailedMessage } from '../journal/contracts/webhook-log.ts'
import { readStatus, type Status } from '../operations/status.ts'
import { deliveryFacts, mailFacts, waitingFact } from '../operations/status-words.ts'
import {
  enable,
  endpointHint,
  endpointWords,
  replayFrom,
  replayOne,
  testWords,
} from '../operations/webhooks.ts'
import { digits } from '../operations/words.ts'
import type { Html } from '../pages/document.ts'
import { iso } from '../platform/clock.ts'
import type { Finding } from '../signup/finding.ts'
import { facts, form, headRow, hidden, time, timed, told } from './frame.ts'
import { type AdminRoute, posted, type Shown, type Visit } from './visit.ts'

export interface SendingOptions {
  /** Sends a test notice; undefined when notices go nowhere but to the log. */
  readonly testNotice: (() => Promise<Finding>) | undefined
}

/** What is sent from here: rows, mails, messages of webhooks and notices, each with what to do about it. */
export function sendingRoute({ testNotice }: SendingOptions): AdminRoute {
  const show = async (visit: Visit, done?: string): Promise<Shown> => {
    const { site, now } = visit
    const { reader, webhooks } = site.journal
    const status = await readStatus(reader, site.account, now, site.endpoints)
    const failed = await Promise.all(site.endpoints.map(({ key }) => webhooks.failed(key, 0)))
    const body = html`
      ${told(done)} ${rows(visit, status)} ${mail(status)}
      ${status.webhooks.map((webhook, at) => endpoint(visit, webhook, failed[at] ?? []))}
      ${testNotice && notices(visit)}
    `
    return { title: 'Sending', body }
  }

  const act = async (visit: Visit): Promise<string> => {
    const { site, now } = visit
    const { webhooks: log, delivery } = site.journal
    const what = posted(visit, 'do')
    if (what === 'rows') {
      await delivery.noteFact(retryFact, `${iso(now)} ${visit.requestId}`)
      return 'The tabs that are set aside are tried now.'
    }
    if (what === 'notice' && testNotice) return `Notices ${(await testNotice()).message}.`
    const one = site.endpoints.find(({ number }) => String(number) === posted(visit, 'webhook'))
    if (!one) return 'There is no such webhook any more.'
    const { key, number } = one
    const name = `Webhook ${number}`
    if (what === 'test') return `${name} ${testWords(await one.test()).words}.`
    if (what === 'enable') return `${name} ${(await enable(log, key)).words}.`
    const id = posted(visit, 'id').trim()
    if (id !== '') return `${name} ${(await replayOne(log, key, id)).words}.`
    const since = Date.parse(`${posted(visit, 'since')}Z`)
    if (Number.isNaN(since)) return 'Give the id of a signup, or a time such as 2026-10-31T16:00.'
    return `${name} ${(await replayFrom(log, key, since)).words}.`
  }

  return {
    path: '/sending',
    GET: (visit) => show(visit),
    POST: async (visit) => show(visit, await act(visit)),
  }
}

function rows(visit: Visit, status: Status): Html {
  const { delivery, tabsSetAside } = status
  const { location } = visit.site
  return html`<section id="rows" aria-labelledby="rows-title">
    <h2 id="rows-title">Rows</h2>
    <p>
      They go to
      ${/^https?:/.test(location) ? html`<a href="${location}">the spreadsheet</a>` : location}.
    </p>
    ${[delivery, ...tabsSetAside].map(({ hint }) => hint !== null && html`<p class="alert">To do: ${hint}</p>`)}
    ${facts([waitingFact(status), ...deliveryFacts(status)])}
    ${tabsSetAside.length > 0 && button(visit, { do: 'rows' }, 'Try these tabs now')}
  </section>`
}

function mail(status: Status): Html {
  const { state, since, waiting, lastSent } = status.mail
  const goesAgain = lastSent !== null && since !== null && lastSent > since
  const failing = goesAgain
    ? 'Mails go again: this goes away after a minute without a failure.'
    : 'Mails are not sent. They wait, and are sent when the mail server takes them.'
  const working =
    lastSent === null && waiting === 0 ? 'None was sent yet.' : 'Nothing stands in its way.'
  return html`<section id="mail" aria-labelledby="mail-title">
    <h2 id="mail-title">Mail</h2>
    <p class="${state === 'ok' ? '' : 'alert'}">${state === 'ok' ? working : failing}</p>
    ${facts(mailFacts(status))}
  </section>`
}

function endpoint(
  visit: Visit,
  webhook: Status['webhooks'][number],
  failed: readonly FailedMessage[],
): Html {
  const { webhook: number, host } = webhook
  const hint = endpointHint(webhook, number)
  const id = `webhook-${number}`
  return html`<section id="${id}" aria-labelledby="${id}-title">
    <h2 id="${id}-title">Webhook ${number}, ${host}</h2>
    <p class="${hint === undefined ? '' : 'alert'}">${timed(endpointWords(webhook))}. ${hint}</p>
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
    aria-label="Given up by webhook ${number}"
  >
    <table>
      <caption>
        Messages that were given up, the first ${digits(failed.length)}
      </caption>
      <thead>
        ${headRow('Signup', 'Message', 'Last try', 'Why', 'To do')}
      </thead>
      <tbody>
        ${failed.map(
          ({ id, type, tries, at, reason }) =>
            html`<tr>
              <th scope="row">${id}</th>
              <td>${type}</td>
              <td>${time(iso(at))}, try ${tries}</td>
              <td>${reason}</td>
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
