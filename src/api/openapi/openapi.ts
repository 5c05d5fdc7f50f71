import { limits } from '../../signup/limits.ts'
import {
  type DescribedFile,
  type DescribedPage,
  filePaths,
  getPage,
  viewParameters,
} from './browser-paths.ts'
import type { Json, Operation, PathItem } from './json.ts'
import {
  everywhere,
  fileResponses,
  headers,
  jsonResponse,
  rateLimit,
  ref,
  refusalResponses,
  refused,
  response,
  signupRefusals,
} from './responses.ts'
import { schemas } from './schemas.ts'
import { type DescribedSites, optionalSite, siteParameter } from './sites.ts'

/** The settings that the document describes. */
export interface DescribedService {
  readonly bodyBytesMax: number
  readonly bulkItemsMax: number
  /** Whether bulk signups need an API key. */
  readonly needsApiKey: boolean
  /** Whether there is `/metrics`, which needs a token. */
  readonly hasMetrics: boolean
  /** HTML pages. */
  readonly pages: readonly DescribedPage[]
  /** Scripts, styles and other files that browsers load. */
  readonly files: readonly DescribedFile[]
  /** Undefined when there is one site and requests name none. */
  readonly sites: DescribedSites | undefined
}

/** Where the document is served. */
export const openapiPath = '/api/openapi.json'

