import type { Answer } from '../http/answer.ts'
import type { Body } from '../http/body.ts'
import type { Exchange } from '../http/exchange.ts'
import { prefersHtml } from '../http/negotiate.ts'
import { refuse } from '../http/refuse.ts'
import type { Idempotency, OwnedKey } from '../journal/contracts/intake-log.ts'
import { parseForm, type ParsedSignup, parseSignup, tooManyTabs } from '../signup/parse.ts'
import type { Millis } from '../signup/signup.ts'
import { accepted, replayed } from './accepted.ts'
import { contentOf, fingerprintOf, formKey } from './idempotency.ts'
import { store, unvouched } from './store.ts'
import { type Intake, type Intakes, isOverflow, take } from './take.ts'

/** `POST /api/signup`: from the request to the answer. */
export async function postSignup(exchange: Exchange, intakes: Intakes): Promise<Answer> {
  const { status, isReplay, patience, intake, page } = await storeOne(exchange, intakes)
  const { waiting, people } = intake
  const isWaiting = isOverflow(status.sheetTab, intake)
  if (page) return replayed(people.sendOn(exchange, page.redirect, isWaiting), isReplay)
  if (patience) await waiting.untilWritten([status], patience, exchange.client.rateLimitKey)
  const progress = waiting.progressOf([status], patience)
  const { id, sheetTab, receivedAt } = status
  const state = waiting.stateOf(status)
  const overflow = isWaiting && { overflow: true as const }
  const body = { id, status: state, sheetTab, receivedAt: isoTime(receivedAt), ...overflow }
  return accepted(body, progress, isReplay)
}

/**
 * From the request to the durable write. What it returns does not hold the body, so that waiting for the row
 * costs little memory. `page` is undefined when a program posted it.
 */
async function storeOne(exchange: Exchange, intakes: Intakes) {
  const { body, key, intake, patience } = await take(exchange, intakes, true)
  const parsed = parseBody(body, exchange, intake)
  const { challengeToken, redirect, isConfirmed } = parsed
  const form = body.kind === 'form' && prefersHtml(exchange.request) ? body : undefined
  const ofForm = form && !key ? formKey(form.fields) : undefined
  const idempotency = idempotencyOf(parsed, key, ofForm)
  const isOwn = exchange.client.apiKey === undefined
  const one = {
    signups: [parsed],
    challengeToken,
    idempotency,
    isConfirmed,
    isOwn,
    formKey: ofForm,
  }
  const { results, isReplay } = await store(one, exchange, intake)
  const [status] = results
  if (!status) throw refuse.fields([tooManyTabs])
  exchange.postedFields = undefined
  return { status, isReplay, patience, intake, page: form && { redirect } }
}

/** By what a repeated request is recognised; undefined for the request of a program without a key. */
function idempotencyOf(
  parsed: ParsedSignup,
  key: OwnedKey | undefined,
  ofForm: string | undefined,
): Idempotency | undefined {
  if (!key && ofForm === undefined) return undefined
  const route = parsed.isConfirmed ? 'signup confirmed' : 'signup'
  const fingerprint = fingerprintOf(route, contentOf(parsed))
  if (key) return { ...key, fingerprint }
  // It is another request when the visitor has changed something.
  return { space: '', key: `${ofForm} ${fingerprint}`, fingerprint }
}

/**
 * A form from our own page must also have the fields that the page requires.
 *
 * @throws Refusal with everything that is wrong
 */
function parseBody(body: Body, exchange: Exchange, { contexts, people }: Intake): ParsedSignup {
  const isForm = body.kind === 'form'
  const parsed = isForm
    ? parseForm(body.fields, contexts.form)
    : parseSignup(body.value, contexts.api)
  const missing = isForm
    ? people.missing(exchange, body.fields)
    : unvouched(body.value, exchange.client)
  if (parsed.ok && missing.length === 0) return parsed.value
  throw refuse.fields([...(parsed.ok ? [] : parsed.problems), ...missing])
}

/** Formats a time and remembers the last result, because signups often share a millisecond. */
const isoTime = (() => {
  let last: { readonly millis: Millis; readonly text: string } | undefined
  return (millis: Millis): string => {
    if (last?.millis !== millis) last = { millis, text: new Date(millis).toISOString() }
    return last.text
  }
})()
