import { languages } from '../../signup/languages.ts'
import type { Json } from './schemas.ts'

const text: Json = { type: 'string' }

/** The query parameters for the look of a page. Other values than these are ignored. */
export const viewParameters: readonly Json[] = [
  parameter('language', 'Language of the page; when absent, the language of the browser.', {
    ...text,
    examples: [...languages],
  }),
  parameter('theme', 'light, dark, or auto, which follows the system.', {
    ...text,
    examples: ['light', 'dark', 'auto'],
  }),
]

/** The query parameters of a page with a form. */
export const formParameters: readonly Json[] = [
  ...viewParameters,
  parameter('tab', 'Tab of the spreadsheet.', text),
  parameter('source', 'The Source column.', text),
  parameter('tags', 'Tags with commas between them.', text),
  parameter('name', 'Asks for a name; "required" if it must be given.', text),
  parameter('redirect', 'Where to go after signing up.', text),
  parameter('field-plan', 'Goes into Metadata as "plan", like any other field-.', text),
]

function parameter(name: string, description: string, schema: Json): Json {
  return { name, in: 'query', description, schema }
}
