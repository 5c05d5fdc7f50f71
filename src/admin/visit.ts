import type { Answer } from '../http/answer.ts'
import type { Exchange, FormEntries } from '../http/exchange.ts'
import type { AdminLog } from '../journal/tables/admin-log.ts'
import type { Quota } from '../journal/contracts/call-ledger.ts'
import type { Journal } from '../journal/contracts/journal.ts'
import type { Endpoint } from '../operations/webhooks.ts'
import type { Html } from '../pages/document.ts'
import type { OwnColumn } from '../signup/row.ts'
import type { Closing } from '../signup/closing.ts'
import type { Millis } from '../signup/signup.ts'
import type { SignedIn } from './logins.ts'

/** A site as the admin page sees it. */
export interface AdminSite {
  readonly name: string
  /** Of its page; may be empty. */
  readonly title: string
  readonly journal: Journal
  /** Whether people confirm their signups by mail. */
  readonly confirms: boolean
  /** For how many days after its mail. */
  readonly confirmationDays: number
  /** The columns of its own in the list. */
  readonly columns: readonly OwnColumn[]
  /** Where the rows go: a URL or a folder. */
  readonly location: string
  /** Undefined for the local workbook. */
  readonly account:
    { readonly credentials: { readonly email: string }; readonly quota: Quota } | undefined
  readonly closing: Closing
  readonly endpoints: readonly AdminEndpoint[]
}

export interface AdminEndpoint extends Endpoint {
  /** Sends it a message that says that it is a test, once. */
  readonly test: () => Promise<{ readonly kind: string; readonly reason?: string }>
}

/** A request of somebody who is signed in. */
export interface Visit {
  readonly url: string
  readonly query: URLSearchParams
  /** What a form has sent; nothing for a GET. */
  readonly fields: FormEntries
  readonly login: SignedIn
  /** Where the request came from. */
  readonly from: string
  readonly requestId: string
  readonly site: AdminSite
  readonly sites: readonly AdminSite[]
  readonly log: AdminLog
  /** By the wall clock of the journal. */
  readonly now: Millis
}

/** What a view shows. */
export interface Shown {
  readonly title: string
  readonly body: Html
  /** After how many seconds a browser without JavaScript loads the page again; left out for never. */
  readonly refreshSeconds?: number | undefined
}

/** Answers a visit with a page, or by leading to another one. */
export type View = (visit: Visit, exchange: Exchange) => Promise<Shown | Answer>

/** What is at an address below `/admin`. */
export interface AdminRoute {
  /** Such as `/signups`; empty for the overview. */
  readonly path: string
  readonly GET?: View
  /** Whether its GET is no page, and the log tells of it. */
  readonly isFile?: true
  /** Changes something. It runs only for a form of the same login. */
  readonly POST?: View
  /** Whether its POST only asks whether that is meant, and changes something when the field `sure` is `yes`. */
  readonly asks?: true
}

/** The first value of a field that a form has sent, or ''. */
export function posted({ fields }: Pick<Visit, 'fields'>, name: string): string {
  return fields.find(([field]) => field === name)?.[1] ?? ''
}

/** Whether a form that asks was sent once more from the page that asks. */
export function isSure(visit: Pick<Visit, 'fields'>): boolean {
  return posted(visit, 'sure') === 'yes'
}
