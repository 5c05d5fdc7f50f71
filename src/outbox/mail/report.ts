import { html } from 'hono/html'
import type { HtmlEscapedString } from 'hono/utils/html'
import type { Message } from '../../journal/contracts/outbox.ts'
import type { Millis } from '../../signup/signup.ts'
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
}

/** The mail to the owner. */
export function reportMail({ id, body }: Message, { owner, publicUrl }: ReportMailOptions): Mail {
  const report = JSON.parse(body) as Report
  const { accepted, site } = report
  const text = textOf(report)
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <title>Rollcall</title>
      </head>
      <body>
        <pre>${text}</pre>
      </body>
    </html>` as HtmlEscapedString
  return {
    to: owner,
    subject: `Rollcall, site ${site}: ${accepted} new ${accepted === 1 ? 'signup' : 'signups'}`,
    text,
    html: page.toString(),
    messageId: `${id}@${new URL(publicUrl).hostname}`,
    headers: {},
  }
}

function textOf(report: Report): string {
  const { site, from, to, accepted, confirmed, quarantined, pending, blocked, newBlocked } = report
  const counts = [
    ['Accepted', accepted],
    ['Of these confirmed', confirmed],
    ['In quarantine', quarantined],
    ['Pending now', pending],
    ['Want no mail', blocked],
    ['Of these new', newBlocked],
  ] as const
  return [
    `Site ${site}, ${moment(from)} to ${moment(to)} (UTC)`,
    table(counts),
    ...(accepted > 0 ? [`By tab\n${table(sorted(report.tabs))}`] : []),
    ...(accepted > 0 ? [`By source\n${table(sorted(report.sources))}`] : []),
    `The spreadsheet: ${report.location}\n`,
  ].join('\n\n')
}

function table(rows: readonly (readonly [name: string, count: number])[]): string {
  return rows.map(([name, count]) => `${String(count).padStart(8)}  ${name}`).join('\n')
}

function sorted(counts: Report['tabs']) {
  return counts
    .map(([name, count]) => [name === '' ? '(the default tab)' : name, count] as const)
    .toSorted(([, one], [, other]) => other - one)
}

function moment(at: Millis): string {
  return new Date(at).toISOString().slice(0, 16).replace('T', ' ')
}
