import { html } from 'hono/html'
import { limits } from '../../signup/limits.ts'
import { alert, type Failure } from './alert.ts'
import { document, type Html } from './document.ts'
import type { PageTexts } from './texts.ts'
import type { TypedForm } from './typed-form.ts'

/** The signup form with what was typed, each error beside its field and all others on top. */
export async function formPage(
  texts: PageTexts,
  typed: TypedForm,
  failure?: Failure,
): Promise<string> {
  const { form } = texts
  const controls = controlsOf(texts, typed)
  const beside = new Map(failure?.errors.map(({ field, message }) => [field, message]))
  const firstWrong = controls.find(({ id }) => beside.has(id))?.id
  const onTop = failure?.errors.filter(({ field }) => !controls.some(({ id }) => id === field))
  const content = html`
    <h1>${form.title}</h1>
    ${failure && alert({ ...failure, errors: onTop ?? [] }, firstWrong === undefined)}
    <form method="post" action="/api/signup">
      ${controls.map((it) => control(it, beside.get(it.id), it.id === firstWrong))}
      ${typed.hidden.map(
        ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`,
      )}
      <button type="submit">${form.submit}</button>
    </form>
  `
  return document(texts, failure ? `${form.error}: ${form.title}` : form.title, content)
}

interface Control {
  readonly id: string
  readonly label: string
  readonly hint?: string
  readonly value: string
  readonly attributes: Html
}

function controlsOf({ form }: PageTexts, typed: TypedForm): readonly Control[] {
  const email: Control = {
    id: 'email',
    label: form.email,
    value: typed.email,
    attributes: html`type="email" autocomplete="email" inputmode="email" spellcheck="false" required
    maxlength="${limits.emailCharactersMax}"`,
  }
  if (typed.name === undefined) return [email]
  const name: Control = {
    id: 'name',
    label: form.name,
    hint: form.optional,
    value: typed.name,
    attributes: html`type="text" autocomplete="name" maxlength="${limits.nameCharactersMax}"`,
  }
  return [email, name]
}

function control(it: Control, problem: string | undefined, takesFocus: boolean): Html {
  const problemId = `${it.id}-problem`
  const wrong = html`aria-invalid="true" aria-describedby="${problemId}"`
  return html`
    <div class="field">
      <label for="${it.id}">
        ${it.label} ${it.hint && html`<span class="hint">(${it.hint})</span>`}
      </label>
      <input
        id="${it.id}"
        name="${it.id}"
        value="${it.value}"
        ${it.attributes}
        ${problem && wrong}
        ${takesFocus && html`autofocus`}
      />
      ${problem && html`<p class="problem" id="${problemId}">${problem}</p>`}
    </div>
  `
}
