import { z } from 'zod'

import type { Field } from '../../signup/field.ts'
import type {
  BulkAccepted,
  ConfigAnswer,
  DeliveryStalled,
  Problem,
  ReadinessAnswer,
  SignupAccepted,
  SignupStatusAnswer,
  TabSetAside,
} from '../../signup/wire.ts'

/** The schemas of all answers. Each must match the type that the handlers use. */

const id = z
  .uuidv7()
  .meta({ description: 'It begins with the time of acceptance, so ids sort by it.' })
const moment = z.iso.datetime({ precision: 3 })
const state = z.enum(['accepted', 'written']).meta({
  description:
    'accepted: on disk, and not in the spreadsheet yet; written: a row in the spreadsheet.',
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

const ofEveryField = {
  name: z.string().meta({ description: 'Signups carry the value under it.' }),
  label: z.string().exactOptional(),
  required: z.boolean(),
}

const field = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), ...ofEveryField, maxLength: z.int() }),
  z.strictObject({ type: z.literal('choice'), ...ofEveryField, options: z.array(z.string()) }),
  z.strictObject({
    type: z.literal('number'),
    ...ofEveryField,
    min: z.number().exactOptional(),
    max: z.number().exactOptional(),
  }),
  z.strictObject({ type: z.enum(['checkbox', 'url', 'date', 'phone']), ...ofEveryField }),
]) satisfies z.ZodType<Field>

const config = z.strictObject({
  challengeEnabled: z.boolean(),
  challengeSiteKey: z.string().nullable(),
  challengeProvider: z.enum(['turnstile', 'hcaptcha', 'recaptcha']),
  challengeScriptUrl: z.string(),
  defaultSheetTab: z.string(),
  sheetTabs: z.array(z.string()).nullable().meta({ description: 'Null when any tab is allowed.' }),
  fields: z
    .array(field)
    .exactOptional()
    .meta({ description: 'The declared fields, in the order of their columns.' }),
  limits: z.record(z.string(), z.number()),
}) satisfies z.ZodType<ConfigAnswer>

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

const challenge = z.union([
  z.strictObject({ state: z.enum(['off', 'ok']) }),
  z.strictObject({ state: z.enum(['misconfigured', 'unavailable']), error }),
]) satisfies z.ZodType<ReadinessAnswer['challenge']>

const tabSetAside = z.strictObject({
  tab: z.string().meta({ description: 'How the operator finds the tab, without its name.' }),
  error,
}) satisfies z.ZodType<TabSetAside>

const stalled = z.strictObject({ since: moment, error }).meta({
  description: 'For ten minutes no row was written although signups wait in other tabs.',
}) satisfies z.ZodType<DeliveryStalled>

const more = {
  backlog: count.exactOptional().meta({ description: 'Absent while the journal cannot be read.' }),
  stalled: stalled.exactOptional(),
  tabsSetAside: z
    .array(tabSetAside)
    .meta({ description: 'Tabs that cannot be written while others can.' }),
  warnings: z.array(z.string()).meta({ description: 'Problems that do not stop rows.' }),
}

const readiness = z.strictObject({
  status: z.enum(['ready', 'unavailable']),
  journal: z.strictObject({ state: z.enum(['ok', 'unavailable']) }),
  challenge,
  refusedByOrigin: count.meta({
    description: 'Requests since the start from pages that ALLOWED_ORIGINS does not name.',
  }),
  refusedApiKeys: count.meta({
    description: 'Requests since the start with a key that is not in API_KEYS.',
  }),
  delivery: z.union([
    z.strictObject({ state: z.literal('ok'), ...more }),
    z.strictObject({ state: z.enum(['delayed', 'partly blocked', 'blocked']), error, ...more }),
  ]),
  blockedSites: z
    .array(z.strictObject({ site: z.string(), error }))
    .exactOptional()
    .meta({
      description:
        'Without a site, when a file names sites: those that wait for a person. All else is of all sites ' +
        'together then, and `?site=` tells of one.',
    }),
}) satisfies z.ZodType<ReadinessAnswer>

const liveness = z.strictObject({ status: z.literal('ok') })

/** The schemas by their name in the document. */
export const answers = {
  SignupAccepted: signupAccepted,
  BulkAccepted: bulkAccepted,
  SignupStatus: signupStatus,
  Config: config,
  Problem: problem,
  Readiness: readiness,
  Liveness: liveness,
} as const
