import { languages } from '../../signup/languages.ts'
import { type Json, refs, refused, response } from './responses.ts'

/** A page, or a file of the embed. */
export interface DescribedFile {
  readonly path: string
  readonly contentType: string
}

const text: Json = { type: 'string' }

/** Of a page. Other values than these are ignored. */
const look: readonly Json[] = [
  {
    name: 'language',
    in: 'query',
    description: 'Language of the page; when absent, the language of the browser.',
    schema: { ...text, examples: languages },
  },
  {
    name: 'theme',
    in: 'query',
    description: 'light, dark, or auto, which follows the system.',
    schema: { ...text, examples: ['light', 'dark', 'auto'] },
  },
]

const languageInPath = new RegExp(`/(${languages.join('|')})(\\.\\w+)$`)

/**
 * What to say of each path: its parameters, and what its GET is answered. Files that differ by language only
 * have one path with a parameter.
 */
export function describeFiles(files: readonly DescribedFile[]) {
  const groups = Map.groupBy(files, ({ path }) => path.replace(languageInPath, '/{language}$2'))
  return Array.from(groups, ([path, group]) => {
    const found = group.flatMap((file) => languageInPath.exec(file.path)?.[1] ?? [])
    const language = { name: 'language', in: 'path', required: true }
    const isPage = group.some(({ contentType }) => contentType.startsWith('text/html'))
    return {
      path,
      parameters: [
        ...(found.length > 0 ? [{ ...language, schema: { ...text, enum: found } }] : []),
        ...(isPage ? look : []),
      ],
      operationId: `get${path.replaceAll(/[^a-z0-9]+(.?)/gi, (_, next: string) => next.toUpperCase())}`,
      summary: `The ${isPage ? 'page' : 'file'} ${path}`,
      responses: isPage
        ? { 200: response('The page.', { 'text/html': { schema: text } }), ...refused([404]) }
        : fileResponses(group[0]?.contentType ?? ''),
    }
  })
}

/** The answers to a GET of a file that a client may have already. */
export function fileResponses(contentType: string): Json {
  const etag = refs(['ETag'])
  const schema = contentType.includes('json') ? { type: 'object' } : text
  return {
    200: response('The file.', { [contentType]: { schema } }, etag),
    304: response('It has not changed since.', undefined, etag),
    ...refused([404]),
  }
}
