import type { Answer } from '../http/answer.ts'
import type { Body } from '../http/body.ts'
import type { Exchange } from '../http/exchange.ts'
import { refuse } from '../http/refuse.ts'
import { ToldErrors } from '../http/told-errors.ts'
import type { Clock } from '../platform/clock.ts'
import { closedProblem } from '../signup/closing.ts'
import type { FieldProblem } from '../signup/field-values.ts'
import {
  type Parsed,
  parseBulk,
  type ParsedBulk,
  parseSignup,
  tooManyTabs,
} from '../signup/parse.ts'
import type { BulkResult, ProblemField } from '../signup/wire.ts'
import { accepted } from './accepted.ts'
import { contentOf, fingerprintOf } from './idempotency.ts'
import { store, unvouched } from './store.ts'
import { type Intake, type Intakes, isOverflow, take } from './take.ts'

/** After so much work on one request, other requests get their turn. */
const turnMs = 5

/** Of each item the problems for which it is rejected, if it is. */
type Rejections = readonly (readonly FieldProblem[] | undefined)[]

/**
 * `POST /api/signup/bulk`: from the request to the answer. With a valid API key no signup counts
 * against the limit of the client's address. Where keys are set, a request without one counts as one signup.
 */
export async function postBulk(exchange: Exchange, intakes: Intakes): Promise<Answer> {
  const { results, isReplay, patience, intake, items, errors } = await storeMany(exchange, intakes)
  const { waiting } = intake
  const stored = results.filter((status) => status !== undefined)
  let asked = 0
  const places = items.map((problems) => (problems ? -1 : asked++))
  const statuses = places.map((place) => results[place])
  const rejections = items.map((problems, index) => {
    if (statuses[index]) return undefined
    const isBeyond = (places[index] ?? -1) >= results.length
    return problems ?? errors.take([isBeyond ? closedProblem : tooManyTabs])
  })
  if (stored.length === 0) throw refuse.bulk(problemsOf(rejections), errors.leftOut)
  const rejected = items.length - stored.length
  if (!isReplay) exchange.rejected = rejected
  if (patience) await waiting.untilWritten(stored, patience, exchange.client.rateLimitKey)
  const itemResults = statuses.map((status, index): BulkResult => {
    if (!status) return { index, status: 'rejected', errors: rejections[index] ?? [] }
    const overflow = isOverflow(status.sheetTab, intake) && { overflow: true as const }
    return { index, id: status.id, status: waiting.stateOf(status), ...overflow }
  })
  const body = {
    accepted: stored.length,
    rejected,
    results: itemResults,
    ...(errors.leftOut > 0 && { errorsLeftOut: errors.leftOut }),
  }
  return accepted(body, waiting.progressOf(stored, patience), isReplay, rejected > 0)
}

/** From the request to the durable write. What it returns does not hold what was parsed. */
async function storeMany(exchange: Exchange, intakes: Intakes) {
  const { body, key, intake, patience } = await take(exchange, intakes, false)
  const { clock, contexts } = intake
  const { items: given, challengeToken, isConfirmed } = readEnvelope(body, exchange, intake)
  exchange.signups = given.length
  const errors = new ToldErrors()
  const parse = (item: unknown): Parsed => {
    const one = parseSignup(item, contexts.bulk)
    return one.ok ? one : { ok: false, problems: errors.take(one.problems) }
  }
  const parsed = await mapInTurns(given, parse, clock)
  const items = parsed.map((one) => (one.ok ? undefined : one.problems))
  const signups = parsed.flatMap((one) => (one.ok ? [one.value] : []))
  if (signups.length === 0) throw refuse.bulk(problemsOf(items), errors.leftOut)
  const contentAt = (one: Parsed, index: number) => contentOfItem(one, given[index])
  const route = isConfirmed ? 'bulk confirmed' : 'bulk'
  const idempotency = key && {
    ...key,
    fingerprint: fingerprintOf(route, await mapInTurns(parsed, contentAt, clock)),
  }
  const many = { signups, challengeToken, isConfirmed, idempotency }
  const { results, isReplay } = await store(many, exchange, intake)
  return { results, isReplay, patience, intake, items, errors }
}

/** The unparsed signups of the request, and its token. Refuses too many signups before parsing any. */
function readEnvelope(
  body: Body,
  { client }: Exchange,
  { bulkItemsMax, mail }: Intake,
): Extract<ParsedBulk, { ok: true }> {
  if (body.kind !== 'json') throw refuse.jsonOnly()
  // Where keys are set, a request without one does not come so far.
  if (mail?.confirms && client.apiKey === undefined) throw refuse.bulkUnconfirmed()
  const given = body.value['signups']
  if (Array.isArray(given) && given.length > bulkItemsMax) {
    throw refuse.bulkTooLarge(given.length, bulkItemsMax)
  }
  const envelope = parseBulk(body.value)
  const more = unvouched(body.value, client)
  if (envelope.ok && more.length === 0) return envelope
  throw refuse.fields([...(envelope.ok ? [] : envelope.problems), ...more])
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

/** The problems of all rejected items, each with the index of its item. */
function problemsOf(rejections: Rejections): readonly ProblemField[] {
  return rejections.flatMap((problems = [], index) =>
    problems.map((problem) => ({ index, ...problem })),
  )
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
