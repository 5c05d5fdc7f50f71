import { languages } from '../../signup/languages.ts'
import { type Json, refs, refused, response } from './responses.ts'

/** A page, or a file of the embed. */
export interface DescribedFile {
  readonly path: string
  readonly contentType: string
  /** Whether its buttons post: a page of a link in a mail. */
  readonly takesPost?: boolean
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

const token: Json = {
  ...{ name: 'token', in: 'path', required: true, description: 'Of the link in a mail.' },
  schema: text,
}

const decided = (...words: readonly string[]): Json => ({ ...text, enum: words })

/** A decision by the link of a mail. One click of RFC 8058 is for `/leave` only. */
const decide = {
  requestBody: {
    content: {
      'application/x-www-form-urlencoded': {
        schema: {
          properties: {
            decision: decided('confirm', 'decline', 'leave', 'return'),
            'List-Unsubscribe': decided('One-Click'),
          },
        },
      },
    },
  },
  responses: {
    200: response('What is so now.', { 'text/html': {}, 'text/plain': {} }),
    303: response('Confirmed: on to the page of the site.', undefined, {
      Location: { schema: text },
    }),
    ...refused([404, 413, 415, 422, 429, 503]),
  },
}

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
    const takesPost = group.some((file) => file.takesPost)
    const isPage = group.some(({ contentType }) => contentType.startsWith('text/html'))
    return {
      path,
      parameters: [
        ...(takesPost ? [token] : []),
        ...(found.length > 0 ? [{ ...language, schema: { ...text, enum: found } }] : []),
        ...(isPage ? look : []),
      ],
      operationId: `get${path.replaceAll(/[^a-z0-9]+(.?)/gi, (_, next: string) => next.toUpperCase())}`,
      summary: `The ${isPage ? 'page' : 'file'} ${path}`,
      ...(takesPost && { post: { ...decide, summary: `Decide by ${path}` } }),
      responses: isPage
        ? {
            200: response('The page.', { 'text/html': { schema: text } }),
            ...refused(takesPost ? [404, 503] : [404]),
          }
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
