import { RollcallForm } from './element.ts'
import { enhance } from './enhance.ts'
import type { Handle } from './form.ts'
import type { Options } from './options.ts'
import { renderScripts } from './place.ts'

/** Puts a form into an element of the page. */
function render(element: Element, options: Options = {}): Handle & { readonly element: Element } {
  const form = new RollcallForm()
  form.options = options
  element.append(form)
  return Object.assign(form, { element: form })
}

// Call this first: it finds the address of the service, which elements already on the page need.
renderScripts()

const page = window as { Rollcall?: object }

// A second copy of the script only renders the forms of its own tags.
if (!page.Rollcall) {
  page.Rollcall = { render, enhance }
  customElements.define('rollcall-form', RollcallForm)
}
