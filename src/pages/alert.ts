import { html } from 'hono/html'
import type { ProblemField } from '../signup/wire.ts'
import type { Html } from './document.ts'
import type { ProblemText } from './texts.ts'

/** A failure in words for the visitor. */
export interface ShownFailure {
  readonly text: ProblemText
  readonly errors: readonly ProblemField[]
  /** A line with the id of the request in the log. */
  readonly reference?: string | undefined
}

/** The box above a form that tells what is wrong. Screen readers read it at once when it takes the focus. */
export function alert(failure: ShownFailure, takesFocus: boolean): Html {
  const { text } = failure
  return html`
    <div class="alert" role="alert" tabindex="-1" ${takesFocus && html`autofocus`}>
      <p><strong>${text.title}</strong></p>
      <p>${text.text}</p>
      ${details(failure)}
    </div>
  `
}

/** The errors that belong to no visible field, and the reference. */
export function details({ errors, reference }: ShownFailure): Html {
  const items = errors
    .filter(({ field, message }) => field !== '' || message !== '')
    .map(({ field, message }) => {
      const name = field !== '' && html`<b>${field}</b>`
      return html`<li>${name}${name && message !== '' && ': '}${message}</li>`
    })
  return html`
    ${
      items.length > 0 &&
      html`<ul>
        ${items}
      </ul>`
    }
    ${reference && html`<p class="reference">${reference}</p>`}
  `
}
