import { languages } from '../../signup/languages.ts'
import type { Json } from './schemas.ts'

const text: Json = { type: 'string' }

/** The query parameters for the look of a page. Other values than these are ignored. */
export const viewParameters: readonly Json[] = [
  parameter('language', 'Of the page; absent: that of the browser.', {
    ...text,
    examples: [...languages],
  }),
  parameter('theme', 'light, dark, or auto: that of the system.', {
    ...text,
    examples: ['light', 'dark', 'auto'],
  }),
]

/** The query parameters of a page with a form. */
export const formParameters: readonly Json[] = [
  ...viewParameters,
  parameter('tab', 'Tab of the spreadsheet.', text),
  parameter('source', 'The Source column.', text),
  parameter('tags', 'With commas between them.', text),
  parameter('name', 'Asks for a name; "required" if it must be given.', text),
  parameter('redirect', 'Where to go after signing up.', text),
  parameter('field-plan', 'Goes into Metadata as "plan", as any other field- does.', text),
  parameter('utm_source', 'Goes into Metadata, as any other utm_ does.', text),
]

function parameter(name: string, description: string, schema: Json): Json {
  return { name, in: 'query', description, schema }
}
