/** The bodies of requests and answers. Shared with the browser, so this file has and imports only types. */
import type { Field } from './field.ts'
import type { Translations } from './site-text.ts'

/** Body of `POST /api/signup`. A null or an empty string counts as absent. */
export interface SignupRequest {
  readonly email: string
  readonly sheetTab?: string | null
  /** The same as `sheetTab`. */
  readonly tab?: string | null
  readonly source?: string | null
  readonly name?: string | null
  /** A list, or one text with commas between the tags. */
  readonly tags?: readonly string[] | string | null
  readonly metadata?: Readonly<Record<string, unknown>> | '' | null
  readonly challengeToken?: string | null
  /** True with an API key: the person has confirmed elsewhere, so no mail asks for it. */
  readonly confirmed?: boolean | '' | null
}

/**
 * Answer of `POST /api/signup`: 202, or 201 to a request with `Prefer: wait` once the row is written. Where
 * signups are confirmed by mail it is 202 and `pending` for every address alike. A
 * request with a known `Idempotency-Key` gets the first answer again, with the current state.
 */
export interface SignupAccepted {
  readonly id: string
  readonly status: SignupState
  /** The tab's name as it was first used. */
  readonly sheetTab: string
  /** ISO 8601 in UTC, with milliseconds. */
  readonly receivedAt: string
  readonly delivery?: DeliveryBlocked
}

/**
 * Answer of `POST /api/signup/bulk`: 202 when all signups were accepted (201 when all are written and
 * the request said `Prefer: wait`), 207 when only some were. When none was, the answer is a `Problem`.
 */
export interface BulkAccepted {
  readonly accepted: number
  readonly rejected: number
  /** One result for each signup, in the order of the request. */
  readonly results: readonly BulkResult[]
  /** How many more errors the rejected signups have: an answer tells the first ones. */
  readonly errorsLeftOut?: number
  readonly delivery?: DeliveryBlocked
}

export type BulkResult =
  | { readonly index: number; readonly id: string; readonly status: SignupState }
  | {
      readonly index: number
      readonly status: 'rejected'
      /** Empty when the answer has told too many errors before this signup. */
      readonly errors: readonly Omit<ProblemField, 'index'>[]
    }

/** Delivery has stopped until the operator acts. Accepted signups are safe. */
export interface DeliveryBlocked {
  readonly state: 'blocked'
  readonly error: string
}

/**
 * - `pending`: on disk, and waits for its person to confirm it by the link of a mail.
 * - `accepted`: on disk and waiting for delivery.
 * - `written`: a row in the spreadsheet.
 * - `expired`: it was not confirmed in time. Only a replay and `GET /api/signup/{id}` say so.
 */
export type SignupState = 'pending' | 'accepted' | 'written' | 'expired'

/** Answer of `GET /api/signup/{id}`. */
export interface SignupStatusAnswer extends Omit<SignupAccepted, 'delivery'> {
  /** ISO 8601; present when written. */
  readonly writtenAt?: string
}

/** Answer of `GET /api/config`. */
export interface ConfigAnswer {
  readonly challengeEnabled: boolean
  /** Null although `challengeEnabled` is true means that nobody can sign up by browser just now. */
  readonly challengeSiteKey: string | null
  readonly challengeProvider: 'turnstile' | 'hcaptcha' | 'recaptcha' | 'altcha'
  readonly challengeScriptUrl: string
  /** Where the puzzles of `altcha` come from; absent for the other providers. */
  readonly challengeUrl?: string
  /** Present, and true, when people confirm their signups by the link of a mail. */
  readonly confirmation?: true
  readonly defaultSheetTab: string
  /** The only tabs allowed; null when any tab is allowed. */
  readonly sheetTabs: readonly string[] | null
  /** The declared fields of the site, in the order of their columns; absent when there are none. */
  readonly fields?: readonly Field[]
  /** Limits on input by name, as in `limits.ts`. */
  readonly limits: Readonly<Record<string, number>>
}

/** Answer of `GET /embed/form.json`: how the form of a site differs from one with an email field alone. */
export interface KnownForm {
  /** The name of the site that the script was loaded for. */
  readonly site?: string
  /** The text that visitors agree to; links are `[words](https://…)`. */
  readonly consent?: Translations
  /** The texts of the site's pages. */
  readonly texts?: Readonly<Partial<Record<'title' | 'text' | 'submit', Tree>>>
  /** Whether the site asks for a name. */
  readonly name?: 'optional' | 'required'
  /** The rules for the declared fields and for the site's accent colour. */
  readonly styles?: string
  /** The declared fields as they are drawn. */
  readonly fields?: readonly Tree[]
  /** What follows the thanks: the site's own text, and the link to its next page. */
  readonly thanks?: readonly Tree[]
}

/** An element: its tag, its attributes and its content. An empty attribute is a boolean one. */
export type Tree = readonly [
  tag: string,
  attributes: Readonly<Record<string, TreeText>>,
  ...content: TreeContent[],
]

export type TreeContent = TreeText | Tree

/** A text as it is, or one in the visitor's language: by the name of a text of ours, or of the site. */
export type TreeText =
  | string
  | { readonly ours: 'email' | 'name' | 'optional' | 'choose' | 'leaveEmpty' | 'next' }
  | Translations

/** Every error answer: RFC 9457, `application/problem+json`. */
export interface Problem {
  readonly type: string
  readonly title: string
  readonly status: number
  /** What is wrong and what to do. */
  readonly detail: string
  readonly errors?: readonly ProblemField[]
  /** How many more errors there are: an answer tells the first ones. */
  readonly errorsLeftOut?: number
  /** Present when the signup may have been stored. The same `Idempotency-Key` makes another try safe. */
  readonly outcome?: 'unknown'
  readonly requestId: string
}

export interface ProblemField {
  readonly field: string
  /** In words for the person who can correct it. */
  readonly message: string
  /** Place in a bulk request, from 0. */
  readonly index?: number
}

/** The body of a message to a webhook: docs/webhooks.md. All times are ISO 8601 in UTC. */
export type WebhookMessage = { readonly timestamp: string } & (
  | { readonly type: 'signup.accepted'; readonly data: SignupMessage }
  | { readonly type: 'signup.erased'; readonly data: Pick<SignupMessage, 'id' | 'site'> }
  | { readonly type: 'webhook.test'; readonly data: Pick<SignupMessage, 'site'> }
)

/** A signup that counts. Texts that were not given are empty. */
export interface SignupMessage extends Omit<SignupAccepted, 'status' | 'delivery'> {
  readonly position: number
  readonly site: string
  readonly email: string
  readonly name: string
  readonly source: string
  readonly tags: readonly string[]
  readonly metadata: Readonly<Record<string, unknown>>
  readonly fields: Readonly<Record<string, unknown>>
  /** Absent where nobody has to confirm. */
  readonly confirmedAt?: string
}
