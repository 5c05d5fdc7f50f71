import { z } from 'zod'
import type { Field } from '../../signup/field.ts'
import { limits } from '../../signup/limits.ts'
import { bulkItemSchema, bulkSchema, formSchema, signupSchema } from '../../signup/schema.ts'
import { type FieldSchemas, formFields, jsonFields } from './field-schemas.ts'
import { type Json, ref } from './responses.ts'
import type {
  BulkAccepted,
  ConfigAnswer,
  Problem,
  SignupAccepted,
  SignupMessage,
  SignupStatusAnswer,
  WebhookMessage,
} from '../../signup/wire.ts'

/** The settings that the schemas of requests describe. */
export interface DescribedSignups {
  readonly bulkItemsMax: number
  /** The fields of the site whose signups the document describes. */
  readonly fields: readonly Field[]
  /** The names of all sites; undefined when there is one and requests name none. */
  readonly sites: readonly string[] | undefined
}

const ofSite = 'The name of a site. When address and body both have one, they have to agree.'

/** All schemas by name: those that check requests, and those that describe answers. */
export function schemas({ bulkItemsMax, fields, sites }: DescribedSignups): Json {
  const siteName = ref('schemas', 'Site')
  const site = sites && { site: { anyOf: [siteName, { type: 'null' }] } }
  return {
    Signup: withMore(jsonSchema(signupSchema), jsonFields(fields), site),
    SignupForm: withMore(formJsonSchema(), formFields(fields), sites && { site: siteName }),
    BulkItem: withMore(jsonSchema(bulkItemSchema), jsonFields(fields)),
    Bulk: withMore(bulkJsonSchema(bulkItemsMax), jsonFields([]), site),
    ...(sites && { Site: { type: 'string', enum: sites, description: ofSite } }),
    ...Object.fromEntries(Object.entries(answers).map(([name, it]) => [name, jsonSchema(it)])),
  }
}

function withMore(schema: Json, fields: FieldSchemas, site: Json = {}): Json {
  const { properties = {}, required = [] } = schema as { properties?: Json; required?: string[] }
  return {
    ...schema,
    properties: { ...properties, ...fields.properties, ...site },
    required: [...required, ...fields.required],
  }
}

type Properties = Readonly<Record<string, JsonSchema>>
type JsonSchema = z.core.JSONSchema.JSONSchema

function jsonSchema(schema: z.ZodType): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input' })
  return rest
}

function propertiesOf(schema: z.ZodType): Properties {
  return jsonSchema(schema).properties as Properties
}

function bulkJsonSchema(bulkItemsMax: number): Json {
  const properties = propertiesOf(bulkSchema)
  const items = ref('schemas', 'BulkItem')
  const signups = { ...properties['signups'], maxItems: bulkItemsMax, items }
  return { ...jsonSchema(bulkSchema), properties: { ...properties, signups } }
}

/** The schema of a form, in which every field is text. */
function formJsonSchema(): Json {
  const fields = Object.entries(propertiesOf(formSchema)).map(([name, it]) => [name, asText(it)])
  const metadata = {
    type: 'string',
    contentMediaType: 'application/json',
    description: 'A JSON object. Fields named metadata[key] do the same, key by key.',
  }
  const tags = {
    type: 'array',
    items: { type: 'string' },
    description: 'Any number of fields, each with one tag or several with commas between them.',
  }
  return {
    ...jsonSchema(formSchema),
    properties: { ...Object.fromEntries(fields), metadata, tags, 'tags[]': tags },
    maxProperties: limits.formFieldsMax,
    additionalProperties: {
      anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }],
      description: 'A field of any other name goes into Metadata under that name.',
    },
  }
}

/** Removes the null that only JSON can express. */
function asText(schema: JsonSchema): JsonSchema {
  return schema.anyOf?.find((it) => it.type === 'string') ?? schema
}

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
})

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

const signupMessage = signupAccepted.omit({ status: true, delivery: true }).extend({
  position: count.meta({ description: 'Its place in the journal.' }),
  ...{ site: z.string(), email: z.string(), name: z.string(), source: z.string() },
  tags: z.array(z.string()),
  metadata: z.record(z.string(), z.unknown()),
  fields: z.record(z.string(), z.unknown()),
  confirmedAt: moment.exactOptional(),
}) satisfies z.ZodType<SignupMessage>

const message = <T extends z.ZodType>(type: WebhookMessage['type'], data: T) =>
  z.looseObject({ type: z.literal(type), timestamp: moment, data })

const answers = {
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
