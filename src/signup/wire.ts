/**
 * The bodies of requests and answers. The types come from the schemas of `GET /api/openapi.json`. Browsers and
 * the client import types only.
 */
import { z } from 'zod'
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

/** What a schema describes. */
type Body<Schema extends z.ZodType> = Fixed<z.infer<Schema>>
type Fixed<T> = T extends object ? { readonly [Key in keyof T]: Fixed<T[Key]> } : T

const id = z
  .uuidv7()
  .meta({ description: 'It begins with the time of acceptance, so ids sort by it.' })
/** ISO 8601 in UTC. */
const moment = z.iso.datetime({ precision: 3 })
const state = z.enum(['pending', 'accepted', 'written', 'expired']).meta({
  description:
    'pending: on disk, until its person confirms it by the link of a mail; accepted: on disk, and not in ' +
    'the spreadsheet yet; written: a row in the spreadsheet; expired: not confirmed in time, which no first ' +
    'answer says.',
})
const count = z.int().min(0)

const delivery = z
  .strictObject({ state: z.literal('blocked'), error: z.string() })
  .meta({ description: 'Delivery has stopped until the operator acts; the signup is safe.' })

const fieldProblem = z.strictObject({
  field: z.string().meta({ description: 'Empty for the signup as a whole; tags[3] in a list.' }),
  /** In words for the person who can correct it. */
  message: z.string(),
})

const errorsLeftOut = count
  .exactOptional()
  .meta({ description: 'How many more errors there are: an answer tells the first ones.' })

const overflow = z.literal(true).exactOptional().meta({
  description: 'All seats were taken, so it is in the overflow tab, which is a waiting list.',
})

const signupAccepted = z.strictObject({
  id,
  status: state,
  sheetTab: z.string().meta({ description: "The tab's name as it was first used." }),
  receivedAt: moment,
  overflow,
  delivery: delivery.exactOptional(),
})

const bulkResult = z.union([
  z.strictObject({ index: count, id, status: state, overflow }),
  // The errors are empty when the answer has told too many before this signup.
  z.strictObject({ index: count, status: z.literal('rejected'), errors: z.array(fieldProblem) }),
])

const bulkAccepted = z.strictObject({
  accepted: count,
  rejected: count,
  results: z
    .array(bulkResult)
    .meta({ description: 'One for each signup, in the order of the request.' }),
  errorsLeftOut,
  delivery: delivery.exactOptional(),
})

const signupStatus = z.strictObject({
  id,
  status: state,
  sheetTab: z.string(),
  receivedAt: moment,
  writtenAt: moment.exactOptional(),
})

/** A declared field of a site. */
const field = z.looseObject({ name: z.string(), type: z.string(), required: z.boolean() }).meta({
  description: 'Signups carry the value under its name. The other members depend on the type.',
}) as unknown as z.ZodType<Field>

const notice = z.string().exactOptional()

const config = z.strictObject({
  challengeEnabled: z.boolean(),
  /** Null although `challengeEnabled` is true: nobody can sign up by browser just now. */
  challengeSiteKey: z.string().nullable(),
  challengeProvider: z.enum(['turnstile', 'hcaptcha', 'recaptcha', 'altcha']),
  challengeScriptUrl: z.string(),
  challengeUrl: z.string().exactOptional().meta({
    description: 'Where the puzzles of altcha come from, from the root of the service on.',
  }),
  confirmation: z
    .literal(true)
    .exactOptional()
    .meta({ description: 'When people confirm their signups by the link of a mail.' }),
  open: z.boolean().meta({ description: 'Whether signups are taken.' }),
  closesAt: moment.nullable().meta({ description: 'From when on none is taken; null when never.' }),
  overflow: z
    .boolean()
    .meta({ description: 'Whether all seats are taken: new signups go to a waiting list.' }),
  notice: notice.meta({
    description: 'What a form shows of that, in the language of the request.',
  }),
  defaultSheetTab: z.string(),
  sheetTabs: z.array(z.string()).nullable().meta({ description: 'Null when any tab is allowed.' }),
  fields: z
    .array(field)
    .exactOptional()
    .meta({ description: 'The declared fields, in the order of their columns.' }),
  limits: z.record(z.string(), z.number()),
})

const stamp = z.strictObject({
  stamp: z
    .string()
    .max(100)
    .meta({ description: 'For the field rollcall_stamp of a form, at most a day.' }),
})

