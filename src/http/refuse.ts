import type { ProtocolFailure } from '../platform/http-exchange.ts'
import { type FieldError, Refusal } from './problem.ts'
import type { Allowance } from './rate-limit.ts'

/** Every refusal, in words for developers. The texts for visitors are in `pages/`. */
export const refuse = {
  malformed: (detail: string) => new Refusal('malformed', detail),
  incompleteBody: () => new Refusal('incompleteBody', 'The body ended before it was complete.'),
  apiKey: () =>
    new Refusal(
      'apiKey',
      'Bulk signups need an API key of this service. Send it as "Authorization: Bearer <key>".',
      { headers: ['www-authenticate', 'Bearer'] },
    ),
  metricsToken: () =>
    new Refusal(
      'metricsToken',
      'The metrics need the METRICS_TOKEN of this service. Send it as "Authorization: Bearer <token>".',
      { headers: ['www-authenticate', 'Bearer'] },
    ),
  /**
   * @param origin the result of `webOrigin`
   * @param setting what names the allowed origins
   * @param isReadable whether the refused page may read the reason, so that the answer needs CORS headers
   */
  origin: (origin: string | undefined, setting: string, isReadable: boolean) =>
    new Refusal(
      'origin',
      origin !== undefined
        ? `Pages of ${origin} may not send signups here. The operator of this service can add the ` +
            `origin to ${setting}.`
        : 'Pages without a web origin, such as sandboxed frames and local files, may send signups ' +
            `only if ${setting} is *.`,
      { isPublic: isReadable },
    ),
  challenge: () => new Refusal('challenge', 'Invalid challenge token'),
  noSuchPath: () => new Refusal('noSuchPath', 'There is nothing at this address.'),
  noSuchSignup: () => new Refusal('noSuchSignup', 'There is no signup with this id.'),
  /** @param isPublic whether pages of every origin load what was asked for, and so its refusal */
  noSuchSite: (isPublic = false) =>
    new Refusal('noSuchSite', 'There is no such site: check ?site= in the address.', { isPublic }),
  method: (allowed: readonly string[]) =>
    new Refusal('method', `This address takes ${allowed.join(', ')} only.`, {
      headers: ['allow', allowed.join(', ')],
    }),
  bodyTooLarge: (bytesMax: number) =>
    new Refusal('bodyTooLarge', `The body is larger than the limit of ${bytesMax} bytes.`),
  contentType: () =>
    new Refusal(
      'contentType',
      'Send application/json, application/x-www-form-urlencoded or multipart/form-data, ' +
        'and say which in the Content-Type header.',
    ),
  jsonAsForm: () =>
    new Refusal(
      'contentType',
      'The body looks like JSON. Send it with Content-Type: application/json.',
    ),
  bulkTooLarge: (count: number, itemsMax: number) =>
    new Refusal(
      'bulkTooLarge',
      `The list holds ${count} signups, over the limit of ${itemsMax} in one request. ` +
        'Send it in several parts.',
    ),
  jsonOnly: () =>
    new Refusal('jsonOnly', 'Send bulk signups as JSON, with Content-Type: application/json.'),
  contentCoding: () =>
    new Refusal(
      'contentCoding',
      'Send the body uncompressed: without Content-Encoding, and with no Transfer-Encoding other than ' +
        'chunked.',
      { headers: ['accept-encoding', 'identity'] },
    ),
  charset: () =>
    new Refusal(
      'charset',
      'Send the body in UTF-8, with charset=utf-8 or no charset in the Content-Type header.',
    ),
  pageAddress: (problems: readonly FieldError[]) =>
    new Refusal(
      'pageAddress',
      `This page cannot take signups, because its address is wrong: ${summary(problems)}`,
      { errors: problems },
    ),
  tooManyFormFields: (most: number) =>
    refuse.fields([{ field: '', message: `The form has too many fields: at most ${most}.` }]),
  fields: (problems: readonly FieldError[]) =>
    new Refusal('fields', summary(problems), { errors: problems }),
  bulk: (errors: readonly FieldError[], errorsLeftOut: number) =>
    new Refusal(
      'bulk',
      'None of the signups was accepted; "errors" names the wrong fields, each with the place of its ' +
        'signup in the list, from 0. Correct them and send them again.',
      { errors, errorsLeftOut },
    ),
  keyUsedBefore: () =>
    new Refusal(
      'keyUsedBefore',
      'This Idempotency-Key was used with other content before. Send that content again, or use a new ' +
        'key for new content.',
    ),
  tooMany: ({ policy, limit, waitMs }: Allowance, count: number) => {
    const what = policy === 'signups' ? 'signups' : 'repeated requests'
    const rule = `One address may send at most ${limit} ${what} a minute`
    return new Refusal(
      'tooMany',
      count > limit
        ? `${rule}, and this request has ${count}. Send fewer at a time, or use an API key.`
        : `${rule}. Send it again after the number of seconds in the Retry-After header.`,
      { headers: ['retry-after', String(Math.ceil(waitMs / 1000))] },
    )
  },
  protocol: (failure: ProtocolFailure) => protocolRefusals[failure](),
  journalUnavailable: () =>
    new Refusal(
      'journalUnavailable',
      'Signups cannot be stored just now, so this request stored nothing. Send it again a little later.',
      { headers: ['retry-after', '5'] },
    ),
  outcomeUnknown: () =>
    new Refusal(
      'outcomeUnknown',
      'It is not known whether this was stored: it may have been. Send it again with the same ' +
        'Idempotency-Key, and it is stored once. Without a key, it may be stored twice.',
      { headers: ['retry-after', '5'] },
    ),
  tooBusy: () =>
    new Refusal(
      'tooBusy',
      'Too many large bodies are arriving just now, so this one was not read. Send it again a little ' +
        'later.',
      { headers: ['retry-after', '2'] },
    ),
  tooManyInTurn: () =>
    new Refusal(
      'tooManyInTurn',
      'Too many requests wait for earlier ones with the same Idempotency-Key, so this one was not ' +
        'processed. Send it again a little later.',
      { headers: ['retry-after', '2'] },
    ),
  challengeUnavailable: (retryAfterSeconds: number) =>
    new Refusal(
      'challengeUnavailable',
      'Challenge tokens cannot be verified just now, so this signup was not stored. Send it again a ' +
        'little later.',
      { headers: ['retry-after', String(retryAfterSeconds)] },
    ),
  unexpected: () =>
    new Refusal('unexpected', 'Something went wrong here. It was logged with the requestId.'),
}

const protocolRefusals: Readonly<Record<ProtocolFailure, () => Refusal>> = {
  malformed: () =>
    new Refusal(
      'notHttp',
      'This is not a valid HTTP request: its first line, its headers or its framing are wrong.',
    ),
  tunnel: () =>
    new Refusal('tunnel', 'This is not a proxy: it does not accept CONNECT.', {
      headers: ['allow', 'GET, HEAD, POST, OPTIONS'],
    }),
  tooSlow: () =>
    new Refusal('tooSlow', 'The request did not arrive in time. Send it again, without a pause.'),
  expectation: () =>
    new Refusal('expectation', 'Send no Expect header, or 100-continue, the only value allowed.'),
  headersTooLarge: () =>
    new Refusal(
      'headersTooLarge',
      'The address and the headers together are too long. Send fewer or shorter ones.',
    ),
}

function summary(problems: readonly FieldError[]): string {
  const [first] = problems
  if (problems.length === 1 && first) {
    return first.field === '' ? first.message : `${first.field}: ${first.message}`
  }
  return `${problems.length} fields need a change; "errors" names each.`
}
