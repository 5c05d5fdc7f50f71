import { languages } from '../../signup/languages.ts'
import { type Field, headingOf } from '../../signup/field.ts'
import type { Json } from './json.ts'

const text: Json = { type: 'string' }

/** The query parameters for the look of a page. Other values than these are ignored. */
export const viewParameters = [
  parameter('language', 'Language of the page; when absent, the language of the browser.', {
    ...text,
    examples: [...languages],
  }),
  parameter('theme', 'light, dark, or auto, which follows the system.', {
    ...text,
    examples: ['light', 'dark', 'auto'],
  }),
]

const everyForm = [
  ...viewParameters,
  parameter('tab', 'Tab of the spreadsheet.', text),
  parameter('source', 'The Source column.', text),
  parameter('tags', 'Tags with commas between them.', text),
  parameter('name', 'Asks for a name; "required" if it must be given.', text),
  parameter('redirect', 'Where to go after signing up.', text),
  parameter('field-plan', 'Goes into Metadata as "plan", like any other field-.', text),
]

/** The query parameters of a page with a form that has these fields of the site. */
export function formParameters(fields: readonly Field[]): readonly Json[] {
  const own = fields.map((field) => {
    const { name } = field
    const named = name.startsWith('utm_') ? name : `field-${name}`
    return parameter(named, `Fills in the field "${headingOf(field)}".`, text)
  })
  const names = new Set(own.map(({ name }) => name))
  return [...everyForm.filter(({ name }) => !names.has(name)), ...own]
}

function parameter(name: string, description: string, schema: Json) {
  return { name, in: 'query', description, schema }
}