const puzzle = z
  .strictObject({
    parameters: z.record(z.string(), z.union([z.string(), z.number()])),
    signature: z.string(),
  })
  .meta({ description: 'A challenge of version 2 of the protocol of ALTCHA.' })

const problemField = fieldProblem.extend({
  index: count.exactOptional().meta({ description: 'Place in a bulk request, from 0.' }),
})

const problem = z
  .strictObject({
    type: z.enum(['about:blank', '/problems/closed']),
    title: z.string(),
    status: z.int(),
    detail: z.string().meta({ description: 'What is wrong and what to do.' }),
    errors: z.array(problemField).exactOptional(),
    errorsLeftOut,
    outcome: z.literal('unknown').exactOptional().meta({
      description: 'The signup may have been stored. Send it again with the same Idempotency-Key.',
    }),
    notice: notice.meta({ description: 'What a form shows of that, when signups are closed.' }),
    requestId: z.string().meta({ description: 'The same as X-Request-Id.' }),
  })
  .meta({ description: 'RFC 9457.' })

const error = z
  .string()
  .meta({ description: 'One fixed sentence for each kind; the log has more.' })

const readiness = z
  .looseObject({
    status: z.enum(['ready', 'unavailable']),
    delivery: z.looseObject({
      state: z.enum(['ok', 'delayed', 'partly blocked', 'blocked']),
      error: error.exactOptional(),
      backlog: count
        .exactOptional()
        .meta({ description: 'Absent while the journal cannot be read.' }),
    }),
  })
  .meta({ description: 'The other members tell more to people, and may change.' })

const signupMessage = signupAccepted.omit({ status: true, overflow: true, delivery: true }).extend({
  position: count.meta({ description: 'Its place in the journal.' }),
  ...{ site: z.string(), email: z.string(), name: z.string(), source: z.string() },
  tags: z.array(z.string()),
  metadata: z.record(z.string(), z.unknown()),
  fields: z.record(z.string(), z.unknown()),
  confirmedAt: moment.exactOptional(),
})

const message = <T extends z.ZodType>(type: WebhookMessage['type'], data: T) =>
  z.looseObject({ type: z.literal(type), timestamp: moment, data })

/** All answers and messages, by their names in the document. */
export const answers = {
  SignupAccepted: signupAccepted,
  BulkAccepted: bulkAccepted,
  SignupStatus: signupStatus,
  Config: config,
  Stamp: stamp,
  Puzzle: puzzle,
  Problem: problem,
  Readiness: readiness,
  Liveness: z.strictObject({ status: z.literal('ok') }),
  AcceptedMessage: message('signup.accepted', z.looseObject(signupMessage.shape)),
  ErasedMessage: message('signup.erased', z.looseObject({ id, site: z.string() })),
} as const

export type SignupState = z.infer<typeof state>
export type DeliveryBlocked = Body<typeof delivery>
/**
 * Answer of `POST /api/signup`: 202, or 201 to a request with `Prefer: wait` once the row is written. Where
 * signups are confirmed by mail it is 202 and `pending` for every address alike. A
 * request with a known `Idempotency-Key` gets the first answer again, with the current state.
 */
export type SignupAccepted = Body<typeof signupAccepted>
export type BulkResult = Body<typeof bulkResult>
/**
 * Answer of `POST /api/signup/bulk`: 202 when all signups were accepted (201 when all are written and
 * the request said `Prefer: wait`), 207 when only some were. When none was, the answer is a `Problem`.
 */
export type BulkAccepted = Body<typeof bulkAccepted>
/** Answer of `GET /api/signup/{id}`. */
export type SignupStatusAnswer = Body<typeof signupStatus>
/** Answer of `GET /api/config`. */
export type ConfigAnswer = Body<typeof config>
export type ProblemField = Body<typeof problemField>
/** Every error answer: RFC 9457, `application/problem+json`. */
export type Problem = Body<typeof problem>
/** A signup that counts, as webhooks get it. Texts that were not given are empty. */
export type SignupMessage = Body<typeof signupMessage>

/** The body of a message to a webhook: docs/webhooks.md. All times are ISO 8601 in UTC. */
export type WebhookMessage = { readonly timestamp: string } & (
  | { readonly type: 'signup.accepted'; readonly data: SignupMessage }
  | { readonly type: 'signup.erased'; readonly data: Pick<SignupMessage, 'id' | 'site'> }
  | { readonly type: 'webhook.test'; readonly data: Pick<SignupMessage, 'site'> }
)

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
  /** What stands above the form of a waiting list, or in the place of one that is closed. */
  readonly notice?: Tree
  readonly closed?: true
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
