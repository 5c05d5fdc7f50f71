import { limits } from '../../signup/limits.ts'
import {
  everywhere,
  headers,
  type Json,
  jsonResponse,
  ref,
  refs,
  refusalResponses,
  refused,
  response,
  retryAfter,
  signupRefusals,
} from './responses.ts'
import { type DescribedSignups, schemas } from './schemas.ts'

export interface DescribedService extends DescribedSignups {
  readonly bodyBytesMax: number
  readonly needsApiKey: boolean
  /** Whether a request has to name its site. */
  readonly needsSite: boolean
  readonly hasMetrics: boolean
}

export const openapiPath = '/api/openapi.json'

/** The OpenAPI 3.1 document: every path of the API with its current settings. Pages and files are for browsers. */
export function describeService(service: DescribedService): Json {
  const { needsApiKey, needsSite, hasMetrics, sites } = service
  return {
    openapi: '3.1.1',
    info: {
      title: 'Rollcall',
      version: '1',
      summary: 'Email signups into a spreadsheet, exactly once.',
      description:
        'A 2xx means that the signup is on disk and becomes one row. Errors are problem documents ' +
        '(RFC 9457), or a page when Accept prefers text/html. HEAD and OPTIONS are answered where GET ' +
        'and POST are. Any other method gets a 405. A slash at the end of a path makes no difference. ' +
        'Pages and files for browsers are not described.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    security: [],
    paths: pathsOf(service),
    webhooks: {
      'signup.accepted': webhook('A signup counts', 'signupAccepted', 'AcceptedMessage'),
      'signup.erased': webhook('A signup was erased', 'signupErased', 'ErasedMessage'),
    },
    components: {
      schemas: schemas(service),
      parameters: { ...parameters, ...(sites && { Site: siteParameter(needsSite) }) },
      headers,
      responses: refusalResponses,
      securitySchemes: {
        ...(needsApiKey && { apiKey: bearer }),
        ...(hasMetrics && { metricsToken: bearer }),
      },
    },
  }
}

/** A message after Standard Webhooks: docs/webhooks.md. */
function webhook(summary: string, operationId: string, schema: string): Json {
  const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature']
  const header = { in: 'header', required: true, schema: { type: 'string' } }
  const content = { 'application/json': { schema: ref('schemas', schema) } }
  const described = {
    parameters: names.map((name) => ({ name, ...header })),
    requestBody: { required: true, content },
    responses: { '2XX': { description: 'Taken.' }, default: { description: 'Sent again later.' } },
  }
  return { post: { operationId, summary, ...described } }
}

const bearer = { type: 'http', scheme: 'bearer' }

function pathsOf(service: DescribedService): Json {
  const { hasMetrics, sites } = service
  const ofSite = sites ? [ref('parameters', 'Site')] : []
  const operation = (operationId: string, { responses, ...more }: Described): Json => {
    const any = refused(sites ? [...everywhere, 422] : everywhere)
    return { operationId, ...more, responses: { ...any, ...responses } }
  }
  const config = inJson('What a form needs to know', 'Config')
  const stamp = inJson('A signed time for a form, to be sent with it', 'Stamp')
  const puzzle = inJson('A puzzle of the proof of work', 'Puzzle', {
    ...refused([404, 429, 503]),
  })
  const alive = inJson('Whether the process is alive', 'Liveness')
  const state = inJson('How far a signup has come', 'SignupStatus', refused([404]))
  const ready = inJson('Whether signups can be taken', 'Readiness', {
    503: jsonResponse('They cannot; strictly: or would not become rows.', 'Readiness', retryAfter),
  })
  return {
    '/api/signup': { parameters: ofSite, post: operation('createSignup', postSignup(service)) },
    '/api/signup/bulk': {
      parameters: ofSite,
      post: operation('createSignups', postBulk(service)),
    },
    '/api/signup/{id}': {
      parameters: [ref('parameters', 'Id'), ...ofSite],
      get: operation('getSignup', state),
    },
    '/api/config': { parameters: ofSite, get: operation('getConfig', config) },
    '/api/stamp': { parameters: ofSite, get: operation('getStamp', stamp) },
    '/api/challenge': { parameters: ofSite, get: operation('getChallenge', puzzle) },
    '/api/health': { get: operation('getHealth', alive) },
    '/api/ready': {
      parameters: [strict, ...(sites ? [siteOrAll] : [])],
      get: operation('getReady', ready),
    },
    ...(hasMetrics && { '/metrics': { get: operation('getMetrics', getMetrics) } }),
    [openapiPath]: { parameters: ofSite, get: operation('getOpenapi', getDocument) },
  }
}

interface Described extends Json {
  readonly summary: string
  readonly responses: Json
}

const parameters = {
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
      'and at most 30. When too many requests wait already, or the signup has to be confirmed, the 202 ' +
      'comes at once. Other preferences are ignored.',
    schema: { type: 'string', examples: ['wait=10'] },
  },
}

