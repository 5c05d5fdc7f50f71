import { html } from 'hono/html'
import { limits } from '../signup/limits.ts'
import type { ProblemField } from '../signup/wire.ts'
import { details, type Failure } from './pages/alert.ts'
import { document } from './pages/document.ts'
import { formPage } from './pages/form-page.ts'
import { english, type PageProblem } from './pages/texts.ts'
import { type FormEntries, typedForm } from './pages/typed-form.ts'

/** Where a visitor is sent after signing up, unless the form says otherwise. */
export const thanksPath = '/api/signup/thanks'

/** The same for everybody: neither the address nor anything else about the visitor is in it. */
export async function thanksPage(): Promise<string> {
  const { thanks } = english
  return document(
    english,
    thanks.title,
    html`<div role="status">
      <svg class="mark" viewBox="0 0 24 24" aria-hidden="true">
        <path d="m5 12.5 4.5 4.5L19 7.5" />
      </svg>
      <h1>${thanks.title}</h1>
      <p>${thanks.text}</p>
    </div>`,
  )
}

/** What a person is told of a request that is not answered as asked. */
export interface Refusal {
  readonly status: number
  readonly message: string
  readonly errors?: readonly ProblemField[] | undefined
  /** The form that was posted, if it came so far. */
  readonly typed?: FormEntries | undefined
}

/** The form again with what was typed, or where there is none, what went wrong. */
export async function refusalPage(refusal: Refusal, requestId: string): Promise<string> {
  const { status, errors = [], typed } = refusal
  const problem = pageProblem(refusal)
  const reference = status >= 500 ? `${english.reference}: ${requestId}` : undefined
  const failure: Failure = { text: english.problems[problem], errors, reference }
  // A page that may not use us gets no form from us either: that one would be allowed.
  if (typed && isShowable(typed) && problem !== 'forbidden') {
    return formPage(english, typedForm(typed), failure)
  }
  const { title, text } = failure.text
  const content = html`<h1>${title}</h1>
    <p>${text}</p>
    ${details(failure)}`
  return document(english, title, content)
}

/** Several times what a signup may hold; more is no form of a person, and would cost the more. */
const typedCharactersMax = 100_000

function isShowable(typed: FormEntries): boolean {
  if (typed.length > limits.formFieldsMax) return false
  const characters = typed.reduce((sum, [name, value]) => sum + name.length + value.length, 0)
  return characters <= typedCharactersMax
}

function pageProblem({ status, message }: Refusal): PageProblem {
  if (message === 'Invalid challenge token') return 'challenge'
  return problemsByStatus[status] ?? (status < 500 ? 'unreadable' : 'unexpected')
}

const problemsByStatus: Readonly<Record<number, PageProblem>> = {
  403: 'forbidden',
  404: 'notFound',
  405: 'method',
  413: 'tooLarge',
  422: 'fields',
  429: 'tooMany',
  503: 'unavailable',
}
