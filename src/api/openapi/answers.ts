import { z } from 'zod'

import type {
  BulkAccepted,
  ConfigAnswer,
  Problem,
  SignupAccepted,
  SignupStatusAnswer,
  StampAnswer,
} from '../../signup/wire.ts'

/** The schemas of all answers. Each must match the type that the handlers use. */

const id = z
  .uuidv7()
  .meta({ description: 'It begins with the time of acceptance, so ids sort by it.' })
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
  message: z.string(),
})

const errorsLeftOut = count
  .exactOptional()
  .meta({ description: 'How many more errors there are: an answer tells the first ones.' })

const signupAccepted = z.strictObject({
  id,
  status: state,
  sheetTab: z.string().meta({ description: "The tab's name as it was first used." }),
  receivedAt: moment,
  delivery: delivery.exactOptional(),
}) satisfies z.ZodType<SignupAccepted>

const bulkAccepted = z.strictObject({
  accepted: count,
  rejected: count,
  results: z
    .array(
      z.union([
        z.strictObject({ index: count, id, status: state }),
        z.strictObject({
          index: count,
          status: z.literal('rejected'),
          errors: z.array(fieldProblem),
        }),
      ]),
    )
    .meta({ description: 'One for each signup, in the order of the request.' }),
  errorsLeftOut,
  delivery: delivery.exactOptional(),
}) satisfies z.ZodType<BulkAccepted>

const signupStatus = z.strictObject({
  id,
  status: state,
  sheetTab: z.string(),
  receivedAt: moment,
  writtenAt: moment.exactOptional(),
}) satisfies z.ZodType<SignupStatusAnswer>

const field = z.looseObject({ name: z.string(), type: z.string(), required: z.boolean() }).meta({
  description: 'Signups carry the value under its name. The other members depend on the type.',
})

const config = z.strictObject({
  challengeEnabled: z.boolean(),
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
  defaultSheetTab: z.string(),
  sheetTabs: z.array(z.string()).nullable().meta({ description: 'Null when any tab is allowed.' }),
  fields: z
    .array(field)
    .exactOptional()
    .meta({ description: 'The declared fields, in the order of their columns.' }),
  limits: z.record(z.string(), z.number()),
}) satisfies z.ZodType<Omit<ConfigAnswer, 'fields'>>

const stamp = z.strictObject({
  stamp: z
    .string()
    .max(100)
    .meta({ description: 'For the field rollcall_stamp of a form, at most a day.' }),
}) satisfies z.ZodType<StampAnswer>
const puzzle = z
  .strictObject({
    parameters: z.record(z.string(), z.union([z.string(), z.number()])),
    signature: z.string(),
  })
  .meta({ description: 'A challenge of version 2 of the protocol of ALTCHA.' })

const problem = z
  .strictObject({
    type: z.literal('about:blank'),
    title: z.string(),
    status: z.int(),
    detail: z.string().meta({ description: 'What is wrong and what to do.' }),
    errors: z
      .array(
        fieldProblem.extend({
          index: count.exactOptional().meta({ description: 'Place in a bulk request, from 0.' }),
        }),
      )
      .exactOptional(),
    errorsLeftOut,
    outcome: z.literal('unknown').exactOptional().meta({
      description: 'The signup may have been stored. Send it again with the same Idempotency-Key.',
    }),
    requestId: z.string().meta({ description: 'The same as X-Request-Id.' }),
  })
  .meta({ description: 'RFC 9457.' }) satisfies z.ZodType<Problem>

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

/** The schemas by their name in the document. */
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
} as const
