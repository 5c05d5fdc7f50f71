import { languages } from '../../signup/languages.ts'
import { type Field, headingOf } from '../../signup/field.ts'
import type { Json, Operation, PathItem } from './json.ts'
import { fileResponses, pageResponses } from './responses.ts'

export interface DescribedPage {
  readonly path: string
  /** Whether the page has a form that its query parameters fill in. */
  readonly hasForm: boolean
}

export interface DescribedFile {
  readonly path: string
  readonly contentType: string
}

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
function formParameters(fields: readonly Field[]): readonly Json[] {
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

export function getPage({ path, hasForm }: DescribedPage, fields: readonly Field[]): Operation {
  const summary = `The page ${path}`
  return {
    operationId: `getPage${idOf(path)}`,
    summary,
    tags: ['browser'],
    security: [],
    parameters: hasForm ? formParameters(fields) : viewParameters,
    responses: pageResponses(summary),
  }
}

const languageInPath = new RegExp(`/(${languages.join('|')})(\\.\\w+)$`)

/** The files by their paths. Those that differ by language have one path with a parameter. */
export function filePaths(
  files: readonly DescribedFile[],
): readonly (readonly [string, PathItem])[] {
  const groups = Map.groupBy(files, ({ path }) => path.replace(languageInPath, '/{language}$2'))
  return Array.from(groups, ([path, group]) => {
    const found = group.flatMap((file) => languageInPath.exec(file.path)?.[1] ?? [])
    const schema = { ...text, enum: found }
    const parameters = [{ name: 'language', in: 'path', required: true, schema }]
    const get = getFile(path, group[0]?.contentType ?? '')
    return [path, { ...(found.length > 0 && { parameters }), get }]
  })
}

function getFile(path: string, contentType: string): Operation {
  const summary = `The file ${path}`
  return {
    operationId: `getFile${idOf(path)}`,
    summary,
    tags: ['browser'],
    security: [],
    responses: fileResponses(summary, contentType),
  }
}

function idOf(path: string): string {
  const words = path.split(/[^a-z0-9]+/i)
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}
