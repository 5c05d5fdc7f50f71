import type { Answer } from '../http/answer.ts'
import type { Body } from '../http/body.ts'
import type { Exchange } from '../http/exchange.ts'
import { refuse } from '../http/refuse.ts'
import { ToldErrors } from '../http/told-errors.ts'
import type { Clock } from '../platform/clock.ts'
import type { FieldProblem } from '../signup/field-values.ts'
import {
  type Parsed,
  parseBulk,
  type ParsedBulk,
  parseSignup,
  tooManyTabs,
} from '../signup/parse.ts'
import type { BulkResult, ProblemField } from '../signup/wire.ts'
import { accept, type Endpoint, type Intake, type Intakes } from './accept.ts'
import { accepted } from './accepted.ts'
import { contentOf, fingerprintOf } from './idempotency.ts'
import { unvouched } from './submit.ts'

/** After so much work on one request, other requests get their turn. */
const turnMs = 5

/** What is told of the items of a request: of each the problems for which it is rejected, if it is. */
interface Told {
  readonly items: readonly (readonly FieldProblem[] | undefined)[]
  readonly errors: ToldErrors
}

const bulk: Endpoint<Told> = {
  takesForms: false,
  async read(body, key, exchange, intake) {
    const { clock, digest } = intake
    const { items, challengeToken, isConfirmed = false } = readEnvelope(body, exchange, intake)
    exchange.signups = items.length
    const errors = new ToldErrors()
    const parse = (item: unknown): Parsed => {
      const one = parseSignup(item, intake.contexts.bulk)
      return one.ok ? one : { ok: false, problems: errors.take(one.problems) }
    }
    const parsed = await mapInTurns(items, parse, clock)
    const kept = { items: parsed.map((one) => (one.ok ? undefined : one.problems)), errors }
    const signups = parsed.flatMap((one) => (one.ok ? [one.value] : []))
    if (signups.length === 0) throw refuse.bulk(problemsOf(kept.items), errors.leftOut)
    const read = { signups, challengeToken, isConfirmed, kept }
    if (!key) return { ...read, idempotency: undefined }
    const contentAt = (one: Parsed, index: number) => contentOfItem(one, items[index])
    const content = await mapInTurns(parsed, contentAt, clock)
    const route = isConfirmed ? 'bulk confirmed' : 'bulk'
    return { ...read, idempotency: { ...key, fingerprint: fingerprintOf(route, content, digest) } }
  },
}

/**
 * `POST /api/signup/bulk`: from the request to the answer. With a valid API key no signup counts
 * against the limit of the client's address. Where keys are set, a request without one counts as one signup.
 */
export async function postBulk(exchange: Exchange, intakes: Intakes): Promise<Answer> {
  const { results, isReplay, patience, kept } = await accept(exchange, intakes, bulk)
  const { waiting } = intakes.of(exchange)
  const { errors } = kept
  const stored = results.filter((status) => status !== undefined)
  const next = results.values()
  const statuses = kept.items.map((problems) => (problems ? undefined : next.next().value))
  const rejections = kept.items.map((problems, index) =>
    statuses[index] ? undefined : (problems ?? errors.take([tooManyTabs])),
  )
  if (stored.length === 0) throw refuse.bulk(problemsOf(rejections), errors.leftOut)
  const rejected = kept.items.length - stored.length
  if (!isReplay) exchange.rejected = rejected
  if (patience) await waiting.untilWritten(stored, patience, exchange.client.rateLimitKey)
  const itemResults = statuses.map((status, index): BulkResult => {
    if (!status) return { index, status: 'rejected', errors: rejections[index] ?? [] }
    return { index, id: status.id, status: waiting.stateOf(status) }
  })
  const body = {
    accepted: stored.length,
    rejected,
    results: itemResults,
    ...(errors.leftOut > 0 && { errorsLeftOut: errors.leftOut }),
  }
  return accepted(body, waiting.progressOf(stored, patience), isReplay, rejected > 0)
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
function problemsOf(rejections: Told['items']): readonly ProblemField[] {
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
