import { html } from 'hono/html'
import { readStatus, type Status } from '../operations/status.ts'
import { endpointHint, endpointWords } from '../operations/webhooks.ts'
import type { Html } from '../pages/document.ts'
import { form, time } from './frame.ts'
import type { Shown, Visit } from './visit.ts'

/** What is sent from here: rows, mails and messages of webhooks, each with what to do about it. */
export async function sending(visit: Visit): Promise<Shown> {
  const { site, now } = visit
  const status = await readStatus(site.journal.reader, site.account, now, site.endpoints)
  const body = html`
    ${rows(visit, status)} ${mail(status)}
    ${status.webhooks.map((webhook) => endpoint(visit, webhook))}
  `
  return { title: 'Sending', body }
}

function rows(visit: Visit, { delivery, tabsSetAside, waiting, quota }: Status): Html {
  const { location } = visit.site
  return html`<section id="rows" data-live aria-labelledby="rows-title">
    <h2 id="rows-title">Rows</h2>
    <p>${/^https?:/.test(location) ? html`<a href="${location}">The spreadsheet</a>` : location}</p>
    <p>Delivery: ${delivery.state}${delivery.error !== null && `: ${delivery.error}`}</p>
    ${delivery.hint !== null && html`<p class="alert">${delivery.hint}</p>`}
    <p>Waiting: ${waiting.signups.toLocaleString('en-US')}</p>
    ${quota && html`<p>Calls left: ${quota.perMinute.left} this minute, ${quota.perDay.left} this day</p>`}
    ${tabsSetAside.map(
      ({ tab, error, hint }) =>
        html`<p class="alert"><strong>${tab} is set aside: ${error}</strong> ${hint}</p>`,
    )}
  </section>`
}

function mail({ mail: { state, since, error, waiting, lastSent } }: Status): Html {
  return html`<section id="mail" data-live aria-labelledby="mail-title">
    <h2 id="mail-title">Mail</h2>
    <p>${state === 'ok' ? 'Works' : html`Failing since ${time(since ?? '')}: ${error}`}</p>
    <p>Waiting: ${waiting.toLocaleString('en-US')}</p>
    ${lastSent !== null && html`<p>Sent last: ${time(lastSent)}</p>`}
  </section>`
}

function endpoint(visit: Visit, webhook: Status['webhooks'][number]): Html {
  const { webhook: number, host } = webhook
  const hint = endpointHint(webhook, number)
  return html`<section id="webhook-${number}" aria-labelledby="webhook-${number}-title">
    <h2 id="webhook-${number}-title">Webhook ${number}, ${host}</h2>
    <p>${endpointWords(webhook)}</p>
    ${hint !== undefined && html`<p class="alert">${hint}</p>`}
    ${form(visit, '/webhook', html`<input type="hidden" name="number" value="${number}" />`)}
  </section>`
}
