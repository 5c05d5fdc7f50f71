import type { AppendResults, SignupStatus } from '../journal/contracts/intake-log.ts'
import type { Clock } from '../platform/clock.ts'
import { isRecord } from '../signup/json.ts'
import {
  type FieldProblem,
  type Parsed,
  parseBulk,
  type ParsedBulk,
  parseSignup,
  tooManyTabs,
} from '../signup/parse.ts'
import type { BulkResult, ProblemField } from '../signup/wire.ts'
import { type Body, readBody } from '../http/body.ts'
import { contentOf, idempotencyOf, ownedKey } from './idempotency.ts'
import type { Answer } from '../http/answer.ts'
import type { Refusal } from '../http/problem.ts'
import { refuse } from '../http/refuse.ts'
import { ToldErrors } from '../http/told-errors.ts'
import { bulkAccepted } from './accepted.ts'
import { takeSiteOut } from './body-site.ts'
import type { Intakes, SignupIntake } from './post-signup.ts'
import { refuseSpent, submit } from './submit.ts'
import type { Exchange } from '../http/exchange.ts'
import { type Patience, patienceOf } from './waiting.ts'

export interface BulkIntake extends SignupIntake {
  /** The most signups in one request. */
  readonly bulkItemsMax: number
}

/** The result for one signup of the request: stored, or rejected with those of its problems that are told. */
type ItemResult =
  | { readonly status: SignupStatus }
  | { readonly status: undefined; readonly problems: readonly FieldProblem[] }

/** So many unknown fields of one request are compared with the known ones, which takes long. */
const comparisonsMax = 100

/** After so much work on one request, other requests get their turn. */
const turnMs = 5

/**
 * `POST /api/signup/bulk`: from the request to the answer. With a valid API key no signup counts
 * against the limit of the client's address. Where keys are set, a request without one counts as one signup.
 */
export async function postBulk(exchange: Exchange, intakes: Intakes<BulkIntake>): Promise<Answer> {
  const { items, errorsLeftOut, isReplay, patience } = await acceptMany(exchange, intakes)
  const { waiting, events } = intakes.of(exchange)
  const stored = items.flatMap(({ status }) => (status ? [status] : []))
  const rejected = items.length - stored.length
  if (rejected > 0 && !isReplay) events.signupsRefused('bulk', rejected)
  if (patience) await waiting.untilWritten(stored, patience, exchange.client.rateLimitKey)
  const answers = items.map((item, index): BulkResult => {
    if (!item.status) return { index, status: 'rejected', errors: item.problems }
    const isWritten = waiting.isWritten(item.status)
    return { index, id: item.status.id, status: isWritten ? 'written' : 'accepted' }
  })
  return bulkAccepted(answers, errorsLeftOut, waiting.progressOf(stored, patience), isReplay)
}

interface Accepted {
  /** At least one signup is stored. */
  readonly items: readonly ItemResult[]
  /** How many problems the items do not tell. */
  readonly errorsLeftOut: number
  readonly isReplay: boolean
  readonly patience: Patience | undefined
}

/** Takes the signups in, up to the durable write. A separate function, so that waiting keeps no request in memory. */
async function acceptMany(exchange: Exchange, intakes: Intakes<BulkIntake>): Promise<Accepted> {
  const { request } = exchange
  const { apiKeys, bodies } = intakes
  if (apiKeys.areSet) {
    exchange.client.apiKey = apiKeys.digestIn(exchange)
    if (exchange.client.apiKey === undefined) {
      exchange.signups = 1
      throw refuse.apiKey()
    }
  }
  const key = ownedKey(exchange)
  if (exchange.isSpent) await refuseSpent(key, exchange, intakes)
  const sent = await readBody(exchange, bodies)
  exchange.signups = 1
  const body = takeSiteOut(sent, exchange)
  const intake = intakes.of(exchange)
  const { clock, digest } = intake
  const { items, challengeToken } = readEnvelope(body, intake)
  const patience = patienceOf(request, clock)
  const asked = (exchange.signups = items.length)
  const comparisons = { left: comparisonsMax }
  const context = { ...intake.tabs, source: 'bulk', comparisons } as const
  const errors = new ToldErrors()
  const parse = (item: unknown): Parsed => {
    const one = parseSignup(item, context)
    return one.ok ? one : { ok: false, problems: errors.take(one.problems) }
  }
  const parsed = await mapInTurns(items, parse, clock)
  const wanted = parsed.flatMap((one) => (one.ok ? [one.value] : []))
  if (wanted.length === 0) throw refuseAll(itemResultsOf(parsed, [], errors), errors)
  const contentAt = (one: Parsed, index: number) => contentOfItem(one, items[index])
  const idempotency =
    key === undefined
      ? undefined
      : idempotencyOf(key, 'bulk', await mapInTurns(parsed, contentAt, clock), digest)
  // Durable from here on: the client may leave.
  const submission = { parsed: wanted, challengeToken, idempotency, exchange, asked }
  const { results, isReplay } = await submit(submission, intake)
  const itemResults = itemResultsOf(parsed, results, errors)
  if (!results.some(Boolean)) throw refuseAll(itemResults, errors)
  return { items: itemResults, errorsLeftOut: errors.leftOut, isReplay, patience }
}

/** The unparsed signups of the request, and its token. Refuses too many signups before parsing any. */
function readEnvelope(body: Body, { bulkItemsMax }: BulkIntake): Extract<ParsedBulk, { ok: true }> {
  if (body.kind !== 'json') throw refuse.jsonOnly()
  const given = isRecord(body.value) ? body.value['signups'] : undefined
  if (Array.isArray(given) && given.length > bulkItemsMax) {
    throw refuse.bulkTooLarge(given.length, bulkItemsMax)
  }
  const envelope = parseBulk(body.value)
  if (!envelope.ok) throw refuse.fields(envelope.problems)
  return envelope
}

/** Maps the items in order, and lets other requests run in between. */
async function mapInTurns<T, R>(
  items: readonly T[],
  map: (item: T, index: number) => R,
  clock: Clock,
): Promise<readonly R[]> {
  const mapped: R[] = []
  let begun = clock.elapsed()
  for (const [index, item] of items.entries()) {
    mapped.push(map(item, index))
    if (clock.elapsed() - begun < turnMs) continue
    await new Promise((resolve) => setImmediate(resolve))
    begun = clock.elapsed()
  }
  return mapped
}

/** @param results the results of the signups that parsed, in order */
function itemResultsOf(
  parsed: readonly Parsed[],
  results: AppendResults,
  errors: ToldErrors,
): readonly ItemResult[] {
  const next = results.values()
  return parsed.map((one): ItemResult => {
    if (!one.ok) return { status: undefined, problems: one.problems }
    const status = next.next().value
    return status ? { status } : { status, problems: errors.take([tooManyTabs]) }
  })
}

function refuseAll(items: readonly ItemResult[], { leftOut }: ToldErrors): Refusal {
  const withIndex = (item: ItemResult, index: number): readonly ProblemField[] =>
    item.status ? [] : item.problems.map((problem) => ({ index, ...problem }))
  return refuse.bulk(items.flatMap(withIndex), leftOut)
}

/** The content of an item for the fingerprint. A rejected item counts as it was sent. */
function contentOfItem(parsed: Parsed, item: unknown): unknown {
  if (parsed.ok) return contentOf(parsed.value)
  try {
    return { rejected: JSON.stringify(item) }
  } catch {
    // The item is nested too deeply for `JSON.stringify`.
    return { rejected: parsed.problems }
  }
}
