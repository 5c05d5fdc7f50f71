import { html } from 'hono/html'
import { type Answer, page } from '../http/answer.ts'
import type { Exchange, FormEntries } from '../http/exchange.ts'
import { pageSecurity } from '../http/headers.ts'
import { prefersHtml } from '../http/negotiate.ts'
import { problem, type Refusal, type RefusalKind } from '../http/problem.ts'
import { limits } from '../signup/limits.ts'
import { firstNames } from '../signup/text.ts'
import { document } from './document.ts'
import { details, formPage, problemWords, type ShownFailure } from './form-page.ts'
import { nextLocation } from './form-post.ts'
import { noticeText } from './notice.ts'
import type { PageProblem } from './texts.ts'
import { firstValue, typedForm } from './typed-form.ts'
import { type PageOptions, type View, viewOf } from './view.ts'
import type { ProblemField } from '../signup/wire.ts'
import { messageOf } from './field-messages.ts'
import { consentField } from './form-trees.ts'

/** Turns every refusal into an answer: a page for people, a problem document for programs. */
export async function answerRefusal(
  refusal: Refusal,
  exchange: Pick<Exchange, 'request' | 'requestId' | 'ownOrigin' | 'postedFields' | 'mayBeFramed'>,
  options: PageOptions,
): Promise<Answer> {
  const { request, requestId, postedFields: typed } = exchange
  if (!prefersHtml(request)) {
    const isClosed = refusal.kind === 'closed'
    const notice = isClosed ? noticeText(viewOf(request, options), 'closed') : undefined
    return problem(refusal, requestId, notice)
  }
  const { status, headers, isPublic } = refusal
  const { ownOrigin } = exchange
  const { allowedOrigins } = options
  const view = viewOf(request, options)
  const next = nextLocation(view, typed ?? [], { ownOrigin, allowedOrigins })
  const html = await refusalPage(view, { refusal, requestId, typed, next })
  const security = pageSecurity({ ...options, framed: exchange.mayBeFramed })
  const vary = 'Accept, Accept-Language, Origin'
  return page(html, { headers, security, isPublic, vary }, status)
}

interface Refused {
  readonly refusal: Refusal
  readonly requestId: string
  /** The posted form, if it was read before the refusal. */
  readonly typed?: FormEntries | undefined
  /** The page that the form leads to after a successful signup. */
  readonly next: string
}

/** Shows the form again with the typed values and the problem. Without a form, shows only the problem. */
export async function refusalPage(
  view: View,
  { refusal, requestId, typed, next }: Refused,
): Promise<string> {
  const { isOurs, errors = [] } = refusal
  const kind = problemOf(refusal)
  const problem = refusal.kind === 'fields' ? problemOfFields(errors, view) : kind
  const failure: ShownFailure = {
    problem,
    errors: translated(errors, typed ?? [], view),
    reference: isOurs ? `${view.texts.reference}: ${requestId}` : undefined,
  }
  // Refused origin: show no form of ours, because it would pass the origin check.
  if (typed && isShowable(typed) && kind !== 'forbidden') {
    return formPage(view, { typed: typedForm(typed, view), next, failure })
  }
  const { heading, text } = problemWords(view, problem)
  const body = html`<h1>${heading}</h1>
    <p>${text}</p>
    ${details(failure)}`
  return document(view, { title: heading, body })
}

/** Several times the size of a signup. A larger form is not from a person and costs too much to show. */
const typedCharactersMax = 100_000

function isShowable(typed: FormEntries): boolean {
  if (typed.length > limits.formFieldsMax) return false
  const characters = typed.reduce((sum, [name, value]) => sum + name.length + value.length, 0)
  return characters <= typedCharactersMax
}

function problemOf({ kind, status }: Refusal): PageProblem {
  return ofKinds[kind] ?? ofStatuses[status] ?? 'unreadable'
}

/** What is told of a status, where a kind has no words of its own. */
const ofStatuses: Readonly<Record<number, PageProblem>> = {
  403: 'forbidden',
  404: 'notFound',
  405: 'method',
  413: 'tooLarge',
  422: 'fields',
  429: 'tooMany',
  500: 'unexpected',
  503: 'unavailable',
}

const ofKinds: Readonly<Partial<Record<RefusalKind, PageProblem>>> = {
  pageAddress: 'address',
  challenge: 'challenge',
  outcomeUnknown: 'unknown',
  noSuchSite: 'gone',
  noSuchLink: 'over',
  closed: 'closed',
}

/** Which problem tells a visitor of wrong fields: that the page is wrong, that it is too much, or each beside its field. */
function problemOfFields(errors: readonly ProblemField[], view: View): PageProblem {
  if (errors.some((error) => isForAuthor(error, view))) return 'forbidden'
  return errors.some(isOfWhole) ? 'tooLarge' : 'fields'
}

/** The author of a page fills these in, and no visitor can mend them. */
const authorsField = /^(sheetTab|tab|site|source|redirect|tags)$/

function isForAuthor({ field }: ProblemField, { fields }: View): boolean {
  return authorsField.test(field) && !fields.some(({ name }) => name === field)
}

/** Nobody sees these as fields: they are what a form has besides. */
function isOfWhole({ field }: ProblemField): boolean {
  return field === '' || field === 'metadata'
}

/**
 * The problems of fields in words for visitors, in their language. Of what they cannot correct, and of the
 * form as a whole, only the field is named, and which tabs there are: the message is for the page's author.
 */
function translated(
  errors: readonly ProblemField[],
  entries: FormEntries,
  view: View,
): readonly ProblemField[] {
  const {
    language,
    texts: { fields, tabsText },
    fields: declared,
    allowedTabs,
  } = view
  const messages: Readonly<Record<string, readonly [ifEmpty: string, otherwise: string]>> = {
    email: [fields.emailMissing, fields.emailWrong],
    name: [fields.nameMissing, fields.nameTooLong],
    [consentField]: [fields.consentMissing, fields.consentMissing],
  }
  return errors.map((error) => {
    if (isForAuthor(error, view) || isOfWhole(error)) {
      const isAboutTab = allowedTabs && /tab$/i.test(error.field)
      const names = () => firstNames(allowedTabs ?? [])
      return { ...error, message: isAboutTab ? tabsText.replace('*', names) : '' }
    }
    const field = declared.find(({ name }) => name === error.field)
    // The English messages are more exact than the translated ones, but for what a program has to send.
    if (language === 'en' && field?.type !== 'checkbox') return error
    const value = firstValue(entries, error.field)?.trim() ?? ''
    if (field) return { ...error, message: messageOf(field, value, fields) }
    const [ifEmpty, otherwise] = messages[error.field] ?? [error.message, error.message]
    return { ...error, message: value === '' ? ifEmpty : otherwise }
  })
}