function siteParameter(required: boolean): Json {
  const description =
    'The site that the request is about. The body of a signup may name it instead.'
  return { ...siteOrAll, required, description }
}

const siteOrAll = {
  name: 'site',
  in: 'query',
  description: 'The site that the request is about; all sites when absent.',
  schema: ref('schemas', 'Site'),
}

const strict = {
  name: 'strict',
  in: 'query',
  description: 'When present, with any value: also 503 while delivery is blocked.',
  schema: { type: 'string' },
}

const sending = [ref('parameters', 'Idempotency-Key'), ref('parameters', 'Prefer')]

const acceptedHeaders = refs(['RateLimit', 'RateLimit-Policy', 'Idempotency-Replayed'])
const writtenHeaders = { ...acceptedHeaders, ...refs(['Preference-Applied']) }

function postSignup({ bodyBytesMax }: DescribedService): Described {
  const form = { schema: ref('schemas', 'SignupForm') }
  return {
    summary: 'Sign one address up',
    description: `From a program as JSON, or from any HTML form. At most ${bodyBytesMax} bytes.`,
    parameters: sending,
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
      202: jsonResponse(
        'On disk: on its way, or pending until its person confirms it.',
        'SignupAccepted',
        acceptedHeaders,
      ),
      303: response('A form of a person was taken: on to the next page.', undefined, {
        Location: { required: true, schema: { type: 'string', format: 'uri-reference' } },
        ...acceptedHeaders,
      }),
      ...refused(signupRefusals),
    },
  }
}

function postBulk({ bodyBytesMax, bulkItemsMax, needsApiKey }: DescribedService): Described {
  return {
    summary: 'Sign many addresses up',
    description:
      `At most ${bulkItemsMax} signups and ${bodyBytesMax} bytes. All valid signups are accepted ` +
      'in one durable write; 422 when none is valid.',
    ...(needsApiKey && { security: [{ apiKey: [] }] }),
    parameters: sending,
    requestBody: {
      required: true,
      content: { 'application/json': { schema: ref('schemas', 'Bulk') } },
    },
    responses: {
      201: jsonResponse('All written, for a caller who waited.', 'BulkAccepted', writtenHeaders),
      202: jsonResponse('All on disk: on their way, or pending.', 'BulkAccepted', acceptedHeaders),
      207: jsonResponse('Some accepted, some rejected.', 'BulkAccepted', writtenHeaders),
      ...refused(needsApiKey ? [401, ...signupRefusals] : signupRefusals),
    },
  }
}

const getMetrics: Described = {
  summary: 'What has happened, and what waits, for Prometheus',
  security: [{ metricsToken: [] }],
  responses: {
    200: response('Nothing personal is in it.', { 'text/plain': { schema: { type: 'string' } } }),
    ...refused([401]),
  },
}

const etag = refs(['ETag'])

const getDocument: Described = {
  summary: 'This document',
  responses: {
    200: response('The document.', { 'application/json': { schema: { type: 'object' } } }, etag),
    304: response('It has not changed since.', undefined, etag),
  },
}

/** @param more the answers besides 200 */
function inJson(summary: string, schema: string, more: Json = {}): Described {
  return { summary, responses: { 200: jsonResponse(summary, schema), ...more } }
}
