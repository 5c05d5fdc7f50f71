import { z } from 'zod'
import { type Field, headingOf } from '../../signup/field.ts'
import { fieldTypes } from '../../signup/field-types.ts'
import { limits } from '../../signup/limits.ts'
import { bulkItemSchema, bulkSchema, formSchema, signupSchema } from '../../signup/schema.ts'
import { answers } from '../../signup/wire.ts'
import { type Json, ref } from './responses.ts'

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

function withMore(schema: Json, fields: ReturnType<typeof fieldsBy>, site: Json = {}): Json {
  const { properties = {}, required = [] } = schema as { properties?: Json; required?: string[] }
  return {
    ...schema,
    properties: { ...properties, ...fields.properties, ...site },
    required: [...required, ...fields.required],
  }
}

/** The fields as JSON carries them. As in the other schemas, null in an optional one counts as absent. */
export function jsonFields(fields: readonly Field[]) {
  return fieldsBy(fields, (field) => {
    const schema = fieldTypes[field.type].schema(field)
    return field.required ? schema : { anyOf: [schema, { type: 'null' }] }
  })
}

export function formFields(fields: readonly Field[]) {
  return fieldsBy(fields, (field) => fieldTypes[field.type].schema(field))
}

function fieldsBy(fields: readonly Field[], schemaOf: (field: Field) => Json) {
  const titled = (field: Field) => ({ title: headingOf(field), ...schemaOf(field) })
  return {
    properties: Object.fromEntries(fields.map((field) => [field.name, titled(field)])),
    required: fields.filter(({ required }) => required).map(({ name }) => name),
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
