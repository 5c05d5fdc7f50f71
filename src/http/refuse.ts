import type { ProblemField } from '../signup/wire.ts'
import { Refusal, type RefusalKind } from './problem.ts'
import type { Allowance } from './rate-limit.ts'

/** The refusals that always say the same, in words for developers. The texts for visitors are in `pages/`. */
const fixed = {
  notHttp:
    'This is not a valid HTTP request: its first line, its headers or its framing are wrong.',
  tunnel: 'This is not a proxy: it does not accept CONNECT.',
  tooSlow: 'The request did not arrive in time. Send it again, without a pause.',
  expectation: 'Send no Expect header, or 100-continue, the only value allowed.',
  headersTooLarge: 'The address and the headers together are too long. Send fewer or shorter ones.',
  incompleteBody: 'The body ended before it was complete.',
  apiKey: 'Bulk signups need an API key of this service. Send it as "Authorization: Bearer <key>".',
  bulkUnconfirmed:
    'This site asks people by mail to confirm, so it takes bulk signups only with an API key: otherwise ' +
    'anybody could have mails sent to anybody. Send single signups; or have the operator set API_KEYS.',
  metricsToken:
    'The metrics need the METRICS_TOKEN of this service. Send it as "Authorization: Bearer <token>".',
  challenge: 'Invalid challenge token',
  noSuchPath: 'There is nothing at this address.',
  noSuchSignup: 'There is no signup with this id.',
  noSuchPuzzle: 'This site has no proof of work, so there is no puzzle to solve.',
  noSuchLink: 'This link is none of ours, not complete, or no longer valid.',
  closed: 'This site takes no more signups, so nothing was stored.',
  contentType:
    'Send application/json, application/x-www-form-urlencoded or multipart/form-data, ' +
    'and say which in the Content-Type header.',
  jsonOnly: 'Send bulk signups as JSON, with Content-Type: application/json.',
  contentCoding:
    'Send the body uncompressed: without Content-Encoding, and with no Transfer-Encoding other than ' +
    'chunked.',
  charset: 'Send the body in UTF-8, with charset=utf-8 or no charset in the Content-Type header.',
  keyUsedBefore:
    'This Idempotency-Key was used with other content before. Send that content again, or use a new ' +
    'key for new content.',
  journalUnavailable:
    'Signups cannot be stored just now, so this request stored nothing. Send it again a little later.',
  outcomeUnknown:
    'It is not known whether this was stored: it may have been. Send it again with the same ' +
    'Idempotency-Key, and it is stored once. Without a key, it may be stored twice.',
  tooBusy:
    'Too many large bodies are arriving just now, so this one was not read. Send it again a little ' +
    'later.',
  tooManyPuzzles: 'Too many puzzles are being made just now. Ask for one again a little later.',
  tooManyInTurn:
    'Too many requests wait for earlier ones with the same Idempotency-Key, so this one was not ' +
    'processed. Send it again a little later.',
  unexpected: 'Something went wrong here. It was logged with the requestId.',
} satisfies Partial<Record<RefusalKind, string>>

/** The headers of fixed refusals: names and values in turn. */
const headersOf: Readonly<Partial<Record<string, readonly string[]>>> = {
  tunnel: ['allow', 'GET, HEAD, POST, OPTIONS'],
  apiKey: ['www-authenticate', 'Bearer'],
  metricsToken: ['www-authenticate', 'Bearer'],
  contentCoding: ['accept-encoding', 'identity'],
  journalUnavailable: ['retry-after', '5'],
  outcomeUnknown: ['retry-after', '5'],
  tooBusy: ['retry-after', '2'],
  tooManyInTurn: ['retry-after', '2'],
  tooManyPuzzles: ['retry-after', '1'],
}

const fixedRefusals = Object.fromEntries(
  Object.entries(fixed).map(([kind, detail]) => [
    kind,
    () => new Refusal(kind as RefusalKind, detail, { headers: headersOf[kind] ?? [] }),
  ]),
) as Readonly<Record<keyof typeof fixed, () => Refusal>>

const countedWords: Readonly<Record<Allowance['policy'], string>> = {
  signups: 'signups',
  replays: 'repeated requests',
  puzzles: 'requests for puzzles',
  decisions: 'decisions',
  signIns: 'tries to sign in',
}

export const refuse = {
  ...fixedRefusals,
  malformed: (detail: string) => new Refusal('malformed', detail),
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
  /** @param isPublic whether pages of every origin load what was asked for, and so its refusal */
  noSuchSite: (isPublic = false) =>
    new Refusal(
      'noSuchSite',
      'There is no such site, or none is named: check ?site= in the address.',
      { isPublic },
    ),
  method: (allowed: readonly string[]) =>
    new Refusal('method', `This address takes ${allowed.join(', ')} only.`, {
      headers: ['allow', allowed.join(', ')],
    }),
  bodyTooLarge: (bytesMax: number) =>
    new Refusal('bodyTooLarge', `The body is larger than the limit of ${bytesMax} bytes.`),
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
  pageAddress: (problems: readonly ProblemField[]) =>
    new Refusal(
      'pageAddress',
      `This page cannot take signups, because its address is wrong: ${summary(problems)}`,
      { errors: problems },
    ),
  fields: (problems: readonly ProblemField[]) =>
    new Refusal('fields', summary(problems), { errors: problems }),
  bulk: (errors: readonly ProblemField[], errorsLeftOut: number) =>
    new Refusal(
      'bulk',
      'None of the signups was accepted; "errors" names the wrong fields, each with the place of its ' +
        'signup in the list, from 0. Correct them and send them again.',
      { errors, errorsLeftOut },
    ),
  tooMany: ({ policy, limit, waitMs }: Allowance, count: number) => {
    const rule = `One address may send at most ${limit} ${countedWords[policy]} a minute`
    return new Refusal(
      'tooMany',
      count > limit
        ? `${rule}, and this request has ${count}. Send fewer at a time, or use an API key.`
        : `${rule}. Send it again after the number of seconds in the Retry-After header.`,
      { headers: ['retry-after', String(Math.ceil(waitMs / 1000))] },
    )
  },
  challengeUnavailable: (retryAfterSeconds: number) =>
    new Refusal(
      'challengeUnavailable',
      'Challenge tokens cannot be verified just now, so this signup was not stored. Send it again a ' +
        'little later.',
      { headers: ['retry-after', String(retryAfterSeconds)] },
    ),
}

function summary(problems: readonly ProblemField[]): string {
  const [first] = problems
  if (problems.length === 1 && first) {
    return first.field === '' ? first.message : `${first.field}: ${first.message}`
  }
  return `${problems.length} fields need a change; "errors" names each.`
}
