import type { Answer } from '../http/answer.ts'
import type { Body } from '../http/body.ts'
import type { Exchange } from '../http/exchange.ts'
import { prefersHtml } from '../http/negotiate.ts'
import { refuse } from '../http/refuse.ts'
import type { Idempotency, OwnedKey } from '../journal/contracts/intake-log.ts'
import { parseForm, type ParsedSignup, parseSignup, tooManyTabs } from '../signup/parse.ts'
import type { Millis } from '../signup/signup.ts'
import { accept, type Endpoint, type Intake, type Intakes } from './accept.ts'
import { accepted, replayed } from './accepted.ts'
import { contentOf, fingerprintOf, formKey } from './idempotency.ts'
import { unvouched } from './submit.ts'

/** Where to send a person who posted a form. */
type Page = Pick<ParsedSignup, 'redirect'>

/** Reads a single signup. `kept` is undefined when a program posted it. */
const single: Endpoint<Page | undefined> = {
  takesForms: true,
  read(body, key, exchange, intake) {
    const parsed = parseBody(body, exchange, intake)
    const { challengeToken, redirect } = parsed
    const form = body.kind === 'form' && prefersHtml(exchange.request) ? body : undefined
    const ofForm = form && !key ? formKey(form.fields) : undefined
    return {
      signups: [parsed],
      challengeToken,
      idempotency: idempotencyOf(parsed, key, ofForm, intake),
      isConfirmed: parsed.isConfirmed ?? false,
      isOwn: exchange.client.apiKey === undefined,
      formKey: ofForm,
      kept: form && { redirect },
    }
  },
}

/** By what a repeated request is recognised; undefined for the request of a program without a key. */
function idempotencyOf(
  parsed: ParsedSignup,
  key: OwnedKey | undefined,
  ofForm: string | undefined,
  { digest }: Intake,
): Idempotency | undefined {
  if (!key && ofForm === undefined) return undefined
  const route = parsed.isConfirmed ? 'signup confirmed' : 'signup'
  const fingerprint = fingerprintOf(route, contentOf(parsed), digest)
  if (key) return { ...key, fingerprint }
  // It is another request when the visitor has changed something.
  return { space: '', key: `${ofForm} ${fingerprint}`, fingerprint }
}

/** `POST /api/signup`: from the request to the answer. */
export async function postSignup(exchange: Exchange, intakes: Intakes): Promise<Answer> {
  const { results, isReplay, patience, kept: page } = await accept(exchange, intakes, single)
  const [status] = results
  if (!status) throw refuse.fields([tooManyTabs])
  exchange.postedFields = undefined
  const { waiting, people } = intakes.of(exchange)
  if (page) return replayed(people.sendOn(exchange, page.redirect), isReplay)
  if (patience) await waiting.untilWritten([status], patience, exchange.client.rateLimitKey)
  const progress = waiting.progressOf([status], patience)
  const { id, sheetTab, receivedAt } = status
  const body = { id, status: waiting.stateOf(status), sheetTab, receivedAt: isoTime(receivedAt) }
  return accepted(body, progress, isReplay)
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
