import { html } from 'hono/html'
import type { Message } from '../../journal/contracts/outbox.ts'
import type { Millis } from '../../signup/signup.ts'
import {
  aside,
  button,
  heading,
  type Html,
  htmlMail,
  type MailColors,
  paragraph,
} from './layout.ts'
import type { Mail } from './mail.ts'

/** What the owner is told of a site: the body of a message of kind `report`, as JSON. */
export interface Report {
  readonly site: string
  readonly location: string
  readonly from: Millis
  readonly to: Millis
  readonly accepted: number
  readonly confirmed: number
  readonly quarantined: number
  /** Of now. */
  readonly held: number
  readonly pending: number
  readonly blocked: number
  readonly newBlocked: number
  /** Accepted signups by name. */
  readonly tabs: readonly (readonly [name: string, count: number])[]
  readonly sources: readonly (readonly [name: string, count: number])[]
}

export interface ReportMailOptions {
  /** `OWNER_MAIL` */
  readonly owner: string
  readonly publicUrl: string
  readonly colors: MailColors
}

/** The mail to the owner. */
export function reportMail({ id, body }: Message, options: ReportMailOptions): Mail {
  const report = JSON.parse(body) as Report
  const { accepted, site } = report
  const { owner, publicUrl } = options
  const subject = `Rollcall, site ${site}: ${accepted} new ${accepted === 1 ? 'signup' : 'signups'}`
  return {
    ...{ to: owner, subject, headers: {} },
    text: textOf(report),
    html: htmlOf(report, subject, options),
    messageId: `${id}@${new URL(publicUrl).hostname}`,
  }
}

type Counts = readonly (readonly [name: string, count: number])[]

function periodOf({ from, to }: Report): string {
  return `${moment(from)} to ${moment(to)} (UTC)`
}

/** All figures, below the heading of each part. The first has none. */
function partsOf(report: Report): readonly (readonly [heading: string, counts: Counts])[] {
  const { accepted, confirmed, quarantined, held, pending, blocked, newBlocked } = report
  const counts = [
    ['Accepted', accepted],
    ['Of these confirmed', confirmed],
    ['Newly held', quarantined],
    ['Held now', held],
    ['Pending now', pending],
    ['Want no mail', blocked],
    ['Of these new', newBlocked],
  ] as const
  if (accepted === 0) return [['', counts]]
  return [
    ['', counts],
    ['By tab', sorted(report.tabs, '(the default tab)')],
    ['By source', sorted(report.sources, '(none)')],
  ]
}

function textOf(report: Report): string {
  const parts = partsOf(report).map(
    ([heading, counts]) =>
      (heading && `${heading}\n`) +
      counts.map(([name, count]) => `${String(count).padStart(8)}  ${name}`).join('\n'),
  )
  const { site, location } = report
  return [`Site ${site}, ${periodOf(report)}`, ...parts, `The spreadsheet: ${location}\n`].join(
    '\n\n',
  )
}

function htmlOf(report: Report, subject: string, { colors }: ReportMailOptions): string {
  const { site, location } = report
  const body = html`
    ${aside(`Site ${site}, ${periodOf(report)}`, 'margin: 0')} ${heading(subject)}
    ${partsOf(report).map(([heading, counts]) => html`${heading && paragraph(heading)}${table(counts)}`)}
    ${
      /^https?:/.test(location)
        ? button('Open the spreadsheet', location, colors)
        : aside(location, 'margin: 24px 0 0')
    }
  `
  return htmlMail({ language: 'en', subject, colors, body })
}

function table(counts: Counts): Html {
  return html`<table style="margin: 8px 0 0; font: inherit">
    ${counts.map(
      ([name, count]) =>
        html`<tr>
          <td align="right" style="padding: 0 12px 0 0; font-weight: 600">${count}</td>
          <td>${name}</td>
        </tr>`,
    )}
  </table>`
}

function sorted(counts: Counts, nameless: string): Counts {
  return counts
    .map(([name, count]) => [name === '' ? nameless : name, count] as const)
    .toSorted(([, one], [, other]) => other - one)
}

function moment(at: Millis): string {
  return new Date(at).toISOString().slice(0, 16).replace('T', ' ')
}