/** The OpenAPI 3.1 document: every path of the service with its current settings. */
export function describeService(service: DescribedService): Json {
  const { bulkItemsMax, needsApiKey, hasMetrics, sites } = service
  const paths = Object.entries(pathsOf(service)).map(([path, it]) => [path, completed(it)])
  return {
    openapi: '3.1.1',
    info: {
      title: 'Rollcall',
      version: '1',
      summary: 'Email signups into a spreadsheet, exactly once.',
      description:
        'A 2xx means that the signup is on disk and becomes one row. Errors are problem documents ' +
        '(RFC 9457), or a page when Accept prefers text/html. HEAD and OPTIONS are answered where GET ' +
        'and POST are. Any other method gets a 405, and any other path a 404. A slash at the end of a ' +
        'path makes no difference.' +
        (sites ? ` Signups have the fields of the site ${sites.name} here.` : ''),
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    tags,
    paths: Object.fromEntries(paths),
    components: {
      schemas: schemas(bulkItemsMax, sites),
      parameters,
      headers,
      responses: refusalResponses(sites !== undefined),
      ...((needsApiKey || hasMetrics) && {
        securitySchemes: {
          ...(needsApiKey && { apiKey: bearer }),
          ...(hasMetrics && { metricsToken: bearer }),
        },
      }),
    },
  }
}

function pathsOf(service: DescribedService): Readonly<Record<string, PathItem>> {
  const { bodyBytesMax, hasMetrics, pages, files, sites } = service
  const fields = sites?.fields ?? []
  const ofSite = (item: PathItem) => (sites ? aboutSite(item, siteParameter(sites), [422]) : item)
  const ofPage = (item: PathItem) => (sites ? aboutSite(item, siteParameter(sites), [404]) : item)
  const ofAll = (item: PathItem) =>
    sites ? aboutSite(item, optionalSite('Of all sites when absent.'), [422]) : item
  const ofAny = (item: PathItem) =>
    sites ? aboutSite(item, optionalSite('The site whose looks and fields it has.'), [404]) : item
  const config = get('getConfig', 'What a form needs to know', 'Config')
  return {
    '/api/signup': ofSite({ post: postSignup(bodyBytesMax) }),
    '/api/signup/bulk': ofSite({ post: postBulk(service) }),
    '/api/signup/{id}': ofSite({ parameters: [ref('parameters', 'Id')], get: getSignup }),
    '/api/config': ofSite({ get: config }),
    '/api/health': { get: get('getHealth', 'Whether the process is alive', 'Liveness') },
    '/api/ready': ofAll({ get: getReady }),
    ...(hasMetrics && { '/metrics': { get: getMetrics } }),
    ...Object.fromEntries(pages.map((it) => [it.path, ofPage({ get: getPage(it, fields) })])),
    ...Object.fromEntries(filePaths(files).map(([path, it]) => [path, ofAny(it)])),
    [openapiPath]: ofSite({ get: getDocument }),
  }
}

/** Adds the parameter for the site, and the refusals of an unknown one. */
function aboutSite(
  { get, post, parameters = [] }: PathItem,
  site: Json,
  statuses: Parameters<typeof refused>[0],
): PathItem {
  const refusing = (operation: Operation): Operation => {
    return { ...operation, responses: { ...operation.responses, ...refused(statuses) } }
  }
  return {
    parameters: [...parameters, site],
    ...(get && { get: refusing(get) }),
    ...(post && { post: refusing(post) }),
  }
}

const bearer = { type: 'http', scheme: 'bearer' }

const tags = [
  { name: 'signup', description: 'Signing up, and the state of signups.' },
  { name: 'operation', description: 'For the people who run the service.' },
  { name: 'browser', description: 'Pages and files for browsers.' },
]

const parameters: Json = {
  Id: {
    name: 'id',
    in: 'path',
    required: true,
    description: 'The id in the answer to the signup.',
    schema: { type: 'string', format: 'uuid' },
  },
  'Idempotency-Key': {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'Makes it safe to repeat the request: for at least 24 hours, the same key with the same content ' +
      'gives the first answer again and no second row. With other content it gives a 422. Use a random ' +
      'key, because all clients without an API key share their idempotency keys.',
    schema: {
      type: 'string',
      pattern: '^[ -~]+$',
      minLength: 1,
      maxLength: limits.idempotencyKeyCharactersMax,
    },
  },
  Prefer: {
    name: 'Prefer',
    in: 'header',
    description:
      'wait=N (RFC 7240): the answer waits until the row is in the spreadsheet, for at most N seconds ' +
      'and at most 30. When too many requests wait already, the 202 comes at once. Other preferences ' +
      'are ignored.',
    schema: { type: 'string', examples: ['wait=10'] },
  },
}

const sending = [ref('parameters', 'Idempotency-Key'), ref('parameters', 'Prefer')]

const replayed = { 'Idempotency-Replayed': ref('headers', 'Idempotency-Replayed') }
const acceptedHeaders = { ...rateLimit, ...replayed }
const writtenHeaders = {
  ...acceptedHeaders,
  'Preference-Applied': ref('headers', 'Preference-Applied'),
}

function postSignup(bodyBytesMax: number): Operation {
  const form = { schema: ref('schemas', 'SignupForm') }
  return {
    operationId: 'createSignup',
    summary: 'Sign one address up',
    description: `From a program as JSON, or from any HTML form. At most ${bodyBytesMax} bytes.`,
    tags: ['signup'],
    security: [],
    parameters: [...sending, ...viewParameters],
    requestBody: {
      required: true,
      content: {
        'application/json': { schema: ref('schemas', 'Signup') },
        'application/x-www-form-urlencoded': form,
        'multipart/form-data': form,
      },
    },
    responses: {
      201: jsonResponse('Written, for a caller who waited.', 'SignupAccepted', writtenHeaders),
      202: jsonResponse('On disk, on its way.', 'SignupAccepted', acceptedHeaders),
      303: response('A form of a person was taken: on to the next page.', undefined, {
        Location: { required: true, schema: { type: 'string', format: 'uri-reference' } },
        ...replayed,
        ...rateLimit,
      }),
      ...refused(signupRefusals),
    },
  }
}

function postBulk({ bodyBytesMax, bulkItemsMax, needsApiKey }: DescribedService): Operation {
  return {
    operationId: 'createSignups',
    summary: 'Sign many addresses up',
    description:
      `At most ${bulkItemsMax} signups and ${bodyBytesMax} bytes. All valid signups are accepted ` +
      'in one durable write; 422 when none is valid.',
    tags: ['signup'],
    security: needsApiKey ? [{ apiKey: [] }] : [],
    parameters: sending,
    requestBody: {
      required: true,
      content: { 'application/json': { schema: ref('schemas', 'Bulk') } },
    },
    responses: {
      201: jsonResponse('All written, for a caller who waited.', 'BulkAccepted', writtenHeaders),
      202: jsonResponse('All on disk, on their way.', 'BulkAccepted', acceptedHeaders),
      207: jsonResponse('Some accepted, some rejected.', 'BulkAccepted', writtenHeaders),
      ...refused(needsApiKey ? [401, ...signupRefusals] : signupRefusals),
    },
  }
}

const getSignup: Operation = {
  ...get('getSignup', 'How far a signup has come', 'SignupStatus', 'signup'),
  responses: {
    200: jsonResponse('Nothing personal is in it.', 'SignupStatus'),
    ...refused([404]),
  },
}

const getReady: Operation = {
  ...get('getReady', 'Whether signups can be taken', 'Readiness'),
  parameters: [
    {
      name: 'strict',
      in: 'query',
      description: 'When present, with any value: also 503 while delivery is blocked.',
      schema: { type: 'string' },
    },
  ],
  responses: {
    200: jsonResponse('Signups can be taken.', 'Readiness'),
    503: jsonResponse('They cannot; strictly: or they would not become rows.', 'Readiness', {
      'Retry-After': ref('headers', 'Retry-After'),
    }),
  },
}

const getMetrics: Operation = {
  operationId: 'getMetrics',
  summary: 'What has happened, and what waits, for Prometheus',
  tags: ['operation'],
  security: [{ metricsToken: [] }],
  responses: {
    200: response('The text format of Prometheus. Nothing personal is in it.', {
      'text/plain': { schema: { type: 'string' } },
    }),
    ...refused([401]),
  },
}

const getDocument: Operation = {
  operationId: 'getOpenapi',
  summary: 'This document',
  tags: ['operation'],
  security: [],
  responses: fileResponses('OpenAPI 3.1.', 'application/json'),
}

function get(operationId: string, summary: string, schema: string, tag = 'operation'): Operation {
  const responses = { 200: jsonResponse(summary, schema) }
  return { operationId, summary, tags: [tag], security: [], responses }
}

/** Adds the answers that every request may get. */
function completed({ parameters, ...operations }: PathItem): Json {
  const methods = Object.entries(operations).map(([method, operation]) => {
    const responses = { ...refused(everywhere), ...operation.responses }
    return [method, { ...operation, responses }] as const
  })
  return { ...(parameters && { parameters }), ...Object.fromEntries(methods) }
}
