import { type Field, headingOf, optionsOf } from '../../signup/field.ts'
import {
  numberDigitsMax,
  phoneCharacters,
  phoneCharactersMax,
  urlCharactersMax,
} from '../../signup/field-values.ts'
import type { Json } from './responses.ts'

/** The properties of a signup for the site's own fields, by name. */
export type FieldSchemas = ReturnType<typeof jsonFields>

/** The fields as JSON carries them. As in the other schemas, null in an optional one counts as absent. */
export function jsonFields(fields: readonly Field[]) {
  return fieldsBy(fields, (field) => {
    const schema = valueSchema(field)
    return field.required ? schema : { anyOf: [schema, { type: 'null' }] }
  })
}

export function formFields(fields: readonly Field[]) {
  return fieldsBy(fields, valueSchema)
}

function fieldsBy(fields: readonly Field[], schemaOf: (field: Field) => Json) {
  const titled = (field: Field) => ({ title: headingOf(field), ...schemaOf(field) })
  return {
    properties: Object.fromEntries(fields.map((field) => [field.name, titled(field)])),
    required: fields.filter(({ required }) => required).map(({ name }) => name),
  }
}

function valueSchema(field: Field): Json {
  const notEmpty = field.required && { minLength: 1 }
  switch (field.type) {
    case 'text':
    case 'textarea':
      return { type: 'string', ...notEmpty, maxLength: field.maxLength }
    case 'choice':
      return { type: 'string', enum: optionsOf(field) }
    case 'choices':
      return {
        type: 'array',
        items: { type: 'string', enum: optionsOf(field) },
        ...(field.required && { minItems: 1 }),
        description: 'One text with commas between the options is taken, too.',
      }
    case 'number':
      return {
        type: 'number',
        ...(field.min !== undefined && { minimum: field.min }),
        ...(field.max !== undefined && { maximum: field.max }),
        description: `As text it is taken, too, with at most ${numberDigitsMax} digits.`,
      }
    case 'checkbox':
      return field.required
        ? { type: 'boolean', const: true, description: 'It must be ticked.' }
        : { type: 'boolean' }
    case 'url':
      return {
        type: 'string',
        format: 'uri',
        pattern: '^[Hh][Tt][Tt][Pp][Ss]?://',
        maxLength: urlCharactersMax,
        examples: ['https://example.com'],
      }
    case 'date':
      return { type: 'string', format: 'date', examples: ['2026-11-30'] }
    case 'phone':
      return {
        type: 'string',
        pattern: phoneCharacters.source,
        maxLength: phoneCharactersMax,
        examples: ['+44 20 7946 0000'],
      }
  }
}
